// Package sticky tests sticky windows on real clusters: with GTIDs, where they come
// on top of tokens, and without, where they are all there is.
package sticky
