package causeway

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Carrier holds the token of one unit of work, which is mostly an HTTP request:
// what its reads must see. It grows with what the work commits.
type Carrier struct {
	logger *slog.Logger

	mu      sync.Mutex
	tokens  []string // several until the first connection has merged them
	changed bool     // since the carrier was made
}

// NewCarrier makes a carrier that holds the tokens. Those that cannot be one
// are left out. It serves what is no HTTP request: a job takes the token of the
// request that queued it.
func NewCarrier(tokens ...string) *Carrier {
	c := &Carrier{logger: slog.Default()}
	for _, t := range tokens {
		if plausible(t) && !slices.Contains(c.tokens, t) {
			c.tokens = append(c.tokens, t)
		} else if t != "" {
			c.changed = true // what it came from must not keep it
		}
	}
	return c
}

// Tokens are what reads must see, mostly one. They are opaque.
func (c *Carrier) Tokens() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tokens)
}

// Changed tells whether the tokens are others than the carrier was made with:
// only then they have to be stored.
func (c *Carrier) Changed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

type carrierKey struct{}

// WithCarrier returns a context whose statements use the carrier.
func WithCarrier(ctx context.Context, c *Carrier) context.Context {
	return context.WithValue(ctx, carrierKey{}, c)
}

// CarrierFrom returns the context's carrier, nil if it has none.
func CarrierFrom(ctx context.Context) *Carrier {
	c, _ := ctx.Value(carrierKey{}).(*Carrier)
	return c
}

// session is one connection's conversation with Causeway.
type session interface {
	// holds is the token that the session has surely got, "" if none is known.
	holds() string
	// set hands tokens in by one statement: with scope = "carried" a second one would
	// make the session forget the first. refused: Causeway will never take one of
	// them, and nothing has changed.
	set(ctx context.Context, tokens []string) (refused bool, err error)
	// get reads the session's token, "" if there is none.
	get(ctx context.Context) (string, error)
}

// handIn makes the session of a connection need the carrier's tokens. If they are
// several one takes their place.
func (c *Carrier) handIn(ctx context.Context, s session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handInLocked(ctx, s)
}

func (c *Carrier) handInLocked(ctx context.Context, s session) error {
	if len(c.tokens) == 0 || len(c.tokens) == 1 && c.tokens[0] == s.holds() {
		return nil
	}
	if err := c.setAll(ctx, s); err != nil || len(c.tokens) < 2 {
		return err
	}
	token, err := s.get(ctx)
	if err == nil && plausible(token) {
		c.tokens, c.changed = []string{token}, true
	}
	return err
}

// setAll hands all tokens in, and drops those that Causeway refuses.
func (c *Carrier) setAll(ctx context.Context, s session) error {
	refused, err := s.set(ctx, c.tokens)
	if !refused {
		return err
	}
	var taken []string
	if len(c.tokens) > 1 {
		for _, t := range c.tokens { // each beside those that were taken
			refused, err := s.set(ctx, append(taken, t))
			switch {
			case err == nil:
				taken = append(taken, t)
			case !refused:
				return err
			}
		}
	}
	c.logger.WarnContext(ctx, "causeway refused a token; the request goes on without it", "error", err)
	c.tokens, c.changed = taken, true
	return nil
}

// learn takes the session's token after a commit. It is read before another's is
// handed in, for which the session may forget it. Another connection of the same
// request may have committed meanwhile: then one token for both takes their place.
func (c *Carrier) learn(ctx context.Context, s session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := s.holds()
	token, err := s.get(ctx)
	if err != nil || !plausible(token) {
		return err
	}
	tokens := slices.DeleteFunc(slices.Clone(c.tokens), func(t string) bool { return t == before || t == token }) // it covers both
	tokens = append(tokens, token)
	c.changed = c.changed || !slices.Equal(tokens, c.tokens)
	c.tokens = tokens
	_ = c.handInLocked(ctx, s) // those that cannot be merged now stay several
	return nil
}

// maxToken is far above what Causeway makes: it bounds its tokens.
const maxToken = 16 << 10

// plausible tells whether a text can be a token: a GTID set or signed text. It
// lets nothing through that would end a literal in SQL, as cookies come from anybody.
func plausible(token string) bool {
	if token == "" || len(token) > maxToken {
		return false
	}
	for _, b := range []byte(token) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		case b == ':', b == '-', b == ',', b == '_', b == '.', b == '=', b == '+', b == '/', b == '~', b == ' ', b == '\n':
		default:
			return false
		}
	}
	return true
}
