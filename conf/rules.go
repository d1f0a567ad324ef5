package conf

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Rule says what holds for the statements that fulfil all of its conditions.
type Rule struct {
	Name string

	// Conditions; "" and the zero prefix: none of that kind.
	Digest string         // the whole normalised text
	Regex  *regexp.Regexp // on the normalised text, whatever the case; nil: none
	Table  string         // "orders" or "app.orders"
	User   string
	Schema string // of the session
	Client netip.Prefix

	// Effects.
	Class    string
	MaxClass string
	Deny     bool
	Target   string // "" or TargetSource
	Timeout  time.Duration
	Comment  string // for people
}

// TargetSource is the one value of Rule.Target.
const TargetSource = "source"

func expression() kind[*regexp.Regexp] {
	return kind[*regexp.Regexp]{"regular expression", func(v any) (*regexp.Regexp, *fault) {
		const instead = "write a regular expression as https://pkg.go.dev/regexp/syntax has it, such as '^select .* from orders'"
		s, ok := v.(string)
		if !ok {
			return nil, &fault{described(v) + " is no string", instead}
		}
		if s == "" {
			return nil, nil
		}
		// Digests are in lower case: an expression with an upper case letter would never match.
		re, err := regexp.Compile("(?i)" + s)
		if err != nil {
			return nil, &fault{strconv.Quote(s) + " is no regular expression", instead}
		}
		return re, nil
	}}
}

func network() kind[netip.Prefix] {
	return kind[netip.Prefix]{"network", func(v any) (netip.Prefix, *fault) {
		const instead = `write an address or a network, such as "10.0.0.0/8"`
		s, ok := v.(string)
		if !ok {
			return netip.Prefix{}, &fault{described(v) + " is no string", instead}
		}
		if s == "" {
			return netip.Prefix{}, nil
		}
		p, err := parseNetwork(s)
		if err != nil {
			return netip.Prefix{}, &fault{strconv.Quote(s) + " is no address and no network", instead}
		}
		return p, nil
	}}
}

// ruleOptions are the keys of each [[rule]].
var ruleOptions = []option[Rule]{
	row("name", text(`"reports"`), func(r *Rule) *string { return &r.Name }, "",
		"The rule, in SHOW CAUSEWAY RULES, metrics and errors."),
	row("digest", text(`"select ? from orders"`), func(r *Rule) *string { return &r.Digest }, `""`,
		"Condition: the statement's digest, as SHOW CAUSEWAY ROUTE has it. Quotes of identifiers make no difference."),
	row("regex", expression(), func(r *Rule) **regexp.Regexp { return &r.Regex }, `""`,
		"Condition: a regular expression that is found in the digest, whatever the case, with or without the quotes of identifiers."),
	row("table", text(`"app.orders"`), func(r *Rule) *string { return &r.Table }, `""`,
		"Condition: a table that the statement names, with or without its schema, whatever the case. Views are not looked into."),
	row("user", text(`"app"`), func(r *Rule) *string { return &r.User }, `""`,
		"Condition: the account."),
	row("schema", text(`"app"`), func(r *Rule) *string { return &r.Schema }, `""`,
		"Condition: the session's current schema."),
	row("client", network(), func(r *Rule) *netip.Prefix { return &r.Client }, `""`,
		"Condition: the client's address or network."),
	row("class", text(`"F2"`), func(r *Rule) *string { return &r.Class }, `""`,
		"Effect: the class of the read, if neither the statement nor the session names one."),
	row("max_class", text(`"F1"`), func(r *Rule) *string { return &r.MaxClass }, `""`,
		"Effect: a class of a higher priority than this one is lowered to it, whoever named it."),
	row("deny", boolean(), func(r *Rule) *bool { return &r.Deny }, "false",
		"Effect: the statement, of whatever kind, gets error 1227 with the rule's name."),
	row("target", oneOf("", TargetSource), func(r *Rule) *string { return &r.Target }, `""`,
		"Effect: `\"source\"` sends the read to the source, without asking the fallback budget."),
	row("timeout", duration(0, day), func(r *Rule) *time.Duration { return &r.Timeout }, `"0s"`,
		"Effect: a read that runs longer, wherever it runs, is killed and gets error 3024. `0s`: what its class says."),
	row("comment", text(`"nightly jobs"`), func(r *Rule) *string { return &r.Comment }, `""`,
		"For people; SHOW CAUSEWAY RULES has it."),
}

// readRules reads [[rule]]; their order is that of the file. It comes after
// classes and users, which they name.
func (r *reader) readRules() {
	seen := map[string]int{}
	for i, raw := range r.tablesOf(ruleKey) {
		prefix := tablePrefix(ruleKey, i)
		var rule Rule
		fill(&rule, ruleOptions)
		for _, name := range sortedKeys(raw) {
			r.given[prefix+name] = true
			set(r, ruleOptions, &rule, name, prefix+name, raw[name])
		}
		r.required(prefix+"name", rule.Name, `name the rule, such as name = "reports"`)
		if j, taken := seen[rule.Name]; taken && rule.Name != "" {
			r.problem(prefix+"name", fmt.Sprintf("%q is the name of rule[%d] too", rule.Name, j+1), "name each rule once")
		} else {
			seen[rule.Name] = i
		}
		r.checkRule(prefix, &rule)
		r.cfg.Rules = append(r.cfg.Rules, rule)
	}
}

func (r *reader) checkRule(prefix string, rule *Rule) {
	r.checkClassName(prefix+"class", rule.Class)
	r.checkClassName(prefix+"max_class", rule.MaxClass)
	effect := rule.Class != "" || rule.MaxClass != "" || rule.Target != "" || rule.Timeout > 0
	switch {
	case r.hasProblemIn(prefix): // a condition or effect may be what is wrong
	case rule.Digest == "" && rule.Regex == nil && rule.Table == "" && rule.User == "" && rule.Schema == "" && !rule.Client.IsValid():
		r.problem(prefix+"name", "the rule has no condition", "give it one of digest, regex, table, user, schema and client")
	case !rule.Deny && !effect:
		r.problem(prefix+"name", "the rule has no effect", "give it one of class, max_class, deny, target and timeout")
	case rule.Deny && effect:
		r.problem(prefix+"deny", "a denied statement has no class, target or timeout", "keep deny, or the others")
	case rule.Target != "" && (rule.Class != "" || rule.MaxClass != ""):
		r.problem(prefix+"target", "a read that goes to the source has no class", "keep target, or class and max_class")
	}
	known := slices.ContainsFunc(r.cfg.Users, func(u User) bool { return u.Name == rule.User })
	if rule.User != "" && !known && !r.hasProblem(prefix+"user") {
		r.problem(prefix+"user", strconv.Quote(rule.User)+" is none of [[users]]", "name an account that has a [[users]] table")
	}
}
