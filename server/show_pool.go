package server

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/backend"
)

var (
	pinColumns  = textColumns("Connection", "User", "Host", "Pin", "Since", "Node", "Statement")
	poolColumns = textColumns("Server", "Max", "Open", "Idle", "In_use", "Waiting")
)

// pinRows lists the sessions that keep a connection between statements.
func (s *session) pinRows() [][]string {
	var rows [][]string
	now := time.Now()
	s.srv.eachSession(func(x *session) {
		p := x.pinned.Load()
		if p == nil {
			return
		}
		login := s.srv.loginOf(x)
		rows = append(rows, []string{
			strconv.FormatUint(uint64(x.id), 10), login.User, login.Host, p.pin.String(), age(p.since, now), p.node, p.digest,
		})
	})
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return rows
}

func (s *session) poolRows() [][]string {
	var rows [][]string
	for _, p := range s.srv.poolStats() {
		rows = append(rows, []string{
			p.Addr, strconv.Itoa(s.srv.opts.Pool.Max), strconv.Itoa(p.Open), strconv.Itoa(p.Idle),
			strconv.Itoa(p.Open - p.Idle), strconv.Itoa(p.Waiting),
		})
	}
	return rows
}

func (s *Server) poolStats() []backend.PoolStats {
	all := s.pools.Stats()
	slices.SortFunc(all, func(a, b backend.PoolStats) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}

// poolMetrics collects the pools' numbers when they are asked for.
type poolMetrics struct{ s *Server }

var (
	backendsDesc   = poolDesc("backend_connections", "Open connections to a node, by whether one is in use.", "node", "state")
	waitingDesc    = poolDesc("pool_waiting", "Statements that wait for a connection to a node.", "node")
	openedDesc     = poolDesc("pool_opened_total", "Connections opened.")
	waitedDesc     = poolDesc("pool_waits_total", "Statements that had to wait for a connection.")
	timedOutDesc   = poolDesc("pool_timeouts_total", "Statements for which no connection came free in time.")
	refusedDesc    = poolDesc("pool_refused_total", "Statements refused because too many waited already.")
	resetsDesc     = poolDesc("pool_resets_total", "Connections brought back into the state of new ones by COM_RESET_CONNECTION.")
	capturesDesc   = poolDesc("pool_captures_total", "Times that a last insert id or warnings were read before a connection went to another session.")
	pinsDesc       = poolDesc("pinned_sessions", "Sessions that keep a connection between statements, by reason.", "reason")
	statementsDesc = poolDesc("prepared_statements", "Different prepared statements that sessions share.")
)

func poolDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("causeway_"+name, help, labels, nil)
}

// Describe tells nothing beforehand: the reasons of pins are not known.
func (m poolMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m poolMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	counter := func(d *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	for _, p := range m.s.pools.Stats() {
		gauge(backendsDesc, p.Open-p.Idle, p.Addr, "in_use")
		gauge(backendsDesc, p.Idle, p.Addr, "idle")
		gauge(waitingDesc, p.Waiting, p.Addr)
	}
	p := m.s.pools
	counter(openedDesc, p.Opened.Load())
	counter(waitedDesc, p.Waited.Load())
	counter(timedOutDesc, p.TimedOut.Load())
	counter(refusedDesc, p.Refused.Load())
	counter(resetsDesc, p.Resets.Load())
	counter(capturesDesc, p.Captures.Load())
	gauge(statementsDesc, m.s.shared.len())
	for reason, n := range m.s.pinCounts() {
		gauge(pinsDesc, n, reason)
	}
}

// pinCounts counts the pinned sessions by their reasons.
func (s *Server) pinCounts() map[string]int {
	counts := map[string]int{}
	s.eachSession(func(x *session) {
		p := x.pinned.Load()
		if p == nil {
			return
		}
		for i, name := range pinNames {
			if p.pin&(1<<i) != 0 {
				counts[name]++
			}
		}
	})
	return counts
}
