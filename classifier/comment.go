package classifier

import "bytes"

// skipBlanks moves over white space and comments, into and out of executable
// ones. It notes in t what it saw.
func (l *lexer) skipBlanks(t *token) {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case charClass[c]&chSpace != 0:
			l.pos++
			t.gap = true
		case c == '#', c == '-' && l.dashComment():
			l.lineComment()
			t.gap, t.comment = true, true
		case c == '/' && l.peek(1) == '*':
			l.blockComment()
			t.gap, t.comment = true, true
		case c == '*' && l.inExec && l.peek(1) == '/':
			l.inExec = false
			l.pos += 2
			t.gap, t.comment = true, true
		default:
			return
		}
	}
}

// dashComment reports whether "--" at pos starts a comment: only if white
// space, a control character or the end follows, so that 5--1 is a sum.
func (l *lexer) dashComment() bool {
	if l.peek(1) != '-' {
		return false
	}
	if l.pos+2 >= len(l.src) {
		return true
	}
	c := l.src[l.pos+2]
	return c <= ' ' || c == 0x7f
}

// lineComment skips to the end of the line. MySQL stops at a NUL byte too and
// goes on with code: such a text is not trusted.
func (l *lexer) lineComment() {
	rest := l.src[l.pos:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	if bytes.IndexByte(rest[:end], 0) >= 0 {
		l.notes |= noteBad
	}
	l.pos += end
}

// blockComment skips /* .. */ and /*+ .. */, or enters /*! .. */. A comment to
// another product (TiDB's /*T! .. */, MariaDB's /*M! .. */) is a plain one.
func (l *lexer) blockComment() {
	if l.peek(2) == '!' && l.pos+2 < len(l.src) {
		l.executable()
		return
	}
	end := bytes.Index(l.src[l.pos+2:], []byte("*/"))
	if end < 0 {
		l.pos = len(l.src)
		l.notes |= noteBad
		return
	}
	l.pos += 2 + end + 2
}

// executable enters /*! code */ or /*!NNNNN code */, or skips it as a server
// older than its version would.
func (l *lexer) executable() {
	l.notes |= noteExec
	if l.inExec {
		l.notes |= noteBad // MySQL knows no executable comment in another
	}
	digits, version := 0, 0
	for digits < 6 && isDigit(l.peek(3+digits)) {
		version = version*10 + int(l.peek(3+digits)-'0')
		digits++
	}
	// With six digits old servers read five and take the sixth as code.
	certain := digits < 5 || digits == 5 && version <= minServerVersion
	if !certain {
		l.notes |= noteUncertain
		if l.skipUncertain {
			l.skipNested()
			return
		}
	}
	l.inExec = true
	l.pos += 3
	if digits >= 5 {
		l.pos += digits
	}
}

// skipNested skips an executable comment with plain ones in it.
func (l *lexer) skipNested() {
	depth := 1
	l.pos += 3
	for l.pos+1 < len(l.src) {
		switch {
		case l.src[l.pos] == '*' && l.src[l.pos+1] == '/':
			l.pos += 2
			if depth--; depth == 0 {
				return
			}
		case l.src[l.pos] == '/' && l.src[l.pos+1] == '*':
			l.pos += 2
			depth++
		default:
			l.pos++
		}
	}
	l.pos = len(l.src)
	l.notes |= noteBad
}
