package balance

import (
	"fmt"
	"strings"
)

// Policy says how the eligible replicas share the reads.
type Policy uint8

const (
	// RoundRobin gives every eligible replica its turns: in each round exactly
	// as many as its weight, spread over the round. The default.
	RoundRobin Policy = iota
	// Weighted draws by lot, the weight being the chance. Unlike RoundRobin it
	// has no rhythm that an application's own rhythm could beat against.
	Weighted
	// LeastInFlight takes the replica with the fewest commands in flight for
	// its weight; equals take turns.
	LeastInFlight
	// Latency takes the better of two replicas by answer time (peak EWMA) and
	// commands in flight; equals take turns.
	Latency
)

var policyNames = [...]string{"round_robin", "weighted", "least_in_flight", "latency"}

// String returns the policy's name in the configuration.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ParsePolicy reads a policy's name as the configuration writes it.
func ParsePolicy(name string) (Policy, error) {
	for i, n := range policyNames {
		if n == name {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("balance: unknown policy %q; write one of %s", name, strings.Join(policyNames[:], ", "))
}
