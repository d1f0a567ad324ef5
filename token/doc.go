// Package token owns the text of a token: what an application takes out of one
// session and hands in to another, maybe to another Causeway. Without a secret it
// is the set of GTIDs as servers write it. With one it is signed, so that clients
// can pass it on but not make it up:
//
//	cw1.<base64url of "<unix seconds>;<gtid set>">.<base64url of HMAC-SHA256>
//
// The package never decides whether a token may be believed beyond its signature:
// what the source has executed is for the server to ask. It does no I/O and holds
// no state but the secrets; a Codec may be used by any number of goroutines.
package token
