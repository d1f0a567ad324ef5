package soak

import (
	"fmt"
	"slices"
	"testing"
)

// series are samples of one figure, taken at even distances.
type series []float64

// median returns the middle of the samples between two parts of the series'
// length, such as 0.25 and 0.5.
func (s series) median(from, to float64) float64 {
	n := float64(len(s))
	part := slices.Clone(s[int(n*from):int(n*to)])
	if len(part) == 0 {
		return 0
	}
	slices.Sort(part)
	return part[len(part)/2]
}

// flat fails if the last quarter lies over the second one by more than a
// share of it and slack. The first quarter is warming up: pools and buffers.
func (s series) flat(share, slack float64) error {
	if len(s) < 8 {
		return fmt.Errorf("only %d samples", len(s))
	}
	early, late := s.median(0.25, 0.5), s.median(0.75, 1)
	if late > early*(1+share)+slack {
		return fmt.Errorf("grew from %.0f to %.0f", early, late)
	}
	return nil
}

func TestFlat(t *testing.T) {
	steady := series{1, 5, 9, 10, 10, 11, 10, 10, 10, 11, 10, 10}
	growing := series{1, 5, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19}
	spike := series{10, 10, 10, 10, 10, 90, 10, 10, 10, 10, 80, 10}
	for _, c := range []struct {
		name string
		s    series
		ok   bool
	}{{"steady after its warm-up", steady, true}, {"growing", growing, false}, {"spikes", spike, true}, {"too few", series{1, 1}, false}} {
		if err := c.s.flat(0.1, 0.5); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
