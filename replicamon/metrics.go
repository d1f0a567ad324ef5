package replicamon

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/backend"
)

// The probes, as the metrics name them.
const (
	probePosition = iota
	probeStatus
	probeWatch
	probeFresh
	probeKinds
)

var probeNames = [probeKinds]string{"position", "status", "watch", "fresh"}

// counters are what cannot be read off the View.
type counters struct {
	failures     [probeKinds]atomic.Uint64
	watchQueries atomic.Uint64
	freshQueries atomic.Uint64
	watchWakeups atomic.Uint64
	refusedWaits atomic.Uint64
	reports      atomic.Uint64
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("causeway_"+name, help, labels, nil)
}

var (
	descUp        = desc("node_up", "1 while the node answers probes.", "node")
	descRole      = desc("node_role", "1 for the role that the node has now.", "node", "role")
	descUsable    = desc("node_usable", "1 while the node may serve.", "node")
	descInfo      = desc("node_info", "The server behind the address.", "node", "server_uuid", "version")
	descGen       = desc("node_generation", "Lives seen at this address.", "node")
	descAge       = desc("node_sample_age_seconds", "Age of the newest answer to a probe.", "node", "probe")
	descPos       = desc("node_position_transactions", "Transactions in the node's gtid_executed.", "node")
	descErrant    = desc("node_errant_transactions", "Transactions that only this replica has.", "node")
	descApply     = desc("replica_apply_lag_seconds", "Apply lag that so many of the samples of the window (monitor.lag_window) are within.", "node", "quantile")
	descPosLag    = desc("replica_position_lag_seconds", "Lag by the source's position; 0 when all is covered.", "node")
	descTransport = desc("replica_transport_lag_seconds", "Lag of what was received, by the source's position.", "node")
	descOldest    = desc("oldest_replay_age_seconds", "How long the oldest transaction under way has been applied.", "node")
	descUnapplied = desc("replica_received_unapplied_transactions", "Transactions received but not applied.", "node")
	descBlocked   = desc("replica_worker_blocked_seconds", "How long one transaction has held up the commits of others; 0: none does.", "node")
	descLatency   = desc("replica_query_latency_seconds", "Answer time, as seen by Causeway, that so many of the answers are within; the source's too.", "node", "quantile")
	descClock     = desc("node_clock_offset_seconds", "How far the node's clock is ahead of Causeway's.", "node")
	descBusy      = desc("replica_workers_busy", "Applier workers that hold a transaction.", "node")
	descWorkers   = desc("replica_workers", "Applier workers.", "node")
	descIO        = desc("replica_io_running", "1 while the receiver runs.", "node")
	descSQL       = desc("replica_sql_running", "1 while the applier runs.", "node")
	descDelay     = desc("replica_configured_delay_seconds", "SOURCE_DELAY.", "node")
	descExcluded  = desc("replica_pool_excluded_count", "Replicas that serve nothing now (limit \"all\"), or nothing but what their position proves, under a lag limit.", "limit")
	descEpoch     = desc("source_epoch", "How often the source lost transactions.")
	descSourceAge = desc("source_sample_age_seconds", "Age of the newest sample of the source's position.")
	descUnclear   = desc("source_unclear", "1 while no server is the source: no write goes anywhere. SHOW CAUSEWAY STATUS tells why.")
	descFailovers = desc("failover_total", "Times that another server became the source.")
	descWarmup    = desc("warmup_active", "1 during the warm-up after a promotion.")
	descWaiters   = desc("watch_waiters", "Reads that wait for a GTID now.")
	descFresh     = desc("position_questions_total", "Positions asked for at once, because a read or a token needed one.")
	descQueries   = desc("watch_queries_total", "Waits sent to replicas.")
	descWakeups   = desc("watch_wakeups_total", "Waits that ended because the replica had applied.")
	descRefused   = desc("watch_refused_total", "Waits refused because too many wait.")
	descReports   = desc("node_reports_total", "Reports of sessions about a node.")
	descFailures  = desc("probe_failures_total", "Probes without a usable answer.", "probe")
)

