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
	// set hands a token in. refused: Causeway takes this token never.
	set(ctx context.Context, token string) (refused bool, err error)
	// get reads the session's token, "" if there is none.
	get(ctx context.Context) (string, error)
}

// handIn makes the session of a connection need the carrier's token. holds is
// the token that this session got last, and the result is what it has now.
func (c *Carrier) handIn(ctx context.Context, s session, holds string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handInLocked(ctx, s, holds)
}

func (c *Carrier) handInLocked(ctx context.Context, s session, holds string) (string, error) {
	if len(c.tokens) == 0 || len(c.tokens) == 1 && c.tokens[0] == holds {
		return holds, nil
	}
	taken := make([]string, 0, len(c.tokens))
	for _, t := range c.tokens {
		refused, err := s.set(ctx, t)
		switch {
		case err == nil:
			taken = append(taken, t)
		case !refused:
			return "", err
		default:
			c.logger.WarnContext(ctx, "causeway refused a token; the request goes on without it", "error", err)
			c.changed = true
		}
	}
	c.tokens = taken
	switch len(taken) {
	case 0:
		return holds, nil
	case 1:
		return taken[0], nil
	}
	return c.learnLocked(ctx, s)
}

// learn takes the session's token after a commit. Another connection of the same
// request may have committed meanwhile: its token is handed in first, so that
// the answer covers both.
func (c *Carrier) learn(ctx context.Context, s session, holds string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.handInLocked(ctx, s, holds); err != nil {
		return "", err
	}
	return c.learnLocked(ctx, s)
}

func (c *Carrier) learnLocked(ctx context.Context, s session) (string, error) {
	token, err := s.get(ctx)
	if err != nil || !plausible(token) {
		return "", err
	}
	if len(c.tokens) != 1 || c.tokens[0] != token {
		c.tokens, c.changed = []string{token}, true
	}
	return token, nil
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
