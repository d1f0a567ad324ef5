package causeway

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// application answers POST / with a redirect after a write, GET / with the
// request's tokens, and a few bad habits.
func application(db *sql.DB) http.Handler {
	mux := http.NewServeMux()
	write := func(r *http.Request) {
		if _, err := db.ExecContext(r.Context(), "INSERT 1"); err != nil {
			panic(err)
		}
	}
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
		write(r)
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var ignored any
		if err := db.QueryRowContext(r.Context(), "SELECT 1").Scan(&ignored); err != nil {
			panic(err)
		}
		io.WriteString(w, strings.Join(CarrierFrom(r.Context()).Tokens(), " "))
	})
	mux.HandleFunc("POST /early", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "...")
		write(r)
	})
	mux.HandleFunc("POST /hints", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		write(r)
		w.(http.Flusher).Flush()
		io.Copy(w, strings.NewReader("done"))
	})
	mux.HandleFunc("POST /empty", func(_ http.ResponseWriter, r *http.Request) { write(r) })
	return mux
}

// site is the application, with a browser.
type site struct {
	t       *testing.T
	fake    *fake
	url     string
	browser *http.Client
	log     bytes.Buffer
}

func start(t *testing.T, o Options) *site {
	t.Helper()
	s := &site{t: t, fake: &fake{}}
	o.Logger = slog.New(slog.NewTextHandler(&s.log, nil))
	server := httptest.NewServer(Middleware(application(open(t, s.fake)), o))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.newBrowser()
	return s
}

func (s *site) newBrowser() {
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	s.browser = &http.Client{Jar: jar}
}

func (s *site) do(method, path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, nil)
	must(s.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.browser.Do(req)
	must(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return resp, string(body)
}

func TestPostRedirectGet(t *testing.T) {
	s := start(t, Options{})
	for i := 1; i <= 3; i++ {
		_, body := s.do("POST", "/")
		var want []string
		for n := 1; n <= i; n++ {
			want = append(want, fmt.Sprint(n))
		}
		if body != "g:"+strings.Join(want, ",") {
			t.Errorf("after %d posts the redirect's request had %q", i, body)
		}
	}
	if resp, body := s.do("GET", "/"); body != "g:1,2,3" || len(resp.Header["Set-Cookie"]) != 0 {
		t.Errorf("a read: %q, cookies %q", body, resp.Header["Set-Cookie"])
	}
	s.newBrowser()
	if _, body := s.do("GET", "/"); body != "" {
		t.Errorf("another browser has %q", body)
	}
	if s.log.Len() > 0 {
		t.Error(s.log.String())
	}
}

// TestWhenTheCookieIsSet: with the response, whatever its first word is.
func TestWhenTheCookieIsSet(t *testing.T) {
	for path, set := range map[string]bool{"/hints": true, "/empty": true, "/early": false} {
		s := start(t, Options{})
		resp, _ := s.do("POST", path)
		if got := len(resp.Header["Set-Cookie"]) == 1; got != set {
			t.Errorf("%s: cookies %q", path, resp.Header["Set-Cookie"])
		}
		if late := strings.Contains(s.log.String(), "commit before writing"); late == set {
			t.Errorf("%s: log %q", path, s.log.String())
		}
	}
}

// TestCrossingResponses: two responses of one browser at once do not lose each
// other's token; the next response leaves one cookie.
func TestCrossingResponses(t *testing.T) {
	s := start(t, Options{})
	jar := s.browser.Jar
	a, _ := s.do("POST", "/empty")
	s.newBrowser() // the same browser, whose other request started without the cookie
	b, _ := s.do("POST", "/empty")
	s.browser.Jar = jar
	jar.SetCookies(b.Request.URL, append(a.Cookies(), b.Cookies()...))
	if n := len(jar.Cookies(a.Request.URL)); n != 2 {
		t.Fatalf("%d cookies", n)
	}
	if _, body := s.do("GET", "/"); body != "g:1,2" {
		t.Errorf("the next request had %q", body)
	}
	if n := len(jar.Cookies(a.Request.URL)); n != 1 {
		t.Errorf("%d cookies afterwards", n)
	}
}

// TestManyCookies: of very many the newest count, and a response ends few, so that its
// headers stay small.
func TestManyCookies(t *testing.T) {
	header := ""
	for i := range maxCookies + 9 {
		nv := encode(fmt.Sprintf("g:%03d", i))[0]
		header += nv[0] + "=" + nv[1] + ";"
	}
	s := start(t, Options{})
	resp, body := s.do("GET", "/", "Cookie", header)
	if !strings.HasPrefix(body, "g:009,") || !strings.HasSuffix(body, ",136") || strings.Count(body, ",") != maxCookies-1 {
		t.Errorf("the request had %q", body)
	}
	if n := len(resp.Cookies()); n != 1+maxEnded {
		t.Errorf("%d cookies in the response", n)
	}
}

// TestPanic: what was committed before has its cookie if somebody above answers.
func TestPanic(t *testing.T) {
	f := &fake{}
	db := open(t, f)
	h := Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := db.ExecContext(r.Context(), "INSERT 1")
		must(t, err)
		panic("no page")
	}), Options{})
	w := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	}()
	if got := w.Header()["Set-Cookie"]; len(got) != 1 {
		t.Errorf("cookies %q", got)
	}
}

