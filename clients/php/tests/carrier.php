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
    $s = new FakeSession(carried: true);
    $c->handIn($s);
    same([['g:a,b'], true], [$c->tokens(), $c->changed()]);
    same(['set g:a g:b', 'get'], $s->log);
});

test('two connections in turn forget no commit', function () {
    foreach ([false, true] as $carried) {
        $c = new Carrier(['g:z']);
        [$a, $b] = [new FakeSession(carried: $carried), new FakeSession(carried: $carried)];
        $c->handIn($a);
        $c->handIn($b); // both know of z only
        $a->commit('a');
        $c->owe($a);
        $b->commit('b');
        $c->owe($b);
        $c->handIn($a); // it owes its own, and is handed the other's
        $b->commit('c');
        $c->owe($b);
        same(['g:a,b,c,z'], $c->tokens());
    }
});

test('a connection that streams rows is asked again', function () {
    $c = new Carrier([], fn () => null);
    $s = new FakeSession();
    $s->commit('a');
    $c->owe($s);
    $s->busy = true;
    same([], $c->tokens());
    $s->busy = false;
    same(['g:a'], $c->tokens());
});

test('a refused token stops nobody and is forgotten', function () {
    $log = [];
    $c = new Carrier(['g:forged', 'g:b'], function (string $m) use (&$log) { $log[] = $m; });
    $s = new FakeSession('g:forged');
    $c->handIn($s);
    same([['g:b'], true, 1], [$c->tokens(), $c->changed(), count($log)]);
    same(['set g:forged g:b', 'set g:forged', 'set g:b'], $s->log);
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
