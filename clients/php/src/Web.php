<?php
declare(strict_types=1);

namespace Causeway;

/** For applications without a framework. */
final class Web
{
    /**
     * Takes the token from the request's cookies, and sets that of what the request
     * commits at the last moment before its headers are sent. Call it first.
     *
     * It uses header_register_callback(), of which PHP has one: an application
     * that has its own calls the returned function in it.
     *
     * @param array{max_age?: int, path?: string, domain?: string, secure?: bool} $options the cookie's
     */
    public static function start(array $options = []): callable
    {
        $cookies = new Cookies($options);
        $carrier = $cookies->carrier($_COOKIE);
        $carrier->enter();
        $sent = [];
        $send = function () use ($cookies, $carrier, &$sent): void {
            foreach ($cookies->headers($carrier) as $value) {
                header("Set-Cookie: $value", false);
            }
            $sent = $carrier->tokens();
        };
        header_register_callback($send);
        register_shutdown_function(function () use ($carrier, &$sent): void {
            if (headers_sent() && $carrier->tokens() !== $sent) {
                $carrier->log('a commit after the start of the response: its token cannot reach the browser; commit before writing');
            }
        });
        return $send;
    }
}
