// Command benchreplication measures how far a replica falls behind under one
// write load, by the number of its applier workers (replica_parallel_workers)
// and with and without replica_preserve_commit_order: apply lag over time, its
// average and maximum, and how long the replica takes to recover when the load
// has ended.
//
// What a worker waits for on a real replica is the disk: each group commit syncs
// the logs. Disks of test machines differ and are noisy, so the replica's logs
// are not synced here; in the sync's place each of its group commits waits
// --sync (binlog_group_commit_sync_delay). The load is --overload times what one
// worker was found to apply just before, so it is more than one worker can take
// on any machine.
//
// Lag is told by positions and this program's clock: a replica is as far behind
// as the first transaction that it lacks is old. Rounds are interleaved and the
// table has their medians; it goes to standard output, in Markdown, each sample
// to --data as CSV, and the plot to --plot.
//
//	go run ./tests/benchreplication --time 15s --rounds 3
package main
