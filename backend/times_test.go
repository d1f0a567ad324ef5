package backend

import (
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	for d := time.Duration(0); d < 16*time.Second; d += 1 + d/97 {
		i := bucketOf(d)
		if end := bucketEnd(i); end <= d.Truncate(time.Microsecond) || end > d+d/8+2*time.Microsecond {
			t.Fatalf("%v is in bucket %d, which ends at %v", d, i, end)
		}
		if i > 0 && bucketEnd(i-1) > d {
			t.Fatalf("%v is in bucket %d, but the one before ends at %v", d, i, bucketEnd(i-1))
		}
	}
	if bucketOf(-1) != 0 || bucketOf(time.Hour) != buckets-1 {
		t.Error("what is outside is not in the first or the last bucket")
	}
}

func TestAnswerTimes(t *testing.T) {
	var times AnswerTimes
	now := time.Now()
	add := func(n int, took time.Duration) {
		for range n {
			times.Add(took)
		}
	}
	refresh := func(after time.Duration) time.Duration {
		now = now.Add(after)
		times.Refresh(now)
		return times.P95()
	}
	near := func(got, want time.Duration) bool { return got >= want && got <= want+want/8+time.Microsecond }
	add(fewestTimes-1, time.Millisecond)
	if got := refresh(0); got != 0 {
		t.Errorf("%v of too few answers", got)
	}
	add(1, time.Second)
	if got := refresh(0); !near(got, time.Millisecond) {
		t.Errorf("%v: one slow answer in 40 is not the p95", got)
	}
	add(3, time.Second)
	if got := refresh(0); !near(got, time.Second) {
		t.Errorf("%v: four in 43 are", got)
	}
	add(1000, 2*time.Millisecond)
	if got := refresh(timesSpan); !near(got, 2*time.Millisecond) {
		t.Error(got)
	}
	add(fewestTimes, 5*time.Millisecond)
	if got := refresh(timesSpan); !near(got, 5*time.Millisecond) {
		t.Errorf("%v: the old ones are forgotten after two spans", got)
	}
	if got := refresh(timesSpan); got != 0 {
		t.Errorf("%v, though nobody answered for long", got)
	}
}

func TestAnswerTimesAllocateNothing(t *testing.T) {
	var times AnswerTimes
	if n := testing.AllocsPerRun(100, func() { times.Add(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
