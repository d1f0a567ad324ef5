package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
)

// browser keeps cookies and follows redirects itself, to the next server.
type browser struct {
	site *site
	next int
	http *http.Client
}

// answer is what the browser shows.
type answer struct {
	status  int
	body    string
	cookies []string // Set-Cookie
	to      string   // Location's path
}

// newBrowser starts at one of the servers.
func (s *site) newBrowser(first int) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &browser{site: s, next: first, http: &http.Client{Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends one request to the next server; a form makes it a POST.
func (b *browser) do(ctx context.Context, path string, form url.Values) (answer, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	base := b.site.urls[b.next%len(b.site.urls)]
	b.next++
	req, err := http.NewRequestWithContext(ctx, method, base+path, body)
	if err != nil {
		return answer{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	a := answer{status: resp.StatusCode, body: string(text), cookies: resp.Header["Set-Cookie"]}
	if to, err := resp.Location(); err == nil {
		a.to = to.RequestURI()
	}
	return a, err
}

// tokens are the cookies that the browser holds for the site.
func (b *browser) tokens(t *testing.T) []*http.Cookie {
	t.Helper()
	u, err := url.Parse(b.site.urls[0])
	check.Must(t, err)
	return b.http.Jar.Cookies(u)
}

// take gives a browser the cookies of another one: they are two tabs of the same.
func (b *browser) take(t *testing.T, other *browser) {
	t.Helper()
	u, err := url.Parse(b.site.urls[0])
	check.Must(t, err)
	for _, c := range other.tokens(t) {
		c.Path = "/"
		b.http.Jar.SetCookies(u, []*http.Cookie{c})
	}
}

// post writes a comment; the answer is a redirect.
func (b *browser) post(ctx context.Context, text, how string) (answer, error) {
	a, err := b.do(ctx, "/comments", url.Values{"text": {text}, "how": {how}})
	if err == nil && (a.status/100 != 3 || a.to == "") {
		err = fmt.Errorf("POST: status %d: %s", a.status, a.body)
	}
	return a, err
}

// round posts a comment, goes where it is sent, and tells whether it is there.
func (b *browser) round(ctx context.Context, text, how string) (there bool, err error) {
	a, err := b.post(ctx, text, how)
	if err != nil {
		return false, err
	}
	if a, err = b.do(ctx, a.to, nil); err != nil {
		return false, err
	}
	switch {
	case a.status == http.StatusNotFound:
		return false, nil
	case a.status != http.StatusOK || !strings.Contains(a.body, "<p>"+text+"</p>"):
		return false, fmt.Errorf("GET: status %d: %s", a.status, a.body)
	}
	return true, nil
}
