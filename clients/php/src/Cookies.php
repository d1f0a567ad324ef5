<?php
declare(strict_types=1);

namespace Causeway;

/**
 * The cookies that carry tokens, in the format of all helpers in clients/:
 *
 *     causeway-<id>-<part>-<parts> = <token, percent-encoded>
 *
 * The id is the start of the token's SHA-256. So two responses that cross each
 * other do not overwrite each other's token: the browser keeps both, and the
 * next request hands both in and gets one back in their place. A token is one
 * cookie, or two if it is long: browsers keep 4,096 bytes of each, and web
 * servers take 8 KB as one header line.
 */
final class Cookies
{
    private const PREFIX = 'causeway-';
    private const PART = 3500;
    private const MAX_PARTS = 2;
    /** How many cookies of a request are looked at, more than 8 KB hold; of still more the newest, which browsers send last. */
    public const MAX_COOKIES = 128;
    /** How many a response ends, so that its headers stay small; the next ends more. */
    public const MAX_ENDED = 32;
    private const ID = 12;

    /** @var string[] names of the request's cookies that are ours, good or not */
    private array $names = [];

    /** @param array{max_age?: int, path?: string, domain?: string, secure?: bool} $options */
    public function __construct(private array $options = [])
    {
        $this->options += ['max_age' => 86400, 'path' => '/', 'domain' => '', 'secure' => false];
    }

    /**
     * Makes the carrier of a request.
     *
     * @param array<string, mixed> $cookies by name, decoded once, as PHP does it
     */
    public function carrier(array $cookies, ?callable $log = null): Carrier
    {
        $parts = [];
        $broken = false;
        $ours = array_filter($cookies, fn ($name) => strncmp((string) $name, self::PREFIX, strlen(self::PREFIX)) === 0, ARRAY_FILTER_USE_KEY);
        foreach (array_slice($ours, -self::MAX_COOKIES, null, true) as $name => $value) {
            $this->names[] = $name;
            if (is_string($value) && preg_match('/\Acauseway-([0-9a-f]{12})-([12])-([12])\z/', $name, $m) && $m[2] <= $m[3]) {
                $parts[$m[1]][(int) $m[2]] = $value;
            } else {
                $broken = true;
            }
        }
        $tokens = [];
        foreach ($parts as $id => $list) {
            ksort($list);
            $token = implode('', $list);
            if (self::id($token) === (string) $id) {
                $tokens[] = $token;
            } else {
                $broken = true;
            }
        }
        $carrier = new Carrier($tokens, $log);
        if ($broken) {
            $carrier->markChanged();
        }
        return $carrier;
    }

    /**
     * The values of Set-Cookie for a response; none if nothing was committed.
     *
     * @return string[]
     */
    public function headers(Carrier $carrier): array
    {
        $tokens = $carrier->tokens();
        if (!$carrier->changed()) {
            return [];
        }
        $headers = $kept = [];
        foreach ($tokens as $token) {
            $pieces = self::encode($token);
            if ($pieces === []) {
                $carrier->log('a token of ' . strlen($token) . ' bytes is too long for cookies; the user\'s next page may not show this write');
            }
            foreach ($pieces as $name => $value) {
                $kept[$name] = true;
                $headers[] = $this->header($name, $value, $this->options['max_age']);
            }
        }
        $ended = array_filter($this->names, fn ($name) => !isset($kept[$name]) && preg_match('/\A[A-Za-z0-9-]+\z/', $name));
        foreach (array_slice($ended, 0, self::MAX_ENDED) as $name) {
            $headers[] = $this->header($name, '', 0);
        }
        return $headers;
    }

    /**
     * A token's cookies, none if it is too long. Characters are never split: PHP
     * decodes each cookie by itself.
     *
     * @return array<string, string> name => value
     */
    public static function encode(string $token): array
    {
        $text = str_replace('%3A', ':', rawurlencode($token));
        preg_match_all('/%..|[^%]/', $text, $m);
        $pieces = [''];
        foreach ($m[0] as $character) {
            $last = count($pieces) - 1;
            if (strlen($pieces[$last]) + strlen($character) <= self::PART) {
                $pieces[$last] .= $character;
            } else {
                $pieces[] = $character;
            }
        }
        $list = [];
        foreach (count($pieces) <= self::MAX_PARTS ? $pieces : [] as $i => $piece) {
            $list[self::PREFIX . self::id($token) . '-' . ($i + 1) . '-' . count($pieces)] = $piece;
        }
        return $list;
    }

    private static function id(string $token): string
    {
        return substr(hash('sha256', $token), 0, self::ID);
    }

    private function header(string $name, string $value, int $age): string
    {
        return "$name=$value; Path={$this->options['path']}" . ($this->options['domain'] === '' ? '' : "; Domain={$this->options['domain']}")
            . "; Max-Age=$age; HttpOnly" . ($this->options['secure'] ? '; Secure' : '') . '; SameSite=Lax';
    }
}
