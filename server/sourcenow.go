package server

import (
	"context"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// sourceNow is what the source has executed, by a question sent after the read
// arrived: all that anybody was told of by then, whoever committed it. No answer
// within max_wait is an error, never an older position.
func (s *session) sourceNow(arrived time.Time) (gtid.Set, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	set, known, err := s.awaitSource(ctx, arrived)
	if err == nil && !known {
		err = wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: class %s needs the source's present position, and the source did not tell it within %v (routing.max_wait); see SHOW CAUSEWAY SERVERS",
			s.contract.class.Name, s.srv.opts.MaxWait)
	}
	return set, err
}

// awaitSource asks the source until it tells its position or ctx ends. One that has
// just taken over is waited for until it has applied what it received of the old one.
func (s *session) awaitSource(ctx context.Context, arrived time.Time) (set gtid.Set, known bool, err error) {
	for {
		v := s.view()
		if settledSource(v) {
			if set, err := s.srv.opts.Monitor.SourceNow(ctx, arrived); err == nil && sameSource(v, s.view()) {
				return set, true, nil
			}
		}
		if ctx.Err() != nil {
			return set, false, nil
		}
		if err := s.standBy(standByStep); err != nil {
			return set, false, err
		}
	}
}

// settledSource tells whether there is a source, and what it lacks of an old
// one's writes it will never have.
func settledSource(v *backend.View) bool {
	return v.Source.Usable() && (v.Promotion.Seq == 0 || v.Promotion.Settled)
}
