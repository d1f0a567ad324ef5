<?php
declare(strict_types=1);

namespace Causeway;

/** One connection's conversation with Causeway. */
interface Session
{
    /**
     * Hands a token in, if the session has not got it last.
     *
     * @return bool false if Causeway will never take this token
     * @throws \PDOException if the connection is gone, or Causeway cannot check the token now
     */
    public function setToken(string $token): bool;

    /**
     * The session's token, '' if there is none.
     *
     * @throws \PDOException if it cannot be read
     */
    public function getToken(): string;
}
