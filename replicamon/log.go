package replicamon

import (
	"strings"

	"github.com/rs/zerolog"

	"causeway/backend"
)

// news tells each change once, in words for an operator.
type news struct {
	unclear string // the last complaint about the source
}

func (w *news) tell(log zerolog.Logger, s, old *state) {
	w.source(log, s, old)
	if s.epoch != old.epoch {
		log.Error().Str("node", s.sourceAddr).Uint64("epoch", s.epoch).
			Msg("the source lost transactions that it had executed (reset or restored): all tokens are void")
	}
	for i, n := range s.nodes {
		if was := old.nodes[i]; n != was {
			tellNode(log, n, was)
		}
	}
}

func (w *news) source(log zerolog.Logger, s, old *state) {
	switch {
	case s.source < 0 && s.unclear != w.unclear && !s.pending():
		w.unclear = s.unclear
		log.Error().Str("why", s.unclear).Msg("no source: writes and reads that need the source cannot be served")
	case s.source >= 0 && (s.source != old.source || s.nodes[s.source].uuid != old.nodes[s.source].uuid):
		w.unclear = ""
		n := s.nodes[s.source]
		log.Info().Str("node", n.addr).Str("server_uuid", n.uuid).Str("version", n.version).Msg("source found")
	}
}

func tellNode(log zerolog.Logger, n, was *node) {
	if n.gen != was.gen && was.gen != 0 {
		log.Warn().Str("node", n.addr).Str("server_uuid", n.uuid).Str("before", was.uuid).
			Uint64("generation", n.gen).Time("started", n.start).
			Msg("node begins a new life (restarted, replaced or reset): all that was known of it is void")
	}
	if !n.errant.Equal(was.errant) && !n.errant.IsEmpty() {
		log.Warn().Str("node", n.addr).Str("gtids", clip(n.errant.Line(), 500)).
			Msg("replica holds errant transactions, which the source does not have")
	}
	if n.status != nil && n.status.denied != "" && (was.status == nil || was.status.denied == "") {
		log.Warn().Str("node", n.addr).Str("why", n.status.denied).
			Msg("lag cannot be explained: the monitor's account needs SELECT on performance_schema.*")
	}
	if writableReplica(n) && !writableReplica(was) {
		log.Warn().Str("node", n.addr).Msg("replica is writable: set read_only (better super_read_only) on it")
	}
	tellLag(log, n, was)
	if n.exclude == was.exclude && n.role == was.role {
		return
	}
	e, msg := log.Warn(), "node excluded"
	switch {
	case n.exclude == "" && n.role == backend.RoleReplica:
		e, msg = log.Info(), "replica serves"
	case n.exclude == "":
		e, msg = log.Info(), "node serves"
	case strings.HasPrefix(n.exclude, "joining: its role"), strings.HasPrefix(n.exclude, "joining: not all"):
		e, msg = log.Debug(), "node is joining" // over with the next probe
	case strings.HasPrefix(n.exclude, "joining"):
		e, msg = log.Info(), "node is joining"
	case !n.up:
		e, msg = log.Error(), "node is down"
	}
	e = e.Str("node", n.addr).Stringer("role", n.role)
	if n.exclude != "" {
		e = e.Str("why", n.exclude)
	}
	e.Msg(msg)
}

// tellLag tells when replication threads stop, fail or come back.
func tellLag(log zerolog.Logger, n, was *node) {
	if n.status == nil || n.status == was.status || !n.status.isReplica() {
		return
	}
	io, sql := n.status.threads()
	text := n.status.lastError()
	running := io == "Yes" && sql == "Yes"
	if was.status == nil || !was.status.isReplica() {
		if !running {
			log.Warn().Str("node", n.addr).Str("io", io).Str("sql", sql).Str("error", text).Msg("replication is not running")
		}
		return
	}
	wasIO, wasSQL := was.status.threads()
	if io == wasIO && sql == wasSQL && errorKey(text) == errorKey(was.status.lastError()) {
		return
	}
	if running && text == "" {
		log.Info().Str("node", n.addr).Msg("replication runs")
		return
	}
	log.Warn().Str("node", n.addr).Str("io", io).Str("sql", sql).Str("error", text).Msg("replication is not running")
}

func writableReplica(n *node) bool {
	return n.role == backend.RoleReplica && n.status != nil && !n.status.readOnly
}

// errorKey is who fails with which number: the rest of the text counts the
// attempts, and would be news each second.
func errorKey(text string) string {
	parts := strings.SplitN(text, ":", 3)
	return strings.Join(parts[:min(2, len(parts))], ":")
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}
