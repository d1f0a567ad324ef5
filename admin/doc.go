// Package admin is Causeway's HTTP side: /metrics for Prometheus, /healthz and
// /readyz for supervisors and load balancers, and an index page for people.
//
// It owns the HTTP server and its timeouts, and nothing it shows: the cluster
// comes as a View, the front end as a Status, the metrics from a registry, each
// by a function that the caller gives. It is read only: no request changes
// anything, and every method but GET and HEAD gets 405. It asks for no password
// and shows none.
//
// A Server may answer many requests at once; Serve is called once. The metrics
// follow the Prometheus text format,
// https://prometheus.io/docs/instrumenting/exposition_formats/.
package admin
