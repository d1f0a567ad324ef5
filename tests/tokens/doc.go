// Package tokens holds the tests of tokens that leave a connection, on a real
// cluster with one Causeway and with two: what is written through one connection
// is read through another that was handed the first one's token, by each way there
// is, while the replicas' appliers stop at random; and what becomes of tokens that
// are made up, of another cluster, too long or malformed. Reads of a global class
// are here too. TOKENS_PAIRS=50000 makes as many pairs of each way.
package tokens
