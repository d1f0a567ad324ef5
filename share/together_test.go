package share

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// TestTogether: those that ask while a question is under way share the next one, and
// none gets the answer to a question that was sent before.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent [][]int
		answer := make(chan struct{})
		ask := together[[]int, []int]{do: func(q []int) ([]int, error) {
			sent = append(sent, q)
			<-answer
			return q, nil
		}}
		var all sync.WaitGroup
		go1 := func(n int) {
			all.Go(func() {
				got, err := ask.ask(t.Context(), func(q *[]int) { *q = append(*q, n) })
				if err != nil || !slices.Contains(got, n) {
					t.Errorf("%d got the answer to %v (%v)", n, got, err)
				}
			})
			synctest.Wait()
		}
		for n := range 10 {
			go1(n)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ask.ask(gone, func(*[]int) {}); err == nil {
			t.Error("whoever has gone got an answer")
		}
		answer <- struct{}{}
		answer <- struct{}{}
		all.Wait()
		synctest.Wait()
		if len(sent) != 2 || len(sent[0]) != 1 || len(sent[1]) != 9 || ask.busy {
			t.Errorf("sent: %v", sent)
		}
	})
}
