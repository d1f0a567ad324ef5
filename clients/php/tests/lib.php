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
    public bool $busy = false; // it streams rows
    private array $has = [];
    private array $last = []; // what was handed in
    private string $holds = '';

    /** @param bool $carried scope = "carried": other tokens make the session forget what it had */
    public function __construct(private string $refuses = '', public bool $gone = false, private bool $carried = false)
    {
    }

    public function commit(string $letter): void
    {
        $this->has[] = $letter;
    }

    public function holds(): string
    {
        return $this->holds;
    }

    public function setTokens(array $tokens): bool
    {
        $this->check('set ' . implode(' ', $tokens));
        if (in_array($this->refuses, $tokens, true)) {
            return false;
        }
        if ($this->carried && $tokens !== $this->last) {
            $this->has = [];
        }
        $this->last = $tokens;
        foreach ($tokens as $token) {
            $this->has = array_merge($this->has, explode(',', substr($token, 2)));
        }
        $this->holds = count($tokens) === 1 ? $tokens[0] : '';
        return true;
    }

    public function getToken(): string
    {
        $this->check('get');
        $this->has = array_unique($this->has);
        sort($this->has);
        return $this->holds = $this->has === [] ? '' : 'g:' . implode(',', $this->has);
    }

    private function check(string $what): void
    {
        if ($this->gone || $this->busy) {
            $e = new PDOException('no');
            $e->errorInfo = ['HY000', $this->gone ? 2006 : 2014, 'no'];
            throw $e;
        }
        $this->log[] = $what;
    }
}
