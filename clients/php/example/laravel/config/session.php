<?php

// Only what Laravel's own cookies look like: this application has no sessions.
return ['path' => '/', 'domain' => null, 'secure' => false, 'same_site' => 'lax'];
