<?php
declare(strict_types=1);

use Causeway\Session;

$passed = $failed = 0;

function test(string $name, callable $f): void
{
    global $passed, $failed;
    try {
        $f();
        $passed++;
    } catch (Throwable $e) {
        $failed++;
        echo "FAILED: $name: {$e->getMessage()}\n{$e->getTraceAsString()}\n";
    } finally {
        Causeway\Carrier::leave();
    }
}

function same(mixed $want, mixed $got): void
{
    if ($want !== $got) {
        throw new Exception('wanted ' . var_export($want, true) . ', got ' . var_export($got, true));
    }
}

/** A Causeway session: tokens are "g:" and letters, and merge. */
final class FakeSession implements Session
{
    public array $log = [];
    private array $has = [];
    private string $last = '';

    public function __construct(private string $refuses = '', public bool $gone = false)
    {
    }

    public function commit(string $letter): void
    {
        $this->has[] = $letter;
    }

    public function setToken(string $token): bool
    {
        if ($token === $this->last) {
            return true;
        }
        $this->check("set $token");
        if ($token === $this->refuses) {
            return false;
        }
        $this->has = array_merge($this->has, explode(',', substr($token, 2)));
        $this->last = $token;
        return true;
    }

    public function getToken(): string
    {
        $this->check('get');
        $this->has = array_unique($this->has);
        sort($this->has);
        return $this->last = $this->has === [] ? '' : 'g:' . implode(',', $this->has);
    }

    private function check(string $what): void
    {
        if ($this->gone) {
            throw new PDOException('server has gone away');
        }
        $this->log[] = $what;
    }
}
