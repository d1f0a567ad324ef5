// Package wirefeat tests what Causeway speaks with clients besides plain
// packets, with programs that it was not written with: compression with MySQL's
// own client, mysqldump and go-sql-driver, the PROXY protocol with HAProxy.
//
// It has tests only. They need a real cluster and the tools that
// scripts/install-tools brings.
package wirefeat
