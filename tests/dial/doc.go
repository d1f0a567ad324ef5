// Package dial tests both sides of the login against the authority: package
// backend logs in to a real MySQL server by every method that the server has,
// and the server's own command-line client logs in to Causeway.
package dial
