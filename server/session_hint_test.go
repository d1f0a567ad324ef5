package server

import (
	"encoding/hex"
	"strings"
	"testing"

	"causeway/classifier"
	"causeway/wire"
)

// hinted has the source answer what it is asked about the variables.
func (l *lab) hinted(class, staleness, key string) {
	l.source.on("SELECT COALESCE(HEX(CONVERT(@causeway_class", func(c *fakeConn, _ string) {
		c.rows(3, []string{hex.EncodeToString([]byte(class)), hex.EncodeToString([]byte(staleness)), hex.EncodeToString([]byte(key))})
	})
}

// TestKeyLiterals: a key is the value that its literal has on MySQL, not its text.
func TestKeyLiterals(t *testing.T) {
	for literal, key := range map[string]string{
		`'O\'Brien'`: "O%27Brien", `'O''Brien'`: "O%27Brien", `"O'Brien"`: "O%27Brien", `"a""b"`: "a%22b", `'a\\b'`: "a%5Cb", `'a\nb'`: "a%0Ab", "42": "42",
	} {
		l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
		a, b := l.client(), l.client()
		l.hinted("", "", "another")
		a.run("SET @causeway_key = "+literal, "INSERT INTO t VALUES (1)")
		b.wantFrom("source", "SELECT a FROM t /*causeway_key='"+key+"'*/")
		b.wantFrom("replica1", "SELECT a FROM t /*causeway_key='another'*/")
	}
}

// TestKeyAskedFor: a value that is not in the text the source is asked for, once,
// whatever the charset.
func TestKeyAskedFor(t *testing.T) {
	for _, literal := range []string{"'a' 'b'", "x'6162'", "_latin1'ab'", "N'ab'", "CONCAT('a', 'b')", "'ab' COLLATE utf8mb4_bin", "'\xc3\xa9'", "'\xe9'", "0x6162", "@x", "+5"} {
		l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
		a, b := l.client(), l.client()
		l.hinted("", "", "a\xc3\xa9")
		a.run("SET @causeway_key = "+literal, "INSERT INTO t VALUES (1)")
		b.wantFrom("source", "SELECT a FROM t /*causeway_key='a%C3%A9'*/")
		n := 0
		for _, text := range l.source.texts() {
			if strings.HasPrefix(text, "SELECT COALESCE") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: asked %d times", literal, n)
		}
	}
}

