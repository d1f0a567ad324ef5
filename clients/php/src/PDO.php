<?php
declare(strict_types=1);

namespace Causeway;

/**
 * A PDO for MySQL whose statements read what the current Carrier demands and
 * add to it what they commit. Everything else is PDO's own.
 *
 * The token is handed in before the first statement (SET @causeway_token) and
 * read (SELECT @causeway_token) when somebody needs it: the response's headers, or
 * another connection. So a request with ten writes asks once, and nothing comes
 * between a write and its SHOW WARNINGS.
 */
class PDO extends \PDO implements Session
{
    /** The token that this connection's session has surely got, with what it has written since. */
    private string $holds = '';
    private bool $readOnly = false;
    private bool $persistent;
    /** lastInsertId() before statements of our own, which reset it. */
    private string|false|null $insertId = null;
    /** @var \WeakMap<\PDOStatement, true> of a persistent connection: prepared writes whose execution is not seen */
    private \WeakMap $unseen;

    public function __construct(string $dsn, ?string $username = null, ?string $password = null, ?array $options = null)
    {
        parent::__construct($dsn, $username, $password, $options);
        $this->unseen = new \WeakMap();
        $this->persistent = (bool) ($options[\PDO::ATTR_PERSISTENT] ?? false);
        if (!$this->persistent) { // PDO has no statement classes for persistent connections
            $this->setAttribute(\PDO::ATTR_STATEMENT_CLASS, [Statement::class, [\WeakReference::create($this)]]);
        }
    }

    /** Begins a transaction that cannot write, so a replica may serve it; commit() or rollBack() ends it. */
    public function beginReadOnly(): bool
    {
        return $this->exec('START TRANSACTION READ ONLY') !== false;
    }

    public function beginTransaction(): bool
    {
        $this->before();
        $this->readOnly = false;
        return parent::beginTransaction();
    }

    public function commit(): bool
    {
        try {
            return parent::commit();
        } finally { // a commit that failed may have committed
            $this->after(!$this->readOnly);
            $this->readOnly = false;
        }
    }

    public function rollBack(): bool
    {
        $this->readOnly = false;
        $done = parent::rollBack();
        $this->after(count($this->unseen) > 0); // they may run again
        return $done;
    }

    public function exec(string $statement): int|false
    {
        return $this->around($statement, fn () => parent::exec($statement));
    }

    public function query(string $query, ?int $fetchMode = null, mixed ...$fetchModeArgs): \PDOStatement|false
    {
        return $this->around($query, fn () => parent::query($query, $fetchMode, ...$fetchModeArgs));
    }

    private function around(string $query, callable $run): mixed
    {
        $this->before();
        $this->readOnly = $this->readOnly || Sql::beginsReadOnly($query);
        try {
            return $run();
        } finally {
            $this->after((Sql::mayCommit($query) || count($this->unseen) > 0) && !$this->readOnly);
            $this->readOnly = $this->readOnly && $this->inTransaction();
        }
    }

    public function prepare(string $query, array $options = []): \PDOStatement|false
    {
        if (!$this->persistent) {
            return parent::prepare($query, $options);
        }
        $this->before();
        $statement = parent::prepare($query, $options);
        if ($statement !== false && Sql::mayCommit($query)) {
            $this->unseen[$statement] = true;
            $this->after(true);
        }
        return $statement;
    }

    public function lastInsertId(?string $name = null): string|false
    {
        return $this->insertId ?? parent::lastInsertId($name);
    }

    /** Called before a statement. In a transaction a token would come too late: its view of the data is made. */
    public function before(): void
    {
        $carrier = Carrier::current();
        if ($carrier !== null && !$this->inTransaction()) {
            $carrier->handIn($this);
        }
        $this->insertId = null;
    }

    /** Called after a statement, failed or not: one that failed may have committed a part. */
    public function after(bool $mayCommit): void
    {
        $carrier = Carrier::current();
        if ($carrier !== null && $mayCommit && !$this->inTransaction()) {
            $carrier->owe($this);
        }
    }

    public function holds(): string
    {
        return $this->holds;
    }

    public function setTokens(array $tokens): bool
    {
        try {
            $this->own(fn () => parent::exec("SET @causeway_token = '" . implode("', @causeway_token = '", $tokens) . "'"));
        } catch (\PDOException $e) {
            // What Causeway will never take it says so of; any other error must not let a read pass without its token.
            if (preg_match('/drop it and go on without|the token cannot be taken/', $e->getMessage())) {
                return false;
            }
            $this->holds = '';
            throw $e;
        }
        $this->holds = count($tokens) === 1 ? $tokens[0] : '';
        return true;
    }

    public function getToken(): string
    {
        $rows = $this->own(fn () => parent::query('SELECT @causeway_token', \PDO::FETCH_NUM)->fetchAll());
        return $this->holds = (string) $rows[0][0];
    }

    /** Runs a statement of our own, whatever the application chose for errors. */
    private function own(callable $run): mixed
    {
        $this->insertId ??= parent::lastInsertId();
        $mode = $this->getAttribute(\PDO::ATTR_ERRMODE);
        $this->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_EXCEPTION);
        try {
            return $run();
        } finally {
            $this->setAttribute(\PDO::ATTR_ERRMODE, $mode);
        }
    }

    /** The last moment to read what this connection owes. */
    public function __destruct()
    {
        Carrier::current()?->settleOne($this);
    }
}
