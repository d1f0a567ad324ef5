// Package classifier checks the classifier against the authority: a real
// MySQL. What it calls a plain read must run in a READ ONLY transaction and
// leave gtid_executed alone; what it says of functions, session variables and
// implicit commits must be what the server does.
package classifier
