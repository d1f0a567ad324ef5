// Package share lets several Causeways hold the tokens of keys and wide scopes in
// common, over a store that may forget, fail over, split, freeze or be cut off from
// some of them: a read is then served as global, it is never stale.
//
// It owns the protocol: who holds a lease, when an answer of the store may be
// trusted, and when a write whose token could not be published may be acknowledged
// all the same. It knows no SQL and no Redis; package store speaks with the store.
// The argument why it holds is docs/decisions/0021-shared-keys.md.
//
// A Member is safe for concurrent use.
package share
