<?php
declare(strict_types=1);

use Causeway\Cookies;

/** What PHP has in $_COOKIE for such cookies. */
function decoded(array $cookies): array
{
    return array_map('urldecode', $cookies);
}

function committed(Causeway\Carrier $c, string $letter): FakeSession
{
    $s = new FakeSession();
    $c->handIn($s);
    $s->commit($letter);
    $c->owe($s);
    return $s; // a carrier does not keep it
}

test('the format of the other helpers', function () {
    same(['causeway-fdeb9b50c7a6-1-1' => '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5'], Cookies::encode('3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5'));
    same('a%2Cb%0Ac%2Bd:e~f%2Fg%3D', array_values(Cookies::encode("a,b\nc+d:e~f/g="))[0]);
});

test('sizes: in one cookie, in two, in none', function () {
    $set = str_repeat("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-123456789,\n", 200);
    foreach ([40 => 1, 3000 => 1, 4500 => 2, 9000 => 0] as $length => $parts) {
        $token = substr($set, 0, $length);
        $cookies = Cookies::encode($token);
        same($parts, count($cookies));
        foreach ($cookies as $name => $value) {
            same(true, strlen($name . $value) < 4000 && preg_match('/\A(?:%[0-9A-F]{2}|[A-Za-z0-9:._~-])*\z/', $value) === 1);
        }
        if ($parts > 0) {
            same([$token], (new Cookies())->carrier(decoded(array_reverse($cookies, true)))->tokens());
        }
        if ($parts === 2) {
            $c = (new Cookies())->carrier(decoded(array_slice($cookies, 0, 1, true)));
            same([[], true], [$c->tokens(), $c->changed()]);
        }
    }
});

test('a commit sets a cookie and ends those that it replaces', function () {
    $cookies = new Cookies(['secure' => true, 'domain' => 'example.org', 'path' => '/app', 'max_age' => 60]);
    $c = $cookies->carrier(decoded(Cookies::encode('g:a') + ['other' => 'x']));
    same([], $cookies->headers($c));
    $session = committed($c, 'b');
    [$old, $new] = [array_key_first(Cookies::encode('g:a')), array_key_first(Cookies::encode('g:a,b'))];
    same([
        "$new=g:a%2Cb; Path=/app; Domain=example.org; Max-Age=60; HttpOnly; Secure; SameSite=Lax",
        "$old=; Path=/app; Domain=example.org; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
    ], $cookies->headers($c));
});

test('two responses that cross: both cookies become one', function () {
    $cookies = new Cookies();
    $c = $cookies->carrier(decoded(Cookies::encode('g:a') + Cookies::encode('g:b')));
    $c->handIn(new FakeSession());
    same(['g:a,b'], $c->tokens());
    same(3, count($cookies->headers($c)));
});

test('of very many the newest count', function () {
    $list = [];
    for ($i = 0; $i < Cookies::MAX_COOKIES + 9; $i++) {
        $list += Cookies::encode("g:$i");
    }
    $cookies = new Cookies();
    $c = $cookies->carrier(decoded($list));
    same([Cookies::MAX_COOKIES, 'g:136'], [count($c->tokens()), $c->tokens()[Cookies::MAX_COOKIES - 1]]);
    $c->handIn(new FakeSession());
    same(1 + Cookies::MAX_ENDED, count($cookies->headers($c)));
});

test('bad cookies are forgotten', function () {
    $good = 'causeway-' . substr(hash('sha256', 'g:a'), 0, 12);
    foreach (["causeway-", "$good-0-1", "$good-2-1", "$good-1-3", 'causeway-123456789012-1-1'] as $name) {
        $cookies = new Cookies();
        $c = $cookies->carrier([$name => 'g:a']);
        same([[], 1], [$c->tokens(), count($cookies->headers($c))]);
    }
    same(true, (new Cookies())->carrier(["$good-1-1" => ['g:a']])->changed());
});
