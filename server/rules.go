package server

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"causeway/classifier"
	"causeway/wire"
)

// Rule says what holds for the statements that fulfil all of its conditions.
type Rule struct {
	Name string

	// Conditions; the zero value: none of that kind.
	Digest string         // with or without the quotes of identifiers
	Regex  *regexp.Regexp // on the digest, which is in lower case, as it is or without those
	Table  string         // "orders" or "app.orders"
	User   string
	Schema string // of the session
	Client netip.Prefix

	// Effects.
	Class, MaxClass string
	Deny            bool
	ToSource        bool
	Timeout         time.Duration
	Comment         string
}

// ruleEntry is a Rule at work.
type ruleEntry struct {
	Rule
	bare            string // its digest without the quotes of identifiers
	class, maxClass *Class
	hits            atomic.Uint64
}

// newRules resolves the names of classes.
func newRules(list []Rule, c *classes) ([]*ruleEntry, error) {
	var out []*ruleEntry
	for _, r := range list {
		x := &ruleEntry{Rule: r, bare: unquoted(r.Digest), class: c.named(r.Class), maxClass: c.named(r.MaxClass)}
		if r.Class != "" && x.class == nil || r.MaxClass != "" && x.maxClass == nil {
			return nil, fmt.Errorf("rule %q names a class that does not exist", r.Name)
		}
		out = append(out, x)
	}
	return out, nil
}

// ruleBook hands out the rules that can match in a session. Those of the same
// conditions on user and client share what they have found out.
type ruleBook struct {
	rules []*ruleEntry
	mu    sync.Mutex
	sets  map[string]*ruleSet // by which rules are in it
}

// forLogin returns the rules for an account and a client's address, nil for
// none: such a session's statements are not looked at.
func (b *ruleBook) forLogin(user, host string) *ruleSet {
	if len(b.rules) == 0 {
		return nil
	}
	addr, _ := netip.ParseAddr(host) // "localhost" and the like are in no network
	addr = addr.Unmap()
	var rules []*ruleEntry
	key := make([]byte, len(b.rules))
	for i, r := range b.rules {
		if (r.User == "" || r.User == user) && (!r.Client.IsValid() || r.Client.Contains(addr)) {
			rules = append(rules, r)
			key[i] = 1
		}
	}
	if len(rules) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sets == nil {
		b.sets = map[string]*ruleSet{}
	}
	set := b.sets[string(key)]
	if set == nil {
		set = &ruleSet{rules: rules, found: map[ruleKey]*ruleEntry{}}
		b.sets[string(key)] = set
	}
	return set
}

// ruleSet remembers for each digest and schema which rule is the first to match,
// so that a digest seen before costs no regular expression.
type ruleSet struct {
	rules []*ruleEntry
	mu    sync.RWMutex // held for a look-up
	found map[ruleKey]*ruleEntry
}

type ruleKey struct {
	class  *classifier.Class // one for each digest, as long as that is remembered
	schema string
}

// maxFound bounds what a set remembers; then it begins anew.
const maxFound = 8192

// match returns the first rule whose conditions hold, nil if there is none.
func (s *ruleSet) match(c *classifier.Class, schema string, m classifier.Mode) *ruleEntry {
	key := ruleKey{c, schema}
	s.mu.RLock()
	r, known := s.found[key]
	s.mu.RUnlock()
	if known {
		return r
	}
	r = firstMatch(s.rules, c, schema, m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.found) >= maxFound {
		s.found = map[ruleKey]*ruleEntry{}
	}
	s.found[key] = r
	return r
}

// firstMatch is match without a memory. It is pure.
func firstMatch(rules []*ruleEntry, c *classifier.Class, schema string, m classifier.Mode) *ruleEntry {
	var tables []string
	looked := false
	bare := unquoted(c.Digest)
	for _, r := range rules {
		if r.Table != "" && !looked {
			tables, looked = c.Tables(m), true
		}
		if r.matches(c.Digest, bare, tables, schema) {
			return r
		}
	}
	return nil
}

