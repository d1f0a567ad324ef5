package causeway

import (
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// Options are what Middleware can be told. The zero value is right for most.
type Options struct {
	// Header names a header that carries the token too, for clients without
	// cookies ("Causeway-Token"): taken from requests, set on responses whose
	// request committed. "": none.
	Header string
	// MaxAge is how long browsers keep the token, a day if 0. It need not outlive
	// the replicas' lag.
	MaxAge time.Duration
	// Secure makes browsers send the cookie over HTTPS only.
	Secure bool
	// Domain and Path are the cookie's; Path is "/" if empty.
	Domain, Path string
	// Logger gets the few things that can go wrong; slog.Default() if nil.
	Logger *slog.Logger
}

// Middleware gives each request a Carrier with the tokens that it brought, and
// its response the token of what it committed.
//
// The token must be known before the response's headers are written, so commit
// first and then write, as a redirect after a POST does by itself.
func Middleware(next http.Handler, o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.MaxAge == 0 {
		o.MaxAge = 24 * time.Hour
	}
	if o.Path == "" {
		o.Path = "/"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in := parseCookies(r.Cookies())
		if o.Header != "" {
			in.tokens = append(in.tokens, r.Header.Values(o.Header)...)
		}
		c := NewCarrier(in.tokens...)
		c.logger, c.changed = o.Logger, c.changed || in.broken
		cw := &writer{ResponseWriter: w, options: &o, carrier: c, names: in.names}
		defer cw.finish(r) // after a panic too: somebody above may answer in the handler's place
		next.ServeHTTP(cw, r.WithContext(WithCarrier(r.Context(), c)))
	})
}

// setToken puts the carrier's token on a response, and ends the cookies that it
// replaces.
func (o *Options) setToken(h http.Header, c *Carrier, names []string) {
	if !c.Changed() {
		return
	}
	kept := map[string]bool{}
	for _, token := range c.Tokens() {
		if o.Header != "" {
			h.Add(o.Header, token)
		}
		cookies := encode(token)
		if cookies == nil {
			o.Logger.Error("a causeway token is too long for cookies; the user's next page may not show this write", "bytes", len(token))
		}
		for _, nv := range cookies {
			kept[nv[0]] = true
			h.Add("Set-Cookie", o.cookie(nv[0], nv[1], int(o.MaxAge.Seconds())))
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return kept[name] })
	for _, name := range names[:min(len(names), maxEnded)] {
		h.Add("Set-Cookie", o.cookie(name, "", -1))
	}
}

func (o *Options) cookie(name, value string, maxAge int) string {
	c := http.Cookie{Name: name, Value: value, Path: o.Path, Domain: o.Domain, MaxAge: maxAge, Secure: o.Secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode}
	return c.String()
}
