package classifier

import "testing"

func TestCommentHints(t *testing.T) {
	for _, c := range []struct {
		sql  string
		mode Mode
		want Hints
	}{
		{sql: "SELECT 1"},
		{sql: "SELECT causeway_class FROM t"},
		{sql: "/*causeway_class='F2'*/ SELECT 1", want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*causeway_class='F2'*/", want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /* causeway_class='F2' */;", want: Hints{Class: "F2"}},
		{sql: "SELECT /*+ NO_ICP(t) */ 1 /*a='b',causeway_class='F2',traceparent='00-5b-01'*/", want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*causeway_max_staleness='500ms',causeway_class='F1'*/", want: Hints{Class: "F1", MaxStaleness: "500ms"}},
		{sql: "INSERT INTO t VALUES (1) /*causeway_key='user%3A42'*/", want: Hints{Key: "user:42"}},
		{sql: "SELECT 1 /*causeway_class='my%20class'*/", want: Hints{Class: "my class"}},
		{sql: `SELECT 1 /*route='%2Fa\'b',causeway_class='F2'*/`, want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*x=y, causeway_class='F2'*/", want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*CAUSEWAY_CLASS='F2' causeway_class='F2'*/", want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*one*/ /*causeway_class='F1'*/ /*causeway_class='F2'*/", want: Hints{Class: "F1"}},
		{sql: "SELECT /*!80000 1, */ 2 /*causeway_class='F1'*/", want: Hints{Class: "F1"}},
		{sql: "SELECT 1 -- /*causeway_class='F2'*/"},
		{sql: "SELECT 1 # /*causeway_class='F2'*/\n/*causeway_class='F1'*/", want: Hints{Class: "F1"}},
		{sql: "SELECT '/*causeway_class=''F2''*/'"},
		{sql: `SELECT "/*causeway_class='F2'*/"`},
		{sql: "SELECT `/*causeway_class='F2'*/`"},
		{sql: `SELECT 'a\'/*causeway_class=', 'F2', '*/'`},
		{sql: `SELECT 'a\' /*causeway_class='F2'*/`, mode: Mode{NoBackslashEscapes: true}, want: Hints{Class: "F2"}},
		{sql: "SELECT 1 /*causeway_key='a',causeway_key='b'*/ /*causeway_key='c'*/", want: Hints{Key: "a"}},
		{sql: "SELECT 1 /*notcauseway_class='F2'*/"},
		{sql: "SELECT 1 /*causeway_class=F2*/", want: Hints{Unread: HintClass}},
		{sql: "SELECT 1 /*causeway_class='F2*/", want: Hints{Unread: HintClass}},
		{sql: "SELECT 1 /*causeway_class = F2, causeway_max_staleness=2*/ /*causeway_key=k*/ /*causeway_class=x*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /* causeway_key = 'k' */", want: Hints{Key: "k"}},
		{sql: "SELECT 1 /* causeway_key ='k',\n\tcauseway_token\n=\t'u:1' */", want: Hints{Key: "k", Token: "u:1"}},
		{sql: "SELECT 1 /*causeway_key= 'k'*/", want: Hints{Key: "k"}},
		{sql: "SELECT 1 /*CAUSEWAY_KEY='k', Causeway_Token='u:1'*/", want: Hints{Key: "k", Token: "u:1"}},
		{sql: "SELECT 1 /*CAUSEWAY_CLASS='F2'*/", want: Hints{Class: "F2"}},
		{sql: `SELECT 1 /*causeway_key="k"*/`, want: Hints{Unread: HintKey}},
		{sql: `SELECT 1 /* Causeway_Token = "k" */`, want: Hints{Unread: HintToken}},
		{sql: "SELECT 1 /*causeway_key=k*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*causeway_key=*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*causeway_key='O''Brien'*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*causeway_key='k'l*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*a='b, causeway_key='k'*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*a='b';causeway_key='k'*/", want: Hints{Unread: HintKey}},
		{sql: `SELECT 1 /*a="b",causeway_key='k'*/`, want: Hints{Key: "k"}},
		{sql: "SELECT 1 /*causeway_key='k';a='b'*/", want: Hints{Key: "k"}},
		{sql: "SELECT 1 /*causeway_key='O%27Brien'*/", want: Hints{Key: "O'Brien"}},
		{sql: `SELECT 1 /*causeway_key='O\'Brien'*/`, want: Hints{Key: "O'Brien"}},
		{sql: "SELECT 1 /* the causeway_key, if any */"},
		{sql: "/* see causeway_key = docs */ SELECT 1"},
		{sql: "/*url='/x?causeway_token=3'*/ SELECT 1"},
		{sql: "/*url='/x?a,causeway_token=3',causeway_key='k'*/ SELECT 1", want: Hints{Key: "k"}},
		{sql: `/*url="/x?causeway_token=3"*/ SELECT 1`},
		{sql: "/*url='/x?causeway_token=3*/ SELECT 1"},
		{sql: `/* causeway_key = "k" */ SELECT 1`, want: Hints{Unread: HintKey}},
		{sql: `/* by causeway_key = "k" */ SELECT 1`, want: Hints{Unread: HintKey}},
		{sql: "/*app='x', causeway_key=k*/ SELECT 1", want: Hints{Unread: HintKey}},
		{sql: "/*app='x' causeway_key=k*/ SELECT 1", want: Hints{Unread: HintKey}},
		{sql: "/*app=x;causeway_key=k*/ SELECT 1", want: Hints{Unread: HintKey}},
		{sql: "/*+ causeway_key=k */ SELECT 1", want: Hints{Unread: HintKey}},
		{sql: "/* by causeway_key='O''Brien' */ SELECT 1", want: Hints{Unread: HintKey}},
		{sql: "SELECT '\xbf\\' /* x causeway_key=k*/", mode: Mode{UnsafeCharset: true}, want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*my_causeway_key='k', x.causeway_key='k', x-causeway_key='k', causeway_keys='k'*/"},
		{sql: "SELECT 1 /*causeway_key='k'*/ 'x", want: Hints{Unread: HintKey}},
		{sql: "SELECT 1 /*causeway_class='F2'*/ 'x"},
		{sql: "SELECT '\xbf\\' /*causeway_key='k'*/", mode: Mode{UnsafeCharset: true}, want: Hints{Unread: HintKey}},
		{sql: "SELECT '\xbf' /*causeway_key='k'*/", mode: Mode{UnsafeCharset: true}, want: Hints{Key: "k"}},
		{sql: "SELECT '/*' /*/causeway_key='k'*/", want: Hints{Unread: HintKey}},
		{sql: "SELECT '/*' /*/ causeway_key='k'*/", want: Hints{Key: "k"}},
		{sql: "SELECT '*/ /* */' /*causeway_key='k'*/", want: Hints{Key: "k"}},
		{sql: "SELECT /*! 1 /*causeway_key='k'*/ */", want: Hints{Key: "k"}},
		{sql: "SELECT 1 /*causeway_token=''*/", want: Hints{NoToken: true}},
		{sql: "SELECT 1 /*causeway_class='F2'"},
		{sql: "SELECT 1 /*causeway_class=''*/"},
	} {
		if got := CommentHints([]byte(c.sql), c.mode); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.sql, got, c.want)
		}
	}
}

func TestHintsCostNothing(t *testing.T) {
	sql := []byte("SELECT c_1 FROM sbtest1 /* a comment */ WHERE id_1 = 4711 /*traceparent='00-5b_01'*/")
	if n := testing.AllocsPerRun(100, func() { CommentHints(sql, Mode{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCommentHints(f *testing.F) {
	f.Add("SELECT 1 /*causeway_class='F2'*/", false)
	f.Add(`/*a='\'',causeway_max_staleness='%'*/ SELECT '/*'`, true)
	f.Fuzz(func(t *testing.T, sql string, ansi bool) {
		m := Mode{ANSIQuotes: ansi}
		h := CommentHints([]byte(sql), m)
		if again := CommentHints([]byte(sql), m); h != again {
			t.Errorf("%+v, then %+v", h, again)
		}
		in := CommentHints([]byte("SELECT '"+quoteless(sql)+"'"), m)
		if in != (Hints{}) {
			t.Errorf("a string has the hints %+v", in)
		}
	})
}

// quoteless is a text that no string ends in.
func quoteless(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c == '\'' || c == '\\' {
			out[i] = '"'
		}
	}
	return string(out)
}
