<?php
declare(strict_types=1);

namespace Causeway\Laravel;

use Illuminate\Contracts\Http\Kernel;
use Illuminate\Support\ServiceProvider;

/** Puts the connector and the middleware in their places. */
final class CausewayServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->bind('db.connector.mysql', Connector::class);
    }

    public function boot(): void
    {
        if ($this->app->bound(Kernel::class)) {
            $this->app->make(Kernel::class)->prependMiddleware(CarryToken::class);
        }
    }
}
