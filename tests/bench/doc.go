// Command bench measures what a query costs in a proxy: point selects by
// sysbench through Causeway, a plain TCP relay in Go, HAProxy, MySQL Router and
// directly, in one run on one machine, interleaved A B C A B C, medians.
//
// The figure that counts is the CPU time of the proxy's process for one query,
// user and system time from /proc divided by sysbench's own count of queries:
// it hardly depends on what else the machine does. Throughput and latency mean
// something only as ratios within one run. Every contender but Causeway stands
// in front of the source alone; Causeway sends these reads to the replicas.
//
// With --script another of sysbench's scripts runs, and transactions are
// counted in place of queries: by --script oltp_read_write --rows 300 one sees
// what shared connections (causeway-16) do where many clients want the same rows.
//
//	go run ./tests/bench --threads 1,8,64 --time 10s --rounds 5
package main
