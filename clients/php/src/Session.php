<?php
declare(strict_types=1);

namespace Causeway;

/** One connection's conversation with Causeway. */
interface Session
{
    /** The token that the session has surely got, '' if none is known. */
    public function holds(): string;

    /**
     * Hands tokens in by one statement: with scope = "carried" a second one would make the session forget the first.
     *
     * @param string[] $tokens
     * @return bool false if Causeway will never take one of them; then nothing has changed
     * @throws \PDOException if the connection is gone, or Causeway cannot check the tokens now
     */
    public function setTokens(array $tokens): bool;

    /**
     * The session's token, '' if there is none.
     *
     * @throws \PDOException if it cannot be read
     */
    public function getToken(): string;
}
