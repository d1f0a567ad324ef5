package classifier

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// cpu is the process's CPU time: what counts on a machine that others use too.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkHit(b *testing.B, sql string) {
	c := New(Options{})
	text := []byte(sql)
	b.ReportAllocs()
	b.SetBytes(int64(len(sql)))
	start := cpu()
	for b.Loop() {
		c.Classify(text, Mode{})
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}

func BenchmarkPointSelect(b *testing.B) {
	benchmarkHit(b, "SELECT c FROM sbtest1 WHERE id=50123")
}

func BenchmarkORMSelect(b *testing.B) {
	benchmarkHit(b, "SELECT `users`.`id`, `users`.`name`, `users`.`email` FROM `users` "+
		"INNER JOIN `roles` ON `roles`.`id` = `users`.`role_id` WHERE `users`.`deleted_at` IS NULL "+
		"AND `users`.`id` IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) ORDER BY `users`.`id` ASC LIMIT 20")
}

func BenchmarkMiss(b *testing.B) {
	c := New(Options{})
	i := 0
	b.ReportAllocs()
	start := cpu()
	for b.Loop() {
		i++
		c.Classify(fmt.Appendf(nil, "SELECT c%d FROM sbtest1 WHERE id=50123", i), Mode{})
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}
