// Package redis starts real Redis servers and Sentinels for tests, which kill, freeze
// and restart them. The programs come from scripts/install-tools --redis.
package redis
