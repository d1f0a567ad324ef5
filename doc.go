// Command causeway is a MySQL proxy in front of one source and its replicas:
// writes go to the source, reads to replicas, and no session misses its own
// write.
//
// This package owns the command line, the log's form and the wiring of the
// parts; what they do is theirs. It alone reads arguments and environment, and
// it is the only one that may import every other. run is the whole program and
// is called once; the parts that it starts end before it returns.
package main
