package server

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"causeway/gtid"
	"causeway/scope"
	"causeway/share"
	"causeway/wire"
)

// sharing is what a session's statement has to do with other Causeways.
type sharing struct {
	deadline time.Time      // of all that it publishes
	failed   error          // it must not be acknowledged
	asked    bool           // the store, or the source in its place
	distrust share.Distrust // why the source was asked
	lost     gtid.Set       // what of others' writes the session was told is lost
}

// begin comes before each statement.
func (x *sharing) begin() {
	x.deadline, x.failed, x.asked, x.distrust = time.Time{}, nil, false, share.Trusted
}

func (x *sharing) text() string {
	switch {
	case !x.asked:
		return "not asked"
	case x.distrust != share.Trusted:
		return "served as global: " + string(x.distrust)
	}
	return "store"
}

// joinOthers makes this process a member of those that share a store, if it is to be.
func (s *Server) joinOthers() {
	if s.opts.Share == nil {
		return
	}
	o := *s.opts.Share
	o.Source = s.positionNow
	o.Changed = s.storeLog()
	s.others = share.New(o)
}

// ownAddress is this side of a connection in an error: another one with each try.
var ownAddress = regexp.MustCompile(`\S+->`)

// storeLog logs what becomes of the store: a warning while it cannot be used, once
// for each change. The phases of a try to join are no news.
func (s *Server) storeLog() func(share.State) {
	type news struct {
		joined       bool
		why          share.Distrust
		about, error string
	}
	var last news
	return func(st share.State) { // called by one at a time
		now := news{st.Phase == share.Joined, st.Distrust, st.About, ownAddress.ReplaceAllString(st.Error, "")}
		if now == last {
			return
		}
		last = now
		event := s.log.Warn()
		if now.joined && now.why == share.Trusted || now == (news{}) {
			event = s.log.Info()
		}
		event.Str("state", string(st.Phase)).Str("distrust", string(st.Distrust)).Str("member", st.About).Str("error", st.Error).
			Msg("the store of shared keys")
	}
}

// keepShared keeps the lease until ctx ends; the channel is closed then.
func (s *Server) keepShared(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	if s.others == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		s.others.Run(ctx)
	}()
	return done
}

var errSourceChanges = errors.New("the source is changing")

// positionNow is what the source has executed, asked after the call: all that was
// acknowledged before, whoever did. While a new source has not applied yet what it
// received of the old one, nobody knows.
func (s *Server) positionNow(ctx context.Context) (gtid.Set, error) {
	v := s.opts.Monitor.View()
	if !settledSource(v) {
		return gtid.Set{}, errSourceChanges
	}
	set, _, err := s.opts.Monitor.FreshSource(ctx)
	if err == nil && !sameSource(v, s.opts.Monitor.View()) {
		err = errSourceChanges
	}
	return set, err
}

// publish comes after entries were raised and before the client is told OK.
func (s *session) publish(entries []*scope.Entry) {
	x := &s.sharing
	if s.srv.others == nil || x.failed != nil {
		return
	}
	began := time.Now()
	if x.deadline.IsZero() {
		x.deadline = began.Add(s.srv.opts.MaxWait)
	}
	ctx, cancel := context.WithDeadline(s.ctx, x.deadline)
	defer cancel()
	outcome, err := s.srv.others.Publish(ctx, s.srv.itemsOf(entries))
	s.srv.metrics.shared.writes.WithLabelValues(string(outcome)).Inc()
	if err != nil {
		x.failed = err
		s.log.Warn().Err(err).Msg("a write could not be made known to the other Causeways; its client is not told that it worked")
	}
}

// unshared is an error if the client must not be told of its write: the answer is
// treated as if it had not come.
func (s *session) unshared() error {
	if s.sharing.failed != nil {
		return &backendError{fmt.Errorf("the other Causeways were not told: %w", s.sharing.failed)}
	}
	return nil
}

// publishLater makes known what no client was told of.
func (s *Server) publishLater(entries []*scope.Entry) {
	if s.others == nil || len(entries) == 0 {
		return
	}
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.opts.MaxWait)
		defer cancel()
		outcome, _ := s.others.Publish(ctx, s.itemsOf(entries)) // whoever joins next asks the source
		s.metrics.shared.writes.WithLabelValues(string(outcome)).Inc()
	})
}

