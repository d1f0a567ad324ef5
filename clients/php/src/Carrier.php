<?php
declare(strict_types=1);

namespace Causeway;

/**
 * The token of one unit of work, which is mostly an HTTP request: what its
 * reads must see. It grows with what the work commits.
 *
 * Connections find it as Carrier::current(). A process that serves many requests
 * (Octane, a queue worker) makes one for each and ends it with Carrier::leave().
 */
final class Carrier
{
    /** Far above what Causeway makes: it bounds its tokens. */
    private const MAX_TOKEN = 16384;
    /** MySQL's errors of a connection that will never answer again: gone away, lost. */
    private const GONE = [2006, 2013];

    private static ?self $current = null;

    /** @var string[] several until the first connection has merged them */
    private array $tokens = [];
    private bool $changed = false;
    /** @var \WeakMap<Session, true> those whose token was not read since they committed */
    private \WeakMap $owing;
    /** @var callable(string): void */
    private $log;

    /** @param string[] $tokens what cannot be a token is left out */
    public function __construct(array $tokens = [], ?callable $log = null)
    {
        $this->owing = new \WeakMap();
        $this->log = $log ?? 'error_log';
        foreach ($tokens as $token) {
            if (self::plausible($token)) {
                $this->tokens[] = $token;
            } elseif ($token !== '') {
                $this->changed = true; // what it came from must not keep it
            }
        }
        $this->tokens = array_values(array_unique($this->tokens));
    }

    /** The carrier of the work that goes on, null if there is none. */
    public static function current(): ?self
    {
        return self::$current;
    }

    /** Makes this the carrier of the statements that follow. */
    public function enter(): void
    {
        self::$current = $this;
    }

    /** Ends the work: the next one must not find its token. */
    public static function leave(): void
    {
        self::$current = null;
    }

    /**
     * What reads must see, mostly one. Asks those connections that committed.
     *
     * @return string[]
     */
    public function tokens(): array
    {
        $this->settle();
        return $this->tokens;
    }

    /** Whether the tokens are others than the carrier was made with: only then they have to be stored. */
    public function changed(): bool
    {
        $this->settle();
        return $this->changed;
    }

    /** Says that the stored tokens must be stored anew, whatever happens. */
    public function markChanged(): void
    {
        $this->changed = true;
    }

    public function log(string $message): void
    {
        ($this->log)('causeway: ' . $message);
    }

    /** Makes a session need the tokens; if they are several one takes their place. What other connections committed meanwhile is part of it. */
    public function handIn(Session $session): void
    {
        $this->settle($session);
        if (!$this->has($session)) {
            $this->settleOne($session); // for another's token it may forget its own
            $this->merge($session);
        }
    }

    private function has(Session $session): bool
    {
        return $this->tokens === [] || $this->tokens === [$session->holds()];
    }

    private function merge(Session $session): void
    {
        if ($this->has($session)) {
            return;
        }
        $this->setAll($session);
        if (count($this->tokens) > 1) {
            $token = $session->getToken();
            if (self::plausible($token)) {
                $this->replace([$token]);
            }
        }
    }

    /** Hands all tokens in, and drops those that Causeway refuses. */
    private function setAll(Session $session): void
    {
        if ($session->setTokens($this->tokens)) {
            return;
        }
        $taken = [];
        foreach (count($this->tokens) > 1 ? $this->tokens : [] as $token) { // each beside those that were taken
            if ($session->setTokens([...$taken, $token])) {
                $taken[] = $token;
            }
        }
        $this->log('a token was refused; the request goes on without it');
        $this->replace($taken);
    }

    /** @param string[] $by */
    private function replace(array $by): void
    {
        $this->changed = $this->changed || $this->tokens !== $by;
        $this->tokens = $by;
    }

    /** Says that a session may have committed: its token is read when somebody needs it. */
    public function owe(Session $session): void
    {
        $this->owing[$session] = true;
    }

    /** Reads the tokens that sessions owe, but not that of one which is about to run a statement. */
    private function settle(?Session $but = null): void
    {
        $sessions = [];
        foreach ($this->owing as $session => $_) {
            $sessions[] = $session;
        }
        foreach ($sessions as $session) {
            if ($session !== $but) {
                $this->settleOne($session);
            }
        }
    }

    /**
     * Reads the token of a session that owes it. It cannot fail: the commit is done.
     * A connection that cannot answer now, as one that streams rows, is asked again.
     */
    public function settleOne(Session $session): void
    {
        if (!isset($this->owing[$session])) {
            return;
        }
        try {
            $this->learn($session);
            unset($this->owing[$session]);
        } catch (\PDOException $e) {
            $this->log('the token of a write cannot be read; other connections and the user\'s next page may not show it: ' . $e->getMessage());
            if (in_array($e->errorInfo[1] ?? 0, self::GONE, true)) {
                unset($this->owing[$session]);
            }
        }
    }

    /**
     * Takes a session's token. It is read before another's is handed in, for which
     * the session may forget it. Another connection may have committed meanwhile:
     * then one token for both takes their place.
     */
    private function learn(Session $session): void
    {
        $before = $session->holds();
        $token = $session->getToken();
        if (!self::plausible($token)) {
            return;
        }
        $this->replace([...array_diff($this->tokens, [$before, $token]), $token]); // it covers both
        try {
            $this->merge($session);
        } catch (\PDOException $e) {
            // Those that cannot be merged now stay several.
        }
    }

    /**
     * Whether a text can be a token: a GTID set or signed text. It lets nothing
     * through that would end a literal in SQL, as cookies come from anybody.
     */
    private static function plausible(string $token): bool
    {
        return strlen($token) <= self::MAX_TOKEN && preg_match('#\A[A-Za-z0-9:,_.=+/~ \n-]+\z#', $token) === 1;
    }
}
