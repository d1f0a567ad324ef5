package admin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"causeway/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer returns a Server with one counter, causeway_test_total, at 3.
func newServer(v *backend.View, status Status) *Server {
	reg := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "causeway_test_total", Help: "A test."})
	counter.Add(3)
	reg.MustRegister(counter)
	return New(Options{
		View:    func() *backend.View { return v },
		Status:  func() Status { return status },
		Metrics: reg,
		Log:     zerolog.Nop(),
		Version: "v1<2",
	})
}

func get(t *testing.T, s *Server, path string) *httptest.ResponseRecorder {
	t.Helper()
	return do(t, s, http.MethodGet, path)
}

func do(t *testing.T, s *Server, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec
}

func TestRoutes(t *testing.T) {
	s := newServer(view(node("s:1", backend.RoleSource, true, ""), node("r:<1>", backend.RoleReplica, true, "joining")), Status{Listening: true})
	cases := []struct {
		method, path string
		code         int
		contentType  string
		body         []string
	}{
		{"GET", "/metrics", 200, "text/plain", []string{"# HELP causeway_test_total A test.", "causeway_test_total 3"}},
		{"GET", "/healthz", 200, "text/plain", []string{"ok"}},
		{"HEAD", "/healthz", 200, "text/plain", nil},
		{"GET", "/readyz", 200, "application/json", []string{`"ready": true`, `"reasons": []`}},
		{"GET", "/", 200, "text/html", []string{"Causeway v1&lt;2", "r:&lt;1&gt;", "joining", "/metrics", "Ready."}},
		{"GET", "/nothing", 404, "text/plain", nil},
		{"POST", "/", 405, "text/plain", nil},
		{"POST", "/metrics", 405, "text/plain", nil},
		{"PUT", "/readyz", 405, "text/plain", nil},
		{"DELETE", "/healthz", 405, "text/plain", nil},
	}
	for _, c := range cases {
		t.Run(c.method+c.path, func(t *testing.T) {
			rec := do(t, s, c.method, c.path)
			if rec.Code != c.code {
				t.Errorf("code %d, want %d", rec.Code, c.code)
			}
			if got := rec.Header().Get("Content-Type"); !strings.HasPrefix(got, c.contentType) {
				t.Errorf("content type %q, want %q", got, c.contentType)
			}
			if rec.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no nosniff header")
			}
			for _, piece := range c.body {
				if !strings.Contains(rec.Body.String(), piece) {
					t.Errorf("no %q in %s", piece, rec.Body)
				}
			}
		})
	}
}

func TestIndexWhenNotReady(t *testing.T) {
	body := get(t, newServer(nil, Status{}), "/").Body.String()
	for _, piece := range []string{"Not ready:", "the MySQL port is not open", "neither a source nor a usable replica"} {
		if !strings.Contains(body, piece) {
			t.Errorf("no %q in %s", piece, body)
		}
	}
}

// TestMetricsGoOnAfterAnError has one collector that fails: the others are shown.
func TestMetricsGoOnAfterAnError(t *testing.T) {
	reg := prometheus.NewRegistry()
	good := prometheus.NewGauge(prometheus.GaugeOpts{Name: "causeway_good", Help: "Good."})
	reg.MustRegister(good, failing{})
	s := New(Options{View: func() *backend.View { return nil }, Status: func() Status { return Status{} }, Metrics: reg, Log: zerolog.Nop()})
	rec := get(t, s, "/metrics")
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "causeway_good 0") {
		t.Errorf("code %d: %s", rec.Code, rec.Body)
	}
}

type failing struct{}

var failingDesc = prometheus.NewDesc("causeway_bad", "Bad.", nil, nil)

func (failing) Describe(ch chan<- *prometheus.Desc) { ch <- failingDesc }
func (failing) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(failingDesc, fmt.Errorf("no value"))
}

// serve starts s on a free port and returns its URL and how to wait for its end.
func serve(t *testing.T, s *Server) (url string, stop context.CancelFunc, done <-chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	t.Cleanup(cancel)
	return "http://" + ln.Addr().String(), cancel, ended
}

func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestServeAndStop(t *testing.T) {
	url, stop, done := serve(t, newServer(view(node("s:1", backend.RoleSource, true, "")), Status{Listening: true}))
	c := client(t)
	resp, err := c.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("code %d: %s", resp.StatusCode, body)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if resp, err := c.Get(url + "/healthz"); err == nil {
		resp.Body.Close()
		t.Error("still answers after the stop")
	}
}

// TestStopLetsARequestFinish stops the server in the middle of an answer.
func TestStopLetsARequestFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newServer(nil, Status{})
	s.opts.View = func() *backend.View {
		close(entered)
		<-release
		return view(node("s:1", backend.RoleSource, true, ""))
	}
	s.opts.Status = func() Status { return Status{Listening: true} }
	url, stop, done := serve(t, s)
	c := client(t)
	code := make(chan int, 1)
	go func() {
		resp, err := c.Get(url + "/readyz")
		if err != nil {
			code <- 0
			return
		}
		resp.Body.Close()
		code <- resp.StatusCode
	}()
	<-entered
	stop()
	select {
	case err := <-done:
		t.Fatalf("Serve returned during a request: %v", err)
	default:
	}
	close(release)
	if got := <-code; got != 200 {
		t.Errorf("code %d", got)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeTellsWhyItEnded(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := newServer(nil, Status{}).Serve(context.Background(), ln); err == nil {
		t.Error("no error on a closed listener")
	}
}

func TestGarbageIsRefused(t *testing.T) {
	url, stop, done := serve(t, newServer(nil, Status{}))
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Write([]byte("\x00\x01\x02 garbage\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(nc)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("answer %q", answer)
	}
	stop()
	<-done
}

func TestTimeoutsAreSet(t *testing.T) {
	h := &newServer(nil, Status{}).http
	if h.ReadHeaderTimeout == 0 || h.ReadTimeout == 0 || h.WriteTimeout == 0 || h.IdleTimeout == 0 || h.MaxHeaderBytes == 0 {
		t.Errorf("a timeout is missing: %+v", h)
	}
}