// itemsOf is what this process knows of the entries' names. An entry may have been
// forgotten meanwhile: the book or its floor has then what it held.
func (s *Server) itemsOf(entries []*scope.Entry) []share.Item {
	items := make([]share.Item, len(entries))
	for i, e := range entries {
		items[i] = share.Item{Name: e.Name(), Set: func() gtid.Set {
			v := s.opts.Monitor.View()
			set := valid(e.Token(), v)
			if !isKey(e.Name()) {
				return set
			}
			now := s.scopes.keys.Find(e.Name())
			if now == nil {
				return set.Union(valid(s.scopes.keys.Floor().Token(), v))
			}
			return set.Union(valid(now.Token(), v))
		}}
	}
	return items
}

// isKey tells a key's name from that of an account or of all.
func isKey(name string) bool { return strings.Contains(name, "\x00") }

// demandOthers adds what other Causeways have acknowledged. If the store does not tell
// all of that the read is served as global.
func (s *session) demandOthers(d *demand) error {
	if s.srv.others == nil || !s.common.reads() {
		return nil
	}
	if s.view().WithoutGTIDs {
		return wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: what other Causeways acknowledged under a key or scope is shared as tokens, and the source has no GTIDs (gtid_mode = OFF); take [token.store] out of the configuration, and let one Causeway alone serve such a cluster")
	}
	x := &s.sharing
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	need, why := s.srv.others.Read(ctx, s.sharedNames())
	x.asked, x.distrust = true, why
	s.srv.metrics.shared.reads.WithLabelValues(servedBy(why), string(why)).Inc()
	if why != share.Trusted {
		now, err := s.awaitPosition(ctx)
		d.token, d.held, d.stands = d.token.Union(now), true, false
		return err
	}
	if v := s.view(); !v.SourcePosition.Contains(need.Set) || v.Promotion.Seq > 0 && !v.Promotion.Settled {
		now, err := s.awaitPosition(ctx)
		if err != nil {
			return err
		}
		if err := s.othersLost(need.Set.Subtract(now)); err != nil {
			return err
		}
		need.Set = need.Set.Intersect(now)
	}
	d.token, d.held = d.token.Union(need.Set), d.held || need.Written
	d.stands = !d.held
	return nil
}

func servedBy(why share.Distrust) string {
	if why == share.Trusted {
		return "store"
	}
	return "global"
}

// awaitPosition is awaitSource, now.
func (s *session) awaitPosition(ctx context.Context) (gtid.Set, error) {
	set, known, err := s.awaitSource(ctx, time.Now())
	if err == nil && !known {
		err = wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: what others wrote under this key or scope is not known: the source did not tell its position within %v (routing.max_wait); see SHOW CAUSEWAY SERVERS and STATUS",
			s.srv.opts.MaxWait)
	}
	return set, err
}

// othersLost tells the session once of what the store names and the source, asked
// afterwards, does not have.
func (s *session) othersLost(lost gtid.Set) error {
	gone := lost.Subtract(s.sharing.lost)
	if gone.IsEmpty() {
		return nil
	}
	s.sharing.lost = s.sharing.lost.Union(gone)
	text := gone.Line()
	return s.lostError("the source does not have " + text[:min(len(text), 200)] + ", which was written under this key or scope through another Causeway")
}

// sharedNames are those that the session reads under.
func (s *session) sharedNames() []string {
	names := make([]string, 0, 2)
	if s.common.wide != nil {
		names = append(names, s.common.wide.Name())
	}
	if s.common.key != "" {
		names = append(names, s.common.key)
	}
	return names
}

// sharedStatus are the rows of SHOW CAUSEWAY STATUS about the store.
func (s *Server) sharedStatus() [][]string {
	if s.others == nil {
		return nil
	}
	st := s.others.State()
	var members []string
	for name, leased := range st.Leases {
		if !leased {
			name += " (no lease)"
		}
		members = append(members, name)
	}
	slices.Sort(members)
	return append([][]string{{"Store", string(st.Phase)}, {"Store_error", st.Error}, {"Store_members", strings.Join(members, ", ")}, {"Store_trusted", storeTrust(st)}},
		s.metrics.sharedRows()...)
}
