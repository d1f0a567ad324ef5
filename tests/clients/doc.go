// Package clients runs real programs of real drivers, each once directly on the
// source of a real cluster and once through Causeway, and compares what they
// saw. A difference fails, unless allow_test.go names it with its reason.
//
// Each folder holds the checks for one language and a client.sh that says how
// its drivers are fetched and how the program is started; scripts/clients does
// both. A program gets where to connect from its environment (CW_HOST, CW_PORT,
// CW_USER, CW_PASSWORD), finds the schemas of schema.sql laid afresh, and prints
// one JSON object a line, {"name": "driver/check", "value": what it saw}, the
// last one with the name "end". What differs from run to run by its nature (ids
// of connections, times) is no part of a value. What is written on one connection and
// read on another is read in a transaction, since a token belongs to one connection.
//
// CAUSEWAY_CLIENTS names the clients to run, all of them by default.
// CAUSEWAY_CLIENTS_SET=all lets those whose checks take long do all of them; CI
// does without. Only tests live here; one goroutine runs them all.
package clients
