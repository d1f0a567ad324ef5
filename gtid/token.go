package gtid

// Token is what a read must see: a set of GTIDs, and the epoch of the source's
// history in which they were learned. When the source's set shrinks (RESET
// BINARY LOGS AND GTIDS, a failover that lost writes) a new epoch begins and the
// same GTIDs may come to name other transactions, so a token of an older epoch
// is void: it is never compared with a position again. The zero Token needs
// nothing. It is a value; methods return a new one.
type Token struct {
	Set   Set
	Epoch uint64
}

// Void tells whether t names GTIDs of another epoch than the present one: the
// writes behind them may be lost and t must not be matched. An empty token is
// never void, as it names nothing.
func (t Token) Void(epoch uint64) bool { return !t.Set.IsEmpty() && t.Epoch != epoch }

// Add returns t grown by the GTIDs of s, learned in the given epoch. lost is
// true if GTIDs had to be forgotten because the two are of different epochs:
// those of t when it is the older, those of s when they come late. The caller
// counts that and tells the session (on_lost_write); it is never silent.
func (t Token) Add(s Set, epoch uint64) (grown Token, lost bool) {
	switch {
	case epoch == t.Epoch:
		return Token{t.Set.Union(s), epoch}, false
	case epoch < t.Epoch:
		return t, !s.IsEmpty()
	}
	return Token{s, epoch}, !t.Set.IsEmpty()
}
