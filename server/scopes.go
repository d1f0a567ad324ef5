package server

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/backend"
	"causeway/gtid"
	"causeway/scope"
)

// Scope says whose writes the reads of a session must see, besides its own and
// those of its key.
type Scope uint8

// The scopes.
const (
	ScopeSession Scope = iota // nobody's
	ScopeUser                 // all sessions' of the account
	ScopeProxy                // all sessions' of this Causeway
	ScopeCarried              // nobody's, and of its own only those since its carrier came, see anothersWork
)

var scopeNames = []string{ScopeSession: "session", ScopeUser: "user", ScopeProxy: "proxy", ScopeCarried: "carried"}

// ParseScope reads the name of a scope.
func ParseScope(name string) (Scope, error) {
	if i := slices.Index(scopeNames, name); i >= 0 {
		return Scope(i), nil
	}
	return 0, fmt.Errorf("no scope is called %q; there are session, user, proxy and carried", name)
}

func (s Scope) String() string { return scopeNames[s] }

// scopes are the tokens that sessions share.
type scopes struct {
	keys  *scope.Book
	proxy *scope.Entry
}

// Names of what is no key: those have a zero byte in them.
const (
	proxyEntry      = "proxy"
	userEntryPrefix = "user:"
)

// common is what a session has of them.
type common struct {
	wide *scope.Entry // its account's or the proxy's; nil: its scope is the session
	keys              // of what runs

	keyed   gtid.Set // of the session's token: what was written under keys, and nowhere else
	carrier string   // the tokens that came last, see anothersWork
}

// keys are those that a commit counts as written under.
type keys struct {
	key   string   // of the statement, with its account; "": none
	trx   []string // of the statements of the transaction that is open
	plain bool     // one of those wrote under none
}

// ownKey tells whether all of a commit was written under keys.
func (k *keys) ownKey() bool { return k.key != "" && !k.plain }

// under has what is learnt late count as written under the keys of when it was
// written. The function it returns ends that.
func (s *session) under(k keys) (back func()) {
	now := s.common.keys
	s.common.keys = k
	return func() { s.common.keys = now }
}

// note keeps apart what was written under keys, so that another key need not see it,
// from what was written without one or was handed in.
func (c *common) note(set, known gtid.Set) {
	switch {
	case c.ownKey():
		c.keyed = c.keyed.Union(set.Subtract(known))
	case !c.keyed.IsEmpty():
		c.keyed = c.keyed.Subtract(set)
	}
}

// maxKeyLen is the length from which on a key is kept as its hash.
const maxKeyLen = 128

// keyName is a key within its account.
func keyName(user, key string) string {
	if key == "" {
		return ""
	}
	if len(key) > maxKeyLen {
		key = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key)))
	}
	return user + "\x00" + key
}

// wideEntry is what all sessions of an account share by configuration.
func (s *Server) wideEntry(user string) *scope.Entry {
	acc := s.users[user]
	if acc == nil {
		return nil
	}
	switch acc.Scope {
	case ScopeUser:
		return acc.entry
	case ScopeProxy:
		return s.scopes.proxy
	}
	return nil
}

// useKey takes the key of the statement that is to run: the narrowest that is named.
func (s *session) useKey(j *job) {
	key := j.hints.Key
	if key == "" {
		key = s.hints.Key
	}
	s.common.key = keyName(s.login.User, key)
}

// keepKeys comes after a command: what a transaction writes under a key is the
// key's when it commits, by whatever statement.
func (s *session) keepKeys() {
	c := &s.common
	switch {
	case !s.homeInTrx() && s.lazy == nil && !s.sticky.xa:
		c.trx, c.plain = nil, false
	case c.key != "" && !slices.Contains(c.trx, c.key):
		c.trx = append(c.trx, c.key)
	}
}

// reads tells whether the session reads what others have written.
func (c *common) reads() bool { return c.wide != nil || c.key != "" }

// shares tells whether others read what this session writes now.
func (c *common) shares() bool { return c.reads() || len(c.trx) > 0 }

// raise makes what the session has written part of what others need, and has their
// reads go to the source until the end of a window.
func (s *session) raise(set gtid.Set, v *backend.View, until time.Duration) {
	if !s.common.shares() {
		return
	}
	entries := s.sharedEntries(v)
	for _, e := range entries {
		e.Raise(set, v.Epoch, s.srv.narrow)
		e.Stick(until)
	}
	s.publish(entries)
}

// narrow bounds the size of a token.
func (s *Server) narrow(set gtid.Set) gtid.Set {
	if limit := s.opts.TokenIntervals; limit > 0 && set.Intervals() > limit {
		return set.Widen(s.opts.Monitor.View().SourcePosition, limit)
	}
	return set
}