// TestBadCookies: none reaches the server, and the browser is told to forget them.
func TestBadCookies(t *testing.T) {
	sql := "'; DROP TABLE t"
	good := encode("g:1")[0][1]
	for name, value := range map[string]string{
		"causeway-": good, "causeway-123456789012-1-1": good, "causeway-" + tokenID("g:1") + "-0-1": good, "causeway-" + tokenID("g:1") + "-2-1": good,
		"causeway-" + tokenID("g:1") + "-1-3": good, "causeway-" + tokenID(sql) + "-1-1": encode(sql)[0][1],
	} {
		s := start(t, Options{})
		resp, body := s.do("GET", "/", "Cookie", name+"="+value+";other=1")
		if body != "" {
			t.Errorf("%s: %q", name, body)
		}
		wantLog(t, s.fake, "1: SELECT 1")
		if got := resp.Cookies(); len(got) != 1 || got[0].Name != name || got[0].MaxAge >= 0 {
			t.Errorf("%s: cookies %q", name, resp.Header["Set-Cookie"])
		}
	}
}

func TestRefusedCookie(t *testing.T) {
	s := start(t, Options{})
	s.fake.refuses = "g:forged"
	cookie := encode("g:forged")[0]
	resp, body := s.do("GET", "/", "Cookie", cookie[0]+"="+cookie[1])
	if got := resp.Cookies(); body != "" || len(got) != 1 || got[0].Name != cookie[0] || got[0].MaxAge >= 0 {
		t.Errorf("%q, cookies %q", body, got)
	}
	if n := strings.Count(s.log.String(), "refused"); n != 1 {
		t.Errorf("log: %s", s.log.String())
	}
}

func TestHeader(t *testing.T) {
	s := start(t, Options{Header: "Causeway-Token"})
	s.browser.Jar = nil
	resp, _ := s.do("POST", "/empty")
	token := resp.Header.Get("Causeway-Token")
	if token != "g:1" {
		t.Fatalf("header %q", token)
	}
	if _, body := s.do("GET", "/", "Causeway-Token", token); body != token {
		t.Errorf("handed in %q, got %q", token, body)
	}
}

func TestCookieAttributes(t *testing.T) {
	o := Options{MaxAge: 60e9, Secure: true, Domain: "example.org", Path: "/app"}
	const want = "causeway-x=y; Path=/app; Domain=example.org; Max-Age=60; HttpOnly; Secure; SameSite=Lax"
	if got := o.cookie("causeway-x", "y", 60); got != want {
		t.Errorf("%s, wanted %s", got, want)
	}
}

// TestSizes of tokens: in one cookie, in two, in none.
func TestSizes(t *testing.T) {
	set := strings.Repeat("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-123456789,\n", 200)
	for length, parts := range map[int]int{40: 1, 3000: 1, 4500: 2, 4501: 2, 4502: 2, 9000: 0} {
		token := set[:length]
		cookies := encode(token)
		if len(cookies) != parts {
			t.Errorf("%d bytes: %d cookies", length, len(cookies))
			continue
		}
		var list []*http.Cookie
		for _, nv := range cookies {
			c := http.Cookie{Name: nv[0], Value: nv[1]}
			if err := c.Valid(); err != nil || len(c.String()) > 4000 {
				t.Errorf("%d bytes: a cookie of %d: %v", length, len(c.String()), err)
			}
			if _, err := url.PathUnescape(c.Value); err != nil {
				t.Errorf("%d bytes: a part cannot be decoded by itself: %v", length, err)
			}
			list = append([]*http.Cookie{&c}, list...) // in the other order
		}
		p := parseCookies(list)
		if parts > 0 && (len(p.tokens) != 1 || p.tokens[0] != token || p.broken) {
			t.Errorf("%d bytes do not come back: %v", length, p.broken)
		}
		if parts == 2 {
			if p := parseCookies(list[:1]); len(p.tokens) != 0 || !p.broken {
				t.Error("half a token was taken")
			}
		}
	}
}

// TestFormat holds what the helpers of other languages have in their tests too.
func TestFormat(t *testing.T) {
	if got, want := encode("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"), [2]string{"causeway-fdeb9b50c7a6-1-1", "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"}; len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	token := "a,b\nc+d:e~f/g="
	if got := encode(token); got[0][1] != "a%2Cb%0Ac%2Bd:e~f%2Fg=" {
		t.Errorf("%q", got)
	}
}

func TestTooLong(t *testing.T) {
	var log bytes.Buffer
	o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	c := NewCarrier(strings.Repeat("a", 8000))
	c.changed = true
	o.setToken(http.Header{}, c, nil)
	if !strings.Contains(log.String(), "too long for cookies") {
		t.Errorf("log: %s", log.String())
	}
}
