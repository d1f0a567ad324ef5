package server

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"causeway/balance"
)

// targetLabel says in metrics who answered.
type targetLabel uint8

const (
	sourceTarget targetLabel = iota
	replicaTarget
	localTarget
	targetCount = iota
)

var targetNames = [targetCount]string{sourceTarget: "source", replicaTarget: "replica", localTarget: "local"}

// metrics holds the server's counters. Those of the data path are resolved to
// their labels once, so that counting is one atomic addition.
type metrics struct {
	queries [targetCount][reasonCount]prometheus.Counter
	seconds [targetCount]prometheus.Observer
	clients atomic.Int64

	accepted     prometheus.Counter
	rejected     *prometheus.CounterVec
	panics       prometheus.Counter
	abandoned    prometheus.Counter
	waits        *prometheus.CounterVec
	resends      *prometheus.CounterVec
	doubts       *prometheus.CounterVec
	hidden       prometheus.Counter
	unstuck      prometheus.Counter
	untracked    prometheus.Counter
	emptyTokens  prometheus.Counter
	tokens       [tokenOutcomes]prometheus.Counter
	lostTokens   prometheus.Counter
	lostWrites   prometheus.Counter
	stale        *prometheus.CounterVec
	ignoredHints prometheus.Counter
	timeouts     prometheus.Counter
	audited      prometheus.Counter
	violations   prometheus.Counter
	replays      prometheus.Counter
	dialErrors   *prometheus.CounterVec

	shared struct{ reads, writes *prometheus.CounterVec }

	vec *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, s *Server) *metrics {
	f := factory{reg}
	m := &metrics{
		accepted:     f.counter("client_connections_accepted_total", "Connections that clients opened."),
		rejected:     f.counters("client_connections_rejected_total", "Connections refused, by reason.", "reason"),
		panics:       f.counter("session_panics_total", "Sessions ended by a fault in Causeway; each is in the log."),
		abandoned:    f.counter("abandoned_reads_total", "Plain reads killed because their client had gone."),
		waits:        f.counters("waits_total", "Waits for a replica to cover a token, by outcome.", "outcome"),
		resends:      f.counters("resends_total", "Plain reads sent once more, by why the replica could not answer.", "reason"),
		doubts:       f.counters("doubts_total", "Writes whose answer was lost, and what became of the doubt.", "state"),
		hidden:       f.counter("hidden_commit_probes_total", "Positions asked for after an error that may hide a commit."),
		unstuck:      f.counter("sticky_refused_total", "Reads within a window after a commit that the fallback budget kept from the source: they went by their token."),
		untracked:    f.counter("untracked_writes_total", "Writes that brought no GTID; their sessions read from the source."),
		emptyTokens:  f.counter("empty_token_reads_total", "Reads of sessions that have no token of their own."),
		lostTokens:   f.counter("lost_tokens_total", "Tokens void because the source lost transactions."),
		lostWrites:   f.counter("lost_writes_total", "Acknowledged transactions that the source does not have after a change of the source."),
		stale:        f.counters("stale_reads_total", "Reads served by a replica beyond their bound, with a warning, by class.", "class"),
		timeouts:     f.counter("read_timeouts_total", "Reads killed because they ran longer than their class or rule allows."),
		audited:      f.counter("audited_reads_total", "Reads of sessions with writes whose replica was asked before what it had executed ([routing] audit_sample)."),
		violations:   f.counter("read_your_writes_violation_count", "Audited reads whose replica lacked writes of the session. Any is a fault of Causeway."),
		ignoredHints: f.counter("ignored_hints_total", "Reads whose comment, attribute or variable names a class that does not exist, or no time."),
		replays:      f.counter("state_replays_total", "Statements before which a connection was brought into the session's state."),
		dialErrors:   f.counters("backend_connect_errors_total", "Connections to a node that failed.", "node"),
		vec:          f.counters("queries_total", "Statements by who answered and why there.", "target", "reason"),
	}
	handed := f.counters("tokens_total", "Tokens that were handed in, by what became of them.", "outcome")
	for o := range tokenOutcomes {
		m.tokens[o] = handed.WithLabelValues(tokenOutcome(o).String())
	}
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "causeway", Name: "query_seconds",
		Help:    "Time from a statement's arrival to the end of its answer, in seconds, by who answered.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"target"})
	reg.MustRegister(seconds)
	for t := range targetCount {
		m.seconds[t] = seconds.WithLabelValues(targetNames[t])
		for r := range reasonCount {
			m.queries[t][r] = m.vec.WithLabelValues(targetNames[t], reason(r).String())
		}
	}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "client_connections", Help: "Clients connected now.",
	}, func() float64 { return float64(m.clients.Load()) }))
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "writes_waiting", Help: "Statements that wait because writes are paused.",
	}, func() float64 { return float64(s.waitingWrites.Load()) }))
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "keys", Help: "Keys (causeway_key) that are remembered.",
	}, func() float64 { return float64(s.scopes.keys.Len()) }))
	m.ofShared(f, s)
	registerBudget(reg, s.opts.Budget)
	m.ofClasses(f, s)
	reg.MustRegister(poolMetrics{s})
	return m
}

func registerBudget(reg prometheus.Registerer, b *balance.Budget) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "fallback_budget_qps", Help: "Reads a second that the source may take over from replicas.",
	}, func() float64 { qps, _ := b.Rate(); return qps }))
}

func (m *metrics) count(t targetLabel, r reason) { m.queries[t][r].Inc() }

// factory makes metrics in Causeway's namespace.
type factory struct{ reg prometheus.Registerer }

func (f factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "causeway", Name: name, Help: help})
	f.reg.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "causeway", Name: name, Help: help}, labels)
	f.reg.MustRegister(c)
	return c
}

// rows are the counters of SHOW CAUSEWAY STATUS: one a target and reason that
// has happened.
func (m *metrics) rows() [][]string {
	var out [][]string
	for t := range targetCount {
		for r := range reasonCount {
			if n := valueOf(m.queries[t][r]); n > 0 {
				out = append(out, []string{"Queries " + targetNames[t] + " " + reason(r).String(), formatCount(n)})
			}
		}
	}
	for _, c := range []struct {
		name string
		c    prometheus.Counter
	}{
		{"Ignored_hints", m.ignoredHints}, {"Untracked_writes", m.untracked}, {"Sticky_refused", m.unstuck}, {"Empty_token_reads", m.emptyTokens},
		{"Lost_tokens", m.lostTokens}, {"Hidden_commit_probes", m.hidden}, {"State_replays", m.replays},
	} {
		out = append(out, []string{c.name, formatCount(valueOf(c.c))})
	}
	return out
}

func valueOf(c prometheus.Counter) float64 {
	var m dto.Metric
	if c.Write(&m) != nil {
		return 0
	}
	return m.GetCounter().GetValue()
}

func formatCount(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
