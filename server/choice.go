package server

import (
	"strconv"
	"strings"
	"time"

	"causeway/classifier"
)

// Where the class of a read was named, the widest first.
const (
	fromDefault   = "routing.default_class"
	fromListener  = "listener"
	fromUser      = "user"
	fromRule      = "rule"
	fromSession   = "session variable"
	fromStatement = "statement"
)

// choice is the class of a read, and how it came to it.
type choice struct {
	class     *Class
	from      string
	capped    bool          // lowered to a max_class
	staleness time.Duration // asked for beside the class; 0: the class's own
	rule      *ruleEntry
	ignored   string // a hint that means nothing
}

// wish is what a session or a statement asks for.
type wish struct {
	class     *Class
	staleness time.Duration
	ignored   string
}

// ignore notes a hint that means nothing, beside those that are noted.
func (w *wish) ignore(what string) { w.ignored = alsoIgnored(w.ignored, what) }

func alsoIgnored(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; and " + second
}

// wishOf reads the values of the hints. What makes no sense is told of in
// SHOW CAUSEWAY ROUTE: to fail a read for it would be worse.
func (c *classes) wishOf(class, staleness string) wish {
	var w wish
	if class != "" {
		if w.class = c.named(class); w.class == nil {
			w.ignore(classifier.HintClass + " " + strconv.Quote(shortened(class)) + ": there is no such class")
		}
	}
	if staleness != "" {
		if w.staleness = parseStaleness(staleness); w.staleness == 0 {
			w.ignore(classifier.HintMaxStaleness + " " + strconv.Quote(shortened(staleness)) + ": it must be more than 0 and at most 24h, such as '500ms', '2s' or a number of seconds; " +
				"what must not be old at all needs a class with consistency = \"source\", or the session's own writes")
		}
	}
	return w
}

func shortened(text string) string { return text[:min(len(text), 40)] }

// parseStaleness reads "500ms", "2s" or a number of seconds; 0: it is none.
func parseStaleness(text string) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0 && seconds <= 86400) {
			return 0
		}
		return time.Duration(seconds * float64(time.Second))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0
	}
	return d
}

// choose picks the class of a read: the narrowest that names one wins, below the
// max_class of the user and of the rule. It is pure.
func choose(base choice, maxOfUser *Class, r *ruleEntry, session, statement wish) choice {
	c := base
	c.rule = r
	if r != nil && r.class != nil {
		c.class, c.from = r.class, fromRule
	}
	if session.class != nil {
		c.class, c.from = session.class, fromSession
	}
	c.staleness, c.ignored = session.staleness, session.ignored
	if statement.class != nil {
		c.class, c.from, c.staleness = statement.class, fromStatement, 0
	}
	if statement.staleness > 0 {
		c.staleness = statement.staleness
	}
	if statement.ignored != "" {
		c.ignored = alsoIgnored(c.ignored, statement.ignored)
	}
	c.lower(maxOfUser)
	if r != nil {
		c.lower(r.maxClass)
	}
	return c
}

// lower holds the choice below a max_class, a bound of its own included.
func (c *choice) lower(limit *Class) {
	if limit == nil {
		return
	}
	if c.class.Priority < limit.Priority {
		c.class, c.capped = limit, true
	}
	if c.staleness > 0 && c.staleness < limit.MaxStaleness {
		c.staleness, c.capped = limit.MaxStaleness, true
	}
}

// startClass is the class of an account's sessions by the configuration.
func (s *Server) startClass(user string) (base choice, limit *Class) {
	base = choice{class: s.defaultClass, from: fromDefault}
	if s.listenClass != nil {
		base = choice{class: s.listenClass, from: fromListener}
	}
	if acc := s.users[user]; acc != nil {
		limit = acc.maxClass
		if acc.class != nil {
			base = choice{class: acc.class, from: fromUser}
		}
	}
	return base, limit
}

// choose finds the class of the read that is to run.
func (s *session) choose(j *job) {
	s.choice = choose(s.base, s.maxClass, s.rule, s.wish, s.srv.classes.statementWish(&j.hints))
	if s.choice.ignored != "" {
		s.srv.metrics.ignoredHints.Inc()
	}
}

// readHints reads the statement's own comments and query attributes; the
// attributes count more, as nobody but the application can write them.
func (s *session) readHints(j *job) {
	j.hints = s.attributeHints(j)
	if j.stmt != nil {
		j.hints.Fill(j.stmt.hints)
		return
	}
	text, _ := queryText(j.frame.Payload, s.login.Caps)
	j.hints.Fill(classifier.CommentHints(text, s.mode))
}

// statementWish is what the statement's own hints ask for.
func (c *classes) statementWish(h *classifier.Hints) wish {
	if h.Unread != "" {
		w := c.wishOf(h.Class, h.MaxStaleness)
		w.ignore(h.Unread + ": it is written as /*" + h.Unread + "='...'*/, or is a query attribute that is a string")
		return w
	}
	if h.Class == "" && h.MaxStaleness == "" {
		return wish{}
	}
	return c.wishOf(h.Class, h.MaxStaleness)
}

// toSource: the class or the rule names the source.
func (c *choice) toSource() bool {
	return c.class.Consistency == OnSource || c.rule != nil && c.rule.ToSource
}

// countRead counts a read for the ratios of its class and its digest.
func (s *session) countRead(j *job) {
	s.stats().reads.Add(1)
	if j.class.Usage != nil {
		j.class.Usage.Reads.Add(1)
	}
}
