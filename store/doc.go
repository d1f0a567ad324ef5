// Package store is share.Store over Redis or Valkey: one server, Sentinel or Cluster.
//
// Each operation is one script, which the server runs as a whole, in one round trip
// over one connection. Nothing is remembered here but connections; what an answer is
// worth is for package share to judge. A Client is safe for concurrent use.
package store