// collector reads the View when somebody asks, so that publishing costs nothing.
type collector struct{ m *Monitor }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descBlocked, descLatency, descClock, descUp, descRole, descUsable, descInfo, descGen, descAge, descPos, descErrant,
		descApply, descPosLag, descTransport, descOldest, descUnapplied, descBusy, descWorkers,
		descIO, descSQL, descDelay, descExcluded, descEpoch, descSourceAge, descWaiters,
		descFresh, descQueries, descWakeups, descRefused, descReports, descFailures,
		descUnclear, descFailovers, descWarmup,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	now, v := time.Now(), c.m.View()
	out := emitter{ch}
	for _, n := range v.Nodes {
		out.node(n, now)
		if n.Role == backend.RoleReplica {
			out.replica(n, now)
		}
	}
	out.excluded(v.Replicas, c.m.opts.LagLimits)
	out.gauge(descEpoch, float64(v.Epoch))
	out.gauge(descUnclear, truth(v.Source == nil))
	out.gauge(descWarmup, truth(now.Before(v.WarmupUntil)))
	out.ch <- prometheus.MustNewConstMetric(descFailovers, prometheus.CounterValue, float64(v.Promotion.Seq))
	if !v.SourceAsked.IsZero() {
		out.gauge(descSourceAge, now.Sub(v.SourceAsked).Seconds())
	}
	out.gauge(descWaiters, float64(c.m.queue.len()))
	out.counter(descFresh, &c.m.count.freshQueries)
	out.counter(descQueries, &c.m.count.watchQueries)
	out.counter(descWakeups, &c.m.count.watchWakeups)
	out.counter(descRefused, &c.m.count.refusedWaits)
	out.counter(descReports, &c.m.count.reports)
	for i, name := range probeNames {
		out.counter(descFailures, &c.m.count.failures[i], name)
	}
}

type emitter struct{ ch chan<- prometheus.Metric }

func (o emitter) gauge(d *prometheus.Desc, v float64, labels ...string) {
	o.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (o emitter) counter(d *prometheus.Desc, v *atomic.Uint64, labels ...string) {
	o.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v.Load()), labels...)
}

// known emits a duration, or nothing while it is unknown: a gap in a graph is
// honest, a 0 is not.
func (o emitter) known(d *prometheus.Desc, v time.Duration, labels ...string) {
	if v >= 0 {
		o.gauge(d, v.Seconds(), labels...)
	}
}

func (o emitter) node(n *backend.Node, now time.Time) {
	o.gauge(descUp, truth(n.Up), n.Addr)
	o.gauge(descUsable, truth(n.Usable()), n.Addr)
	for _, r := range []backend.Role{backend.RoleUnknown, backend.RoleSource, backend.RoleReplica} {
		o.gauge(descRole, truth(n.Role == r), n.Addr, r.String())
	}
	o.gauge(descGen, float64(n.Incarnation.Generation), n.Addr)
	if n.PositionAt.IsZero() {
		return
	}
	o.gauge(descInfo, 1, n.Addr, n.Incarnation.ServerUUID, n.Version)
	if n.QueryP95 > 0 {
		o.gauge(descLatency, n.QueryP95.Seconds(), n.Addr, "0.95")
	}
	if n.Clock.Known {
		o.gauge(descClock, n.Clock.Offset.Seconds(), n.Addr)
	}
	o.gauge(descAge, now.Sub(n.PositionAt).Seconds(), n.Addr, "position")
	o.gauge(descPos, float64(n.Position.Count()), n.Addr)
	if !n.Lag.SampledAt.IsZero() {
		o.gauge(descAge, now.Sub(n.Lag.SampledAt).Seconds(), n.Addr, "status")
	}
}

// excluded counts the replicas that serve nothing, and under each limit also
// those that are over it.
func (o emitter) excluded(replicas []*backend.Node, limits []LagLimit) {
	all, over := 0, make([]int, len(limits))
	for _, n := range replicas {
		if !n.Usable() {
			all++
		}
		for k := range over {
			if !n.Usable() || n.Limits[k].Excluded != "" {
				over[k]++
			}
		}
	}
	o.gauge(descExcluded, float64(all), "all")
	for k, l := range limits {
		o.gauge(descExcluded, float64(over[k]), l.Name)
	}
}

func (o emitter) replica(n *backend.Node, now time.Time) {
	l := n.Lag
	o.gauge(descErrant, float64(n.Errant.Count()), n.Addr)
	current := now.Sub(l.SourceAt) <= l.OldAfter // else the source's position tells nothing of now
	if current {
		o.known(descPosLag, l.Position, n.Addr)
	}
	if l.SampledAt.IsZero() || now.Sub(l.SampledAt) > l.OldAfter { // it tells nothing of now
		return
	}
	o.known(descApply, l.ApplyP50, n.Addr, "0.5")
	o.known(descApply, l.ApplyP95, n.Addr, "0.95")
	o.known(descApply, l.ApplyP99, n.Addr, "0.99")
	if current {
		o.known(descTransport, l.Transport, n.Addr)
	}
	o.gauge(descOldest, l.OldestTrx.Seconds(), n.Addr)
	o.gauge(descUnapplied, float64(l.ReceivedUnapp), n.Addr)
	o.gauge(descBusy, float64(l.WorkersBusy), n.Addr)
	o.gauge(descBlocked, l.Blocker.Blocks().Seconds(), n.Addr)
	o.gauge(descWorkers, float64(l.Workers), n.Addr)
	o.gauge(descIO, truth(l.IOThread == "Yes"), n.Addr)
	o.gauge(descSQL, truth(l.SQLThread == "Yes"), n.Addr)
	o.gauge(descDelay, l.Delay.Seconds(), n.Addr)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
