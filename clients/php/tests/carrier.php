<?php
declare(strict_types=1);

use Causeway\Carrier;

test('a commit is read when somebody needs it, once', function () {
    $c = new Carrier();
    $s = new FakeSession();
    $c->handIn($s);
    $s->commit('a');
    $c->owe($s);
    $c->owe($s);
    same([], $s->log);
    same(['g:a'], $c->tokens());
    same(true, $c->changed());
    same(['get'], $s->log);
});

test('a read changes nothing', function () {
    $c = new Carrier(['g:a']);
    $s = new FakeSession();
    $c->handIn($s);
    $c->handIn($s);
    same(['set g:a'], $s->log);
    same([['g:a'], false], [$c->tokens(), $c->changed()]);
});

test('what one connection commits the other one needs', function () {
    $c = new Carrier(['g:z']);
    [$a, $b] = [new FakeSession(), new FakeSession()];
    $c->handIn($a);
    $a->commit('a');
    $c->owe($a);
    $c->handIn($b);
    same(['set g:a,z'], $b->log);
    $b->commit('b');
    $c->owe($b);
    $c->handIn($a);
    $a->commit('c');
    $c->owe($a);
    same(['g:a,b,c,z'], $c->tokens());
});

test('several tokens become one', function () {
    $c = new Carrier(['g:a', 'g:b', 'g:a']);
    $c->handIn(new FakeSession());
    same([['g:a,b'], true], [$c->tokens(), $c->changed()]);
});

test('a refused token stops nobody and is forgotten', function () {
    $log = [];
    $c = new Carrier(['g:forged', 'g:b'], function (string $m) use (&$log) { $log[] = $m; });
    $c->handIn(new FakeSession('g:forged'));
    same([['g:b'], true, 1], [$c->tokens(), $c->changed(), count($log)]);
});

test('a connection that is gone loses its token, which is logged', function () {
    $log = [];
    $c = new Carrier([], function (string $m) use (&$log) { $log[] = $m; });
    $s = new FakeSession();
    $c->owe($s);
    $s->gone = true;
    same([[], 1], [$c->tokens(), count($log)]);
});

test('what cannot be a token never reaches a server', function () {
    foreach (["'; DROP TABLE t; -- ", 'a\\', "a\0", 'a"', 'ü', 'a;b', "a\r", str_repeat('a', 16385)] as $bad) {
        $c = new Carrier([$bad]);
        same([[], true], [$c->tokens(), $c->changed()]);
    }
    same([[], false], [(new Carrier(['']))->tokens(), (new Carrier(['']))->changed()]);
});

test('leaving', function () {
    (new Carrier(['g:a']))->enter();
    same(['g:a'], Carrier::current()->tokens());
    Carrier::leave();
    same(null, Carrier::current());
});
