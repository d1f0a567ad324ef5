package causeway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
)

// writer sets the token at the last moment before the headers go out.
type writer struct {
	http.ResponseWriter
	options *Options
	carrier *Carrier
	names   []string // the cookies that the request brought
	sent    bool
	with    []string // the tokens at that moment
}

func (w *writer) send() {
	if !w.sent {
		w.sent, w.with = true, w.carrier.Tokens()
		w.options.setToken(w.Header(), w.carrier, w.names)
	}
}

// WriteHeader is http.ResponseWriter's. Informational responses (1xx) are not
// the answer yet; 101 is, as the connection is no longer HTTP's.
func (w *writer) WriteHeader(code int) {
	if code >= 200 || code == http.StatusSwitchingProtocols {
		w.send()
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write is http.ResponseWriter's.
func (w *writer) Write(p []byte) (int, error) {
	w.send()
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the server's short way for files.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	w.send()
	return io.Copy(w.ResponseWriter, r)
}

// Flush is http.Flusher's.
func (w *writer) Flush() {
	w.send()
	// A server that cannot flush has nothing to be told: Flush has no result.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack is http.Hijacker's. Who takes the connection writes the answer himself.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap lets http.ResponseController find what the server's writer can do.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish is called when the handler is done.
func (w *writer) finish(r *http.Request) {
	if w.sent && !slices.Equal(w.with, w.carrier.Tokens()) {
		w.options.Logger.WarnContext(r.Context(), "a commit after the start of the response: its causeway token cannot reach the browser; commit before writing", "path", r.URL.Path)
	}
	w.send()
}
