package server

import (
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// firstEOF is what is known of the status flags that an older client gets in the
// EOF after the columns: the backend has none, as it was asked for DEPRECATE_EOF.
type firstEOF struct {
	before   wire.Status // the session's before the command
	opens    bool        // reading a table begins a transaction if autocommit is off
	readOnly bool        // and that transaction is READ ONLY
	calls    []bool      // which of the statements are CALLs; nil: none. These have results of their own and end with an OK
	count    int         // statements
	at       int         // statements that have ended
	results  int         // that have come
}

// firstFlags are the flags that the packet can have. Those that tell how rows
// were looked for are not known yet when it is due.
const firstFlags = wire.StatusAutocommit | trxStatus | wire.StatusNoBackslashEscapes | wire.StatusMoreResults | wire.StatusPSOut

func (f *firstEOF) expect(c *classifier.Class) {
	switch c.Kind {
	case classifier.Read, classifier.ReadSource, classifier.LockingRead, classifier.Diagnostics, classifier.Write, classifier.Handler:
		f.opens = !c.Is(classifier.NoTable) && (!isShow(c) || isSelect(c) && c.Kind != classifier.Diagnostics)
	}
	f.count = c.Statements
	switch {
	case !c.Is(classifier.MultiStatement):
		if c.Kind == classifier.Call {
			f.calls = oneCall
		}
	case strings.Contains(c.Digest, "call"):
		for text := range strings.SplitSeq(c.Digest, ";") {
			text = strings.TrimSpace(text)
			f.calls = append(f.calls, len(text) > 4 && strings.EqualFold(text[:4], "call"))
		}
	}
}

var oneCall = []bool{true}

// ended takes in the end of a result.
func (f *firstEOF) ended(header byte) {
	f.results++
	if !f.inCall() || header == wire.HeaderOK {
		f.at++
	}
}

// inCall tells whether the result to come is one of a CALL.
func (f *firstEOF) inCall() bool { return f.at < len(f.calls) && f.calls[f.at] }

// isShow: SHOW and DESCRIBE begin no transaction, but for those that are run as SELECT.
func isShow(c *classifier.Class) bool {
	verb, _, _ := strings.Cut(c.Digest, " ")
	switch strings.ToLower(verb) {
	case "show", "desc", "describe":
		return true
	}
	return false
}

// statusAhead is the status of the result whose columns have just passed, as it
// follows from what was before and from the statement.
func (r *relay) statusAhead() wire.Status {
	f := &r.first
	status := f.before
	if f.results > 0 {
		status = r.ok.Status
	}
	status &^= wire.StatusMoreResults | wire.StatusPSOut
	if f.opens && !status.Has(wire.StatusAutocommit) {
		status |= wire.StatusInTrans
		if f.readOnly {
			status |= wire.StatusInTransReadonly
		}
	}
	if f.inCall() || f.at+1 < f.count {
		status |= wire.StatusMoreResults
	}
	return status
}