func (r *ruleEntry) matches(digest, bare string, tables []string, schema string) bool {
	switch {
	case r.bare != "" && r.bare != bare,
		r.Schema != "" && !strings.EqualFold(r.Schema, schema),
		r.Table != "" && !namesTable(tables, r.Table, schema):
		return false
	}
	return r.Regex == nil || r.Regex.MatchString(digest) || bare != digest && r.Regex.MatchString(bare)
}

// quotes are those of identifiers: a digest has no strings, but for what a SET sets.
var quotes = strings.NewReplacer("`", "", `"`, "")

// unquoted is a digest as people write it: what a driver or ORM has put in quotes is the
// same column and table.
func unquoted(digest string) string { return quotes.Replace(digest) }

// namesTable tells whether one of the tables is the one of a rule. A table that
// a statement names without a schema is in the session's.
func namesTable(tables []string, want, schema string) bool {
	wantSchema, wantTable, full := strings.Cut(want, ".")
	if !full {
		wantSchema, wantTable = "", want
	}
	for _, name := range tables {
		in, table, qualified := strings.Cut(name, ".")
		if !qualified {
			in, table = schema, name
		}
		if strings.EqualFold(table, wantTable) && (wantSchema == "" || strings.EqualFold(in, wantSchema)) {
			return true
		}
	}
	return false
}

// applyRules finds the rule for a statement; an error: it is denied.
func (s *session) applyRules(j *job) *wire.Error {
	s.rule = nil
	if s.rules == nil || j.class.Digest == "" {
		return nil
	}
	r := s.rules.match(j.class, s.state.Schema, s.mode)
	if r == nil {
		return nil
	}
	s.rule = r
	if j.want != expectPrepare {
		r.hits.Add(1)
	}
	if !r.Deny {
		return nil
	}
	return wire.NewError(wire.ErrSpecificAccessDenied,
		"Access denied; Causeway's rule '%s' does not allow this statement; ask who runs Causeway to change it ([[rule]])", r.Name)
}

// denied answers a statement that a rule does not allow.
func (s *session) denied(j *job, e *wire.Error) error {
	s.route = route{digest: j.class.Digest, rule: s.rule}
	s.noteLocal(reasonDenied)
	return s.refuseWith(e)
}

// ruleRows are SHOW CAUSEWAY RULES, in the order in which they are tried.
func (s *Server) ruleRows() [][]string {
	var rows [][]string
	for _, r := range s.rules.rules {
		rows = append(rows, []string{r.Name, r.Conditions(), r.Effects(), fmt.Sprint(r.hits.Load()), r.Comment})
	}
	return rows
}

// Conditions are what a statement must fulfil, as SHOW CAUSEWAY RULES has them.
func (r *Rule) Conditions() string {
	var parts namedValues
	parts.add("digest", r.Digest)
	if r.Regex != nil {
		parts.add("regex", strings.TrimPrefix(r.Regex.String(), "(?i)"))
	}
	parts.add("table", r.Table)
	parts.add("user", r.User)
	parts.add("schema", r.Schema)
	if r.Client.IsValid() {
		parts.add("client", r.Client.String())
	}
	return strings.Join(parts, ", ")
}

// Effects are what then holds for it, as SHOW CAUSEWAY RULES has them.
func (r *Rule) Effects() string {
	var parts namedValues
	if r.Deny {
		parts = append(parts, "deny")
	}
	if r.ToSource {
		parts.add("target", "source")
	}
	parts.add("class", r.Class)
	parts.add("max_class", r.MaxClass)
	if r.Timeout > 0 {
		parts.add("timeout", r.Timeout.String())
	}
	return strings.Join(parts, ", ")
}

// namedValues is "name=value" for what has a value.
type namedValues []string

func (l *namedValues) add(name, value string) {
	if value != "" {
		*l = append(*l, name+"="+value)
	}
}
