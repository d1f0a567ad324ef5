// Package sysbench runs sysbench's OLTP scripts through Causeway on a real
// cluster and asks the servers themselves, by their own counters, where the
// statements ran. Only tests live here.
package sysbench
