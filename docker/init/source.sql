-- Run once by the image when it sets the source up. These statements are in its
-- binary log, so the accounts reach the replicas by replication.

CREATE DATABASE app;

CREATE USER 'repl'@'%' IDENTIFIED BY 'repl_pw';
GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%';

-- What Causeway's probes need: see docs/configuration.md.
CREATE USER 'monitor'@'%' IDENTIFIED BY 'monitor_pw';
GRANT REPLICATION CLIENT, PROCESS ON *.* TO 'monitor'@'%';
GRANT SELECT ON performance_schema.* TO 'monitor'@'%';

-- The application.
CREATE USER 'app'@'%' IDENTIFIED BY 'app_pw';
GRANT ALL ON app.* TO 'app'@'%';
