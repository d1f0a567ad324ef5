package sysbench

import (
	"fmt"
	"testing"
)

// shares says how many reads each node ran during one run.
type shares struct {
	source   int64
	replicas []int64
}

// check fails unless at least minReplicas of all ran on replicas and no
// replica's share differs from the mean of the replicas by more than spread of it.
func (s shares) check(minReplicas, spread float64) error {
	var sum int64
	for _, n := range s.replicas {
		sum += n
	}
	total := sum + s.source
	if total == 0 {
		return fmt.Errorf("no node ran a read")
	}
	if part := float64(sum) / float64(total); part < minReplicas {
		return fmt.Errorf("%.1f %% of %d reads ran on replicas, wanted are %.0f %%", part*100, total, minReplicas*100)
	}
	mean := float64(sum) / float64(len(s.replicas))
	for i, n := range s.replicas {
		if off := (float64(n) - mean) / mean; off > spread || off < -spread {
			return fmt.Errorf("replica %d ran %d reads, %+.1f %% from the mean %.0f, allowed are %.0f %%",
				i+1, n, off*100, mean, spread*100)
		}
	}
	return nil
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		name string
		s    shares
		ok   bool
	}{
		{"even", shares{10, []int64{1000, 1000}}, true},
		{"just even enough", shares{0, []int64{1014, 986}}, true},
		{"one gets more", shares{0, []int64{1040, 960}}, false},
		{"all on one", shares{0, []int64{2000, 0}}, false},
		{"six percent on the source", shares{60, []int64{470, 470}}, false},
		{"nothing ran", shares{0, []int64{0, 0}}, false},
	} {
		if err := c.s.check(0.95, 0.015); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
