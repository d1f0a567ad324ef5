-- Run once by the image when it sets a replica up. Replication begins when the
-- image has restarted the server after this.

-- Whatever the image did so far is no transaction of the cluster.
RESET BINARY LOGS AND GTIDS;

CHANGE REPLICATION SOURCE TO
  SOURCE_HOST = 'source',
  SOURCE_PORT = 3306,
  SOURCE_USER = 'repl',
  SOURCE_PASSWORD = 'repl_pw',
  SOURCE_AUTO_POSITION = 1,
  GET_SOURCE_PUBLIC_KEY = 1,
  SOURCE_CONNECT_RETRY = 1,
  SOURCE_RETRY_COUNT = 0;

-- From the next start on; the image itself still has to finish.
SET PERSIST_ONLY super_read_only = ON;
