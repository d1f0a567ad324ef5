<?php
declare(strict_types=1);

namespace Causeway;

/** A statement of PDO; it is made by PDO only. */
class Statement extends \PDOStatement
{
    /** @param \WeakReference<PDO> $pdo weak, as the connection itself holds it */
    protected function __construct(private \WeakReference $pdo)
    {
    }

    public function execute(?array $params = null): bool
    {
        $pdo = $this->pdo->get();
        $pdo?->before();
        try {
            return parent::execute($params);
        } finally {
            $pdo?->after(Sql::mayCommit($this->queryString));
        }
    }
}