// TestHintsNotFollowed: what would set a key, a token or a class unseen is refused before
// anything runs.
func TestHintsNotFollowed(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	k := l.client()
	l.forget()
	for _, sql := range []string{
		"SET @causeway_key='M'; INSERT INTO t VALUES (1)", "SET @b=1; SET @causeway_key='v1'", "SELECT 1; SET @causeway_class = 'F2'",
		"SELECT 'k' INTO @causeway_key", "DO @causeway_key := 'k'", "INSERT INTO t VALUES (@causeway_key := 'k')", "SELECT @causeway_max_staleness := '2s'",
		"SET @x = (@causeway_key := 'k')", "CALL p(@causeway_key)", "EXPLAIN FORMAT=JSON INTO @causeway_key SELECT 1",
	} {
		k.wantError(wire.ErrWrongValueForVar, "statement of its own", sql)
	}
	for _, sql := range []string{
		"PREPARE s FROM 'SET @causeway_key=?'", `PREPARE s FROM "INSERT INTO t VALUES (1) /*causeway_key='PP'*/"`, "PREPARE s FROM 'SELECT 1 /*causeway_token=''u:1''*/'",
		`PREPARE s FROM 'SELECT 1 /*cause\way_key=\'k\'*/'`, "PREPARE s FROM 'SELECT 1 /*causeway_key=k*/'", "SELECT 1; PREPARE s FROM 'SET @causeway_class = ?'",
		"PREPARE s FROM 'DO @causeway_key := 1'",
	} {
		k.wantError(wire.ErrWrongValueForVar, "text of a PREPARE", sql)
	}
	for _, sql := range []string{"PREPARE s FROM 'SET @causeway_token = ?'", "PREPARE s FROM 'SELECT @causeway_gtids'"} {
		k.wantError(wire.ErrWrongValueForVar, "token is known to Causeway only", sql)
	}
	for _, sql := range []string{
		`INSERT INTO t VALUES (1) /*causeway_key="k"*/`, "SELECT a FROM t /*causeway_key=k*/", "SELECT a FROM t /* CAUSEWAY_TOKEN = u:1 */",
		"SELECT a FROM t /*causeway_key='O''Brien'*/",
	} {
		k.wantError(wire.ErrWrongValueForVar, "in single quotes", sql)
	}
	if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
		t.Errorf("servers were asked %q", texts)
	}
	if got := k.explain("Choice", "SELECT a FROM t /*causeway_key=k*/"); !strings.Contains(got, "in single quotes") {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
	if got := k.explain("Choice", "DELETE FROM t /*causeway_token=x*/"); !strings.Contains(got, "in single quotes") {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
	if got := k.explain("Choice", "DO @causeway_key := 'k'"); !strings.Contains(got, "statement of its own") {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
}

// TestHintsPreparedByProtocol: refused at COM_STMT_PREPARE, when nothing has run.
func TestHintsPreparedByProtocol(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	k := l.client()
	l.forget()
	for _, sql := range []string{"SELECT 'k' INTO @causeway_key", "SELECT a FROM t /*causeway_key=k*/", "CALL p(@causeway_key)"} {
		k.command(wire.ComStmtPrepare, sql)
		if e := k.answer(nil).err; e == nil || e.Code != wire.ErrWrongValueForVar {
			t.Errorf("%s: %v", sql, e)
		}
	}
	if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
		t.Errorf("servers were asked %q", texts)
	}
}

// TestHintsStillFollowed: reading the variables, and setting several, works.
func TestHintsStillFollowed(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	a, b := l.client(), l.client()
	a.run("SET @x = 1, @causeway_key = 'k', sql_mode = ''", "INSERT INTO t VALUES (1)")
	b.wantFrom("source", "SELECT a FROM t /* causeway_key = 'k' */")
	b.wantFrom("source", "SELECT a FROM t /*CAUSEWAY_KEY='k'*/")
	for _, sql := range []string{"SELECT @causeway_key", "SET @y = @causeway_key", "PREPARE s FROM 'SELECT @causeway_key /*causeway_class=''F2''*/'"} {
		if r := a.query(sql); r.err != nil {
			t.Errorf("%s: %v", sql, r.err)
		}
	}
}

// TestUnreadClass: a class in the wrong form is counted and told of, and the read runs.
func TestUnreadClass(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_class=F2*/")
	if got := k.route("Ignored_hint"); !strings.Contains(got, "causeway_class: it is written as") {
		t.Errorf("Ignored_hint %q", got)
	}
}

// TestKeyAttributeInAnyForm: the name of a connection attribute is taken in any case, and a
// query attribute that is a number is refused.
func TestKeyAttributeInAnyForm(t *testing.T) {
	if got := (&Login{Attrs: map[string]string{"a": "b", "Causeway_Key": "k"}}).hintAttr(classifier.HintKey); got != "k" {
		t.Errorf("attribute %q", got)
	}
	var h classifier.Hints
	namedHints(&h, []byte("\x00\x01"+"\x08\x00\x0ccauseway_key"+"\x2a\x00\x00\x00\x00\x00\x00\x00"), 1, "", nil)
	if h != (classifier.Hints{Unread: classifier.HintKey}) {
		t.Errorf("%+v", h)
	}
	for _, end := range []string{"\xfe\x00\x0ccauseway_key", "\xfe\x00\x0ccauseway_key" + "\x05k"} { // the value is not all there
		h = classifier.Hints{}
		if namedHints(&h, []byte("\x00\x01"+end), 1, "", nil); h.Unread != classifier.HintKey {
			t.Errorf("%q: %+v", end, h)
		}
	}
}

// TestCarriedByComments: an empty token in a comment is another user as it is in SET, and
// one that is refused changes nothing.
func TestCarriedByComments(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Users[0].Scope = ScopeCarried })
	k := l.client()
	k.run("SET @causeway_token = '"+sourceUUID+":1'", "INSERT INTO t VALUES (1)")
	for _, bad := range []string{"junk", sourceUUID + ":999"} {
		k.wantError(wire.ErrWrongValueForVar, "", "SET @causeway_token = '"+bad+"'")
		k.wantFrom("source", "SELECT a FROM t")
		k.wantError(wire.ErrWrongValueForVar, "", "SELECT a FROM t /*causeway_token='"+bad+"'*/")
		k.wantFrom("source", "SELECT a FROM t")
	}
	k.wantError(wire.ErrWrongValueForVar, "", "SELECT a FROM t /*causeway_token='"+sourceUUID+":2',causeway_token='junk'*/") // the first is not taken either
	k.wantFrom("source", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_token=''*/")
	k.wantFrom("replica1", "SELECT a FROM t")
}
