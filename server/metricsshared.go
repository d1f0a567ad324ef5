package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"causeway/share"
)

// ofShared are the metrics of keys and scopes that are shared over a store.
func (m *metrics) ofShared(f factory, s *Server) {
	m.shared.reads = f.counters("shared_reads_total", "Reads under a key or wide scope that other Causeways write to, by what told what they must see, and why not the store.", "by", "reason")
	m.shared.writes = f.counters("shared_writes_total", "Writes that other Causeways must see: published, acknowledged without the store once its lease had run out, neither, or refused.", "outcome")
	if s.others == nil {
		return
	}
	f.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "causeway", Name: "store_joined", Help: "1 while this process holds its lease in the store of shared keys.",
	}, func() float64 {
		if s.others.Joined() {
			return 1
		}
		return 0
	}))
}

// sharedRows are the counters for SHOW CAUSEWAY STATUS.
func (m *metrics) sharedRows() [][]string {
	var out [][]string
	for _, why := range []share.Distrust{share.Trusted, share.NoAnswer, share.NotJoined, share.NotWritable, share.NoFloor, share.Leaseless, share.OtherList, share.Unlisted} {
		if n := valueOf(m.shared.reads.WithLabelValues(servedBy(why), string(why))); n > 0 {
			name := "Shared_reads " + servedBy(why)
			if why != share.Trusted {
				name += " " + string(why)
			}
			out = append(out, []string{name, formatCount(n)})
		}
	}
	for _, outcome := range []string{string(share.InStore), string(share.Without), string(share.Neither), "refused"} {
		if n := valueOf(m.shared.writes.WithLabelValues(outcome)); n > 0 {
			out = append(out, []string{"Shared_writes " + outcome, formatCount(n)})
		}
	}
	return out
}
