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
	w.promotion(log, s, old)
	w.gtids(log, s, old)
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
		log.Error().Str("why", s.unclear).
			Msg("no source: no write goes anywhere, nor a read that needs the source, until it is clear or CAUSEWAY SET SOURCE 'host:port' names one")
	case s.source >= 0 && (s.source != old.source || s.nodes[s.source].uuid != old.nodes[s.source].uuid):
		w.unclear = ""
		n := s.nodes[s.source]
		log.Info().Str("node", n.addr).Str("server_uuid", n.uuid).Str("version", n.version).Msg("source found")
	}
}

func (w *news) gtids(log zerolog.Logger, s, old *state) {
	switch {
	case s.gtids == old.gtids:
	case s.gtids == gtidsOff:
		log.Warn().Str("node", s.sourceAddr).
			Msg("the source has no GTIDs (gtid_mode = OFF): for the time of routing.sticky after a commit its scope reads from the source, and that is all that is promised;" +
				" tokens and classes that are bounded, global or monotonic are refused")
	case old.gtids == gtidsOff:
		log.Warn().Str("node", s.sourceAddr).Msg("the source has GTIDs now: reads see their session's writes by token")
	}
}

func (w *news) promotion(log zerolog.Logger, s, old *state) {
	if p := s.promotion; p.seq != old.promotion.seq {
		log.Warn().Str("from", p.from).Str("to", p.to).Uint64("failovers", p.seq).
			Msg("the source is another server now; the old one is fenced until it replicates from the new one")
	}
	if s.record == old.record {
		return
	}
	for _, f := range old.record.Fences {
		if _, still := s.fenceOf(f.UUID); !still {
			log.Info().Str("node", f.Addr).Str("server_uuid", f.UUID).Msg("fence lifted")
		}
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
	tellLimits(log, n, was)
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
	case strings.HasPrefix(n.exclude, joiningPrefix):
		e, msg = log.Info(), "node is joining"
	case !n.up:
		e, msg = log.Error(), "node is down"
	case strings.HasPrefix(n.exclude, rivalPrefix):
		e, msg = log.Error(), "two servers are writable"
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

// tellLimits tells when a replica leaves a lag limit and when it is back.
func tellLimits(log zerolog.Logger, n, was *node) {
	for k, l := range n.limits {
		before, limit := was.limits[k].phase, n.rules.limits[k]
		switch {
		case l.phase == limitExcluded && before != limitExcluded:
			log.Warn().Str("node", n.addr).Str("limit", limit.Name).Str("why", l.why).Msg("replica excluded for its lag")
		case l.phase == limitServing && before == limitExcluded:
			log.Info().Str("node", n.addr).Str("limit", limit.Name).Msg("replica within its lag limit again: serves, slowly at first")
		}
	}
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
