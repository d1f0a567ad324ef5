// Package driver runs go-sql-driver/mysql's own test suite, which comes with
// the module, once directly on the source of a real cluster and once through
// Causeway, and compares: what passes there must pass here.
//
// The suite is a program of its own, compiled from a copy of the module, so
// nothing of it is kept in this repository. Only tests live here.
package driver