// sharedEntries are all entries that the session writes to now. Each holds at least
// what the source had executed when this Causeway first knew it.
func (s *session) sharedEntries(v *backend.View) []*scope.Entry {
	c, floor := &s.common, gtid.Token{Set: s.srv.floorSet(v), Epoch: v.Epoch}
	entries := make([]*scope.Entry, 0, 2+len(c.trx))
	if c.wide != nil {
		if c.wide.Token().Set.IsEmpty() {
			c.wide.Raise(floor.Set, floor.Epoch, s.srv.narrow)
		}
		entries = append(entries, c.wide)
	}
	now := time.Now()
	if c.key != "" {
		entries = append(entries, s.srv.scopes.keys.Open(c.key, floor, now))
	}
	for _, key := range c.trx {
		if key != c.key {
			entries = append(entries, s.srv.scopes.keys.Open(key, floor, now))
		}
	}
	return entries
}

// demand is what a read must see.
type demand struct {
	held  bool     // a token is held by the session, its key or its scope
	token gtid.Set // all of them
	floor gtid.Set // what is needed where none is held
	seen  gtid.Set // what a monotonic read must not fall behind
	// stands: the token is the floor of a key or scope that holds none, which may have
	// been forgotten: no warning waives it, and what holds without a token holds besides.
	stands bool
	until  time.Duration // when the last window after a commit ends
}

// demand gathers what a read of this session must see now.
func (s *session) demand(v *backend.View) demand {
	c := &s.common
	d := demand{token: s.token.Set, until: s.windows.of(c.key)}
	if c.key != "" { // the key says whose writes are meant
		d.token = d.token.Subtract(c.keyed)
	}
	absent := false
	if c.wide != nil {
		wide := valid(c.wide.Token(), v)
		d.token, absent = d.token.Union(wide), wide.IsEmpty()
		d.until = max(d.until, c.wide.Stuck())
	}
	var e *scope.Entry
	if c.key != "" {
		if e = s.srv.scopes.keys.Find(c.key); e == nil {
			d.until = max(d.until, s.srv.scopes.keys.Floor().Stuck())
		}
		d.token = d.token.Union(valid(e.Token(), v))
		absent = absent || e == nil
		d.until = max(d.until, e.Stuck())
	}
	if v.WithoutGTIDs { // a window stands for the token
		return demand{held: s.srv.windowLeft(d.until) > 0, until: d.until}
	}
	d.held = !d.token.IsEmpty()
	if d.held && !absent {
		return d
	}
	d.floor = s.srv.floorSet(v)
	if c.key != "" && e == nil {
		d.floor = d.floor.Union(valid(s.srv.scopes.keys.Floor().Token(), v))
	}
	if absent {
		d.token, d.stands = d.token.Union(d.floor), !d.held
	}
	return d
}

// valid is what a token still names: in another epoch nothing.
func valid(t gtid.Token, v *backend.View) gtid.Set {
	if t.Void(v.Epoch) {
		return gtid.Set{}
	}
	return t.Set
}

// sharedInDoubt tells whether somebody's statement, which the session's reads must
// see if it has committed, has an outcome that nobody knows yet.
func (s *session) sharedInDoubt() bool {
	c := &s.common
	if c.wide.InDoubt() {
		return true
	}
	return c.key != "" && s.srv.scopes.keys.InDoubt(s.srv.scopes.keys.Find(c.key))
}

// forgetLost takes what was lost in a change of the source out of what the session
// shares. It tells what that was.
func (s *session) forgetLost(lost gtid.Set, v *backend.View, version uint64) gtid.Set {
	c := &s.common
	var out gtid.Set
	forget := func(e *scope.Entry) {
		if gone, told := e.Forget(lost, v.Epoch, version); told {
			out = out.Union(gone)
		}
	}
	forget(c.wide)
	if c.key != "" {
		forget(s.srv.scopes.keys.Find(c.key))
		s.srv.scopes.keys.Floor().Forget(lost, v.Epoch, version) // its names are forgotten: there is nobody to tell
	}
	return out
}

// scopeText names what the session shares, for people.
func (s *session) scopeText() string {
	text := ScopeSession.String()
	if acc := s.srv.users[s.login.User]; acc != nil {
		text = acc.Scope.String()
	}
	if _, key, ok := strings.Cut(s.common.key, "\x00"); ok {
		if !utf8.ValidString(key) {
			key = fmt.Sprintf("0x%X", key) // the answer is text
		}
		text += ", key " + key
	}
	return text
}

// anothersWork tells whether tokens begin somebody else's work on the same
// connection, as other ones than before do with ScopeCarried.
func (s *session) anothersWork(tokens string) bool {
	acc := s.srv.users[s.login.User]
	return acc != nil && acc.Scope == ScopeCarried && tokens != s.common.carrier
}

// forgetOthers forgets what the session has held until then: it was not his.
func (s *session) forgetOthers(carrier string) {
	s.common.carrier = carrier
	s.token, s.common.keyed, s.handed, s.windows = gtid.Token{}, gtid.Set{}, handedToken{}, windows{}
}
