// Package consistency holds the test that nobody misses his own write: many
// connections write in every way that MySQL knows and read the result back,
// while the appliers of the replicas are stopped and started (see lab.Chaos).
//
// Each connection owns its rows, so it knows what each read must return; the
// only way to get another answer is a stale read. What a statement may answer
// was settled by running the same test straight on the source, which
// TestDirectlyOnSource still does: it holds the test against MySQL itself.
// TestSkippedTokenCheckIsSeen runs it against a Causeway whose token check is
// switched off, and demands that stale reads are found.
//
// Sizes come from the environment:
//
//	CAUSEWAY_CONSISTENCY_READS   reads back through Causeway (default 20000; 100000 with CAUSEWAY_TESTS=long)
//	CAUSEWAY_CARRIED_PAIRS       reads on another connection than the writes, for each way to carry a
//	                             token or a key (default 400; 50000 with CAUSEWAY_TESTS=long)
//	CAUSEWAY_CONSISTENCY_SEED    seed of all random choices (default: the clock's)
//
// On a failure the test prints the connection, the kind of write, the read with
// the wanted and the given answer, what the source answers, the route that
// Causeway tells for it, which appliers ran, and the seed.
package consistency
