package server

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// ofClasses makes the metrics of each class and rule.
func (m *metrics) ofClasses(f factory, s *Server) {
	fallbacks := f.counters("fallback_total", "Reads that no replica qualified for and that asked for the source, by class and by whether the budget let them.", "class", "outcome")
	m.ofBrownout(f, s)
	for _, class := range s.classes.all {
		c := s.classes.stats[class.Index]
		c.used, c.refused = fallbacks.WithLabelValues(class.Name, "used"), fallbacks.WithLabelValues(class.Name, "refused")
		c.stale = m.stale.WithLabelValues(class.Name)
		f.ofClass("primary_fallback_ratio", "Reads of the last 5 minutes that the source served for lack of a replica, as a part of all reads of the class.", class, &c.fallbackRatio)
		f.ofClass("follower_read_ratio", "Reads of the last 5 minutes that replicas served, as a part of all reads of the class.", class, &c.replicaRatio)
		f.ofClass("follower_read_qps", "Reads a second of the class that replicas served, over the last 5 minutes.", class, &c.replicaRate)
	}
	for _, r := range s.rules.rules {
		f.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "causeway", Name: "rule_hits_total", Help: "Statements that a rule was the first to match.",
			ConstLabels: prometheus.Labels{"rule": r.Name},
		}, func() float64 { return float64(r.hits.Load()) }))
	}
}

// ofBrownout makes the metrics of the brownout.
func (m *metrics) ofBrownout(f factory, s *Server) {
	refused := f.counters("brownout_refused_total", "Reads refused because their class is browned out, by class.", "class")
	for _, class := range s.classes.all {
		s.classes.stats[class.Index].brownout = refused.WithLabelValues(class.Name)
	}
	f.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "brownout_level", Help: "How many of the lowest priorities are refused now; 0: none.",
	}, func() float64 { return float64(s.brown.state.Load().Level) }))
	f.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "brownout_wait_seconds", Help: "How long the read has waited that waits longest for a connection to a usable replica; the brownout goes by it.",
	}, func() float64 { return s.brown.state.Load().wait.Seconds() }))
}

func (f factory) ofClass(name, help string, class *Class, g *gauge) {
	f.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: name, Help: help, ConstLabels: prometheus.Labels{"class": class.Name},
	}, g.value))
}

// classStatus are the rows of SHOW CAUSEWAY STATUS on fallbacks.
func (s *Server) classStatus() [][]string {
	var rows [][]string
	for _, class := range s.classes.all {
		c := s.classes.stats[class.Index]
		text := fmt.Sprintf("fallback_ratio=%.3f follower_read_ratio=%.3f stale=%s", c.fallbackRatio.value(), c.replicaRatio.value(), formatCount(valueOf(c.stale)))
		if c.alert.Load() {
			text += " ALERT: many reads fall back to the source"
		}
		rows = append(rows, []string{"Class " + class.Name, text})
	}
	for _, d := range s.digests.worst(10) {
		rows = append(rows, []string{"Fallback_alert", fmt.Sprintf("%.0f%% of %d reads: %s", d.ratio*100, d.reads, d.digest)})
	}
	return rows
}

// classRows are SHOW CAUSEWAY CLASSES.
func (s *Server) classRows() [][]string {
	var rows [][]string
	for _, class := range s.classes.all {
		c := s.classes.stats[class.Index]
		rows = append(rows, []string{
			class.Name, class.Consistency.String(), orNone(class.MaxStaleness), stepsText(class.OnLag), class.emptyText(),
			fmt.Sprint(class.Priority), fmt.Sprint(class.BudgetShare), s.lagLimitText(class), fmt.Sprint(class.PromoteOnToken), orNone(class.Timeout),
			fmt.Sprint(c.reads.Load()), fmt.Sprint(c.onReplica.Load()), fmt.Sprint(c.fallbacks.Load()), formatCount(valueOf(c.stale)),
			fmt.Sprintf("%.3f", c.fallbackRatio.value()), formatCount(valueOf(c.brownout)), s.admission(class),
		})
	}
	return rows
}

// lagLimitText is the lag limit for SHOW CAUSEWAY CLASSES; it also tells the limit of other zones, where there are any.
func (s *Server) lagLimitText(c *Class) string {
	switch {
	case !c.HasLagLimit():
		return "-"
	case s.opts.Zone == "":
		return c.LagLimit.String()
	}
	return fmt.Sprintf("%v (other zones %v)", c.LagLimit, c.ZoneLagLimit)
}

// admission tells whether reads of a class are refused now.
func (s *Server) admission(c *Class) string {
	if s.classRefused(c) {
		return "refused"
	}
	return "admitted"
}

func (c *Class) emptyText() string {
	if c.Consistency != OwnWrites {
		return "-"
	}
	return stepsText(c.OnLagEmpty)
}
