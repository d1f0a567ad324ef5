<?php
declare(strict_types=1);

namespace Causeway\Laravel;

use Causeway\Carrier;
use Causeway\Cookies;
use Closure;
use Illuminate\Support\Facades\Log;
use Symfony\Component\HttpFoundation\Cookie;

/**
 * The middleware: the request's token in, the token of what it committed out.
 * It is the outermost one, so that Laravel's own EncryptCookies does not touch
 * the cookies, which any application server must be able to read.
 */
final class CarryToken
{
    public function handle($request, Closure $next)
    {
        $cookies = new Cookies(config('causeway.cookie', []));
        $carrier = $cookies->carrier($request->cookies->all(), fn (string $message) => Log::warning($message));
        $carrier->enter();
        try {
            $response = $next($request);
            foreach ($cookies->headers($carrier) as $value) {
                $response->headers->setCookie(Cookie::fromString($value));
            }
            return $response;
        } finally {
            Carrier::leave(); // a worker's next request must not find it
        }
    }
}
