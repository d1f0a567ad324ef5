<?php
declare(strict_types=1);

namespace Causeway\Laravel;

use Illuminate\Database\Connectors\MySqlConnector;

/** Laravel's connector for MySQL, which makes a Causeway\PDO. */
class Connector extends MySqlConnector
{
    protected function createPdoConnection($dsn, $username, #[\SensitiveParameter] $password, $options)
    {
        return new \Causeway\PDO($dsn, $username, $password, $options);
    }
}
