// Package sharedkeys shows that what is written under a key through one Causeway is
// read through another, whatever happens to the Redis between them. It has tests only
// and needs scripts/install-tools --redis and a real cluster.
package sharedkeys
