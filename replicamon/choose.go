package replicamon

import (
	"fmt"
	"strings"
)

// SetSource makes the server at addr the source by an operator's word, if it
// can be written to. All others that are writable now are fenced until they
// replicate from it.
func (m *Monitor) SetSource(addr string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range m.state.nodes {
		if !strings.EqualFold(n.addr, addr) {
			continue
		}
		if why := m.state.refuseName(i); why != "" {
			return fmt.Errorf("%s cannot be the source: %s", n.addr, why)
		}
		m.log.Warn().Str("node", n.addr).Msg("an operator names the source")
		m.publish(m.state, m.view.Load(), named{i})
		return nil
	}
	return fmt.Errorf("%s is no server of this cluster; SHOW CAUSEWAY SERVERS lists them, CAUSEWAY ADD SERVER adds one", addr)
}
