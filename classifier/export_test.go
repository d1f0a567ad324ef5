package classifier

// TokensAlone is the kind that a text has by its tokens, and ParserToo the
// kind after the second opinion, for tests of their own.
func TokensAlone(sql []byte, m Mode) Kind { k, _ := opinions(sql, m); return k }

// ParserToo is the kind after the second opinion.
func ParserToo(sql []byte, m Mode) Kind { _, k := opinions(sql, m); return k }

func opinions(sql []byte, m Mode) (alone, both Kind) {
	c := New(Options{CacheEntries: 1})
	n := &normaliser{}
	n.run(sql, m, m.key(), false)
	v, count := c.judgeText(string(n.out[1:]), n, m)
	alone = v.kind
	if v.kind == Read {
		c.secondOpinion(&v, count, sql, m, n.deep)
	}
	return alone, v.kind
}
