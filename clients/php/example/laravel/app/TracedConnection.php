<?php
declare(strict_types=1);

namespace App;

use Closure;
use Illuminate\Database\MySqlConnection;

/** Adds a comment to each statement, as tracing libraries do, in front of it or behind. */
final class TracedConnection extends MySqlConnection
{
    protected function run($query, $bindings, Closure $callback)
    {
        $comment = "/*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',route='%2Fcomments'*/";
        return parent::run(getenv('TRACER') === 'below' ? "$comment $query" : "$query $comment", $bindings, $callback);
    }
}
