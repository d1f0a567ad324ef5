// Package seq makes, plays, compares and shrinks random sequences of statements
// of four sessions.
//
// It owns the table of kinds of steps (Kinds), the generator that mixes them
// (Generate), what a step leaves pinned to a connection (Script.Valid), the
// player that runs a script at an address (Play), the comparison of what two
// addresses answered (Compare), and the search for a shorter script that
// differs too (Shrink). It starts no server and judges no answer: the answer of
// the other address is the only authority.
//
// Generate and Shrink are pure but for their random source and the function
// that Shrink is given; Play uses connections of its own. All may be called by
// several goroutines at once.
package seq
