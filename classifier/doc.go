// Package classifier turns the text of a statement into a small value, its
// Class: what kind of statement it is, what session state it reads or changes,
// whether it may commit. It is pure: no socket, no clock, no configuration but
// the operator's list of read-only functions.
//
// It owns the lexical rules of MySQL (comments of every kind, quoting, modes),
// the grammar of statements as far as routing needs it, the list of built-in
// functions, and the digest cache. It never says where a statement goes: that
// is the plan's business (package server).
//
// How a text is classified:
//
//  1. One pass of the lexer writes the normalised text (digest): literals become
//     ?, lists are collapsed, comments are dropped, words are folded.
//  2. The digest is looked up, together with the lexical mode, in a bounded
//     cache. A hit neither parses nor allocates.
//  3. On a miss the digest, and nothing else of the text, is classified token
//     by token, so a class is a function of digest and mode.
//  4. A statement found to be a plain read is shown to TiDB's parser as a second
//     opinion. The parser can only take a verdict back, never make one: what it
//     cannot parse (it rejects valid MySQL) stands on the token check alone.
//
// Everything uncertain is on the safe side: Unknown goes to the source.
//
// What it cannot see: a view or a generated column can hide a function that
// writes, an unqualified table can live in a system schema that was made
// current by USE. Those are for the net under the classifier and for the
// session, which knows its schema.
//
// A Classifier and the Classes it hands out may be used by any number of
// goroutines at once. Callers never change a Class.
//
// Specification: MySQL 8.0.22 to 9.x reference manual, chapters "Language
// Structure", "SQL Statements", "Statements That Cause an Implicit Commit" and
// "Function Name Parsing and Resolution".
package classifier
