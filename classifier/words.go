package classifier

import "strings"

// literalMatters lists the variables whose assigned value decides the class.
var literalMatters = map[string]bool{
	"transaction_read_only": true, "tx_read_only": true,
	"transaction_isolation": true, "tx_isolation": true,
	"autocommit": true, "sql_log_bin": true,
}

// spaceBeforeParen says how a word and a parenthesis after it are written: with
// a blank after a keyword, without one after a function. The blank means
// something only for the built-in functions of mustTouch.
func spaceBeforeParen(word []byte, gap bool) bool {
	switch string(word) {
	case "in", "and", "or", "xor", "not", "from", "where", "on", "as", "by", "join", "using",
		"values", "value", "select", "all", "any", "some", "exists", "union", "except", "intersect",
		"over", "then", "when", "else", "case", "having", "distinct", "between", "like", "is",
		"with", "into", "set", "index", "key", "lateral", "partition", "explain", "div":
		return true
	}
	return gap && mustTouch[string(word)]
}

// mustTouch holds the built-in functions that are keywords only if the
// parenthesis follows at once (unless IGNORE_SPACE): with a blank between, the
// word names a stored function. Manual: Function Name Parsing and Resolution.
var mustTouch = set(
	"adddate", "bit_and", "bit_or", "bit_xor", "cast", "count", "curdate", "curtime", "date_add",
	"date_sub", "extract", "group_concat", "json_arrayagg", "json_objectagg", "max", "mid", "min",
	"now", "position", "session_user", "st_collect", "std", "stddev", "stddev_pop", "stddev_samp",
	"subdate", "substr", "substring", "sum", "sysdate", "system_user", "trim", "var_pop",
	"var_samp", "variance",
)

// beforeParen holds keywords after which a parenthesis is no function call. All
// are keywords in MySQL 8.0.22 already: a newer keyword can be the name of a
// stored function on an older server.
var beforeParen = set(
	"select", "all", "distinct", "distinctrow", "from", "where", "and", "or", "xor", "not", "in",
	"on", "using", "as", "by", "having", "exists", "any", "some", "between", "like", "rlike",
	"regexp", "div", "case", "when", "then", "else", "join", "straight_join", "union", "except",
	"row", "over", "index", "key", "partition", "lateral", "limit", "against", "is", "binary", "of",
	"with", "set", "escape", "columns", "into", "value", "sql_no_cache", "sql_calc_found_rows",
	"high_priority", "sql_small_result", "sql_big_result", "sql_buffer_result", "update", "delete",
	"explain", "describe", "desc", "analyze", "call", "do", "table", "ignore", "references",
	// types, as in CAST and JSON_TABLE
	"varchar", "varcharacter", "character", "decimal", "numeric", "dec", "float", "double", "real",
	"int", "integer", "tinyint", "smallint", "mediumint", "bigint", "varbinary", "bit", "datetime",
	"nchar", "varying", "precision", "text", "blob",
)

// systemSchemas hold what is each node's own.
var systemSchemas = set("mysql", "information_schema", "performance_schema", "sys")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// SystemSchema reports whether a schema holds what is each node's own. A text
// shows qualified names only: a session whose current schema is one of these
// cannot have its reads on a replica.
func SystemSchema(name string) bool { return systemSchemas[strings.ToLower(name)] }
