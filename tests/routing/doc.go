// Package routing checks where statements go: each of a table is sent through a
// running Causeway with a mark in it, and the general log of every node tells
// which of them got it. Causeway's own word is not asked.
package routing
