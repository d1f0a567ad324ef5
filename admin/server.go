package admin

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"causeway/backend"
)

// Status is the front end's state at one moment.
type Status struct {
	Listening bool // MySQL clients are accepted
	Draining  bool // a shutdown is under way: no new clients
}

// Options say where a Server finds what it shows. All but Version are needed.
type Options struct {
	View    func() *backend.View // may return nil: nothing known yet
	Status  func() Status
	Metrics prometheus.Gatherer
	Log     zerolog.Logger
	Version string
}

// Server answers HTTP requests about this process.
type Server struct {
	opts Options
	http http.Server
}

// The limits of one HTTP connection. Metrics are small and everything else is
// tiny, so a client that needs longer is stuck or not a friend.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = 90 * time.Second // above the usual scrape interval
	shutdownTimeout = 5 * time.Second
	maxHeader       = 16 << 10
	maxScrapes      = 8 // at once
)

// New returns a Server that is not yet serving.
func New(opts Options) *Server {
	s := &Server{opts: opts}
	s.http = http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(logWriter{opts.Log}, "", 0),
	}
	return s
}

// Handler returns the routes, for a test or for another server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.opts.Metrics, promhttp.HandlerOpts{
		ErrorLog:            log.New(logWriter{s.opts.Log}, "", 0),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	}))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /{$}", s.index)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// Serve answers on ln until ctx ends, then lets running requests finish for a
// few seconds. It closes ln. The error is nil after a shutdown by ctx.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		err := s.http.Shutdown(limit)
		if err != nil { // someone is still reading: cut
			err = s.http.Close()
		}
		stopped <- err
	})
	err := s.http.Serve(ln)
	if !stop() { // Shutdown has begun: it ends with the last request
		return <-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// logWriter takes the HTTP library's own lines. They are about clients that
// misbehave, so they are no more than debug messages.
type logWriter struct{ log zerolog.Logger }

func (w logWriter) Write(line []byte) (int, error) {
	w.log.Debug().Str("component", "http").Msg(trimmed(line))
	return len(line), nil
}

func trimmed(line []byte) string {
	for len(line) > 0 && line[len(line)-1] == '\n' {
		line = line[:len(line)-1]
	}
	return string(line)
}
