// Package web holds the test of the helpers in clients/: their example web
// applications, each as three servers of one site, in front of HAProxy with two
// Causeways and replicas that lag and stop. Browsers with cookies post a
// comment, are redirected to another server of the site, and must read it
// there. Without the helper some do not: the test can fail.
package web
