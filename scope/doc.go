// Package scope keeps the tokens that sessions share: those of keys (an end user
// whose requests come over many connections), of accounts, and of all sessions of
// this proxy.
//
// A writer raises an entry before its client is told OK; whoever reads under the
// same name later needs what the entry holds then. A name that the book does not
// know, or no longer, needs the floor, into which every entry that is evicted or
// expires is merged: forgetting never weakens the promise, it only asks for more
// than need be.
package scope
