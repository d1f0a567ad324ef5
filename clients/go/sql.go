package causeway

import "strings"

// readers are first words of statements that commit nothing. A statement that is
// not known here is taken for a write: that costs one question to Causeway.
var readers = map[string]bool{
	"SELECT": true, "SHOW": true, "EXPLAIN": true, "DESC": true, "DESCRIBE": true, "TABLE": true, "VALUES": true,
	"USE": true, "ROLLBACK": true, "SAVEPOINT": true, "RELEASE": true, "HELP": true,
}

// inside are writes that do not end a transaction by themselves.
var inside = map[string]bool{
	"INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true, "WITH": true, "SET": true, "DO": true,
}

// mayCommitInside tells whether a statement may commit the transaction that it
// is part of, as DDL does.
func mayCommitInside(query string) bool {
	return mayCommit(query) && (strings.Contains(query, ";") || !inside[firstWord(query)])
}

// mayCommit tells whether a statement may commit something, by its first word
// after comments (tracing tools put theirs there). It may say so of a read. A SELECT that calls
// a function which writes is not seen here: run it in a transaction.
// BEGIN and SET autocommit commit a transaction that is open.
func mayCommit(query string) bool {
	if strings.Contains(query, ";") { // maybe several statements
		return true
	}
	return !readers[firstWord(query)]
}

func firstWord(query string) string {
	rest := skipComments(query)
	end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(rest)
	}
	return strings.ToUpper(rest[:end])
}

// skipComments cuts off what stands before the first word: space, brackets
// and comments, but not those that MySQL executes.
func skipComments(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f\v(")
		end := ""
		switch {
		case strings.HasPrefix(s, "/*!"):
			return s
		case strings.HasPrefix(s, "/*"):
			s, end = s[2:], "*/"
		case strings.HasPrefix(s, "#"), strings.HasPrefix(s, "--"):
			end = "\n"
		default:
			return s
		}
		_, after, found := strings.Cut(s, end)
		if !found {
			return ""
		}
		s = after
	}
}
