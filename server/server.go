package server

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/scope"
	"causeway/share"
	"causeway/token"
	"causeway/wire"
)

// Monitor is what the server needs to know of the cluster.
type Monitor interface {
	// View returns the current picture; never nil.
	View() *backend.View
	// WaitCovered returns as soon as a usable replica covers need, false at until.
	WaitCovered(ctx context.Context, need gtid.Set, until time.Time) (*backend.View, bool)
	// FreshSource asks the source for its gtid_executed now.
	FreshSource(ctx context.Context) (gtid.Set, time.Time, error)
	// SourceNow is FreshSource for a question sent after a time, which an answer
	// that is there, or on its way, may fulfil. SourceSoon is for checks that
	// strangers can cause: it asks at most a hundred times a second for all.
	SourceNow(ctx context.Context, sentAfter time.Time) (gtid.Set, error)
	SourceSoon(ctx context.Context, sentAfter time.Time) (gtid.Set, error)
	// Held tells what a server's connection holds for itself.
	Held(ctx context.Context, addr string, connID uint32) (backend.Held, error)
	// Report tells of a connection that died or met another server.
	Report(addr string, generation uint64, why string)
	// SetSource makes a server the source by an operator's word.
	SetSource(addr string) error
	// AddServer adds a node; weight below 0: as configured, or 1.
	AddServer(addr string, weight int, zone string) error
	// RemoveServer takes a node out, unless it is the source.
	RemoveServer(addr string) error
}

// User is an account that clients log in with; the same name and password are
// used towards the backends.
type User struct {
	Name, Password string
	MaxConnections int // 0: no limit of its own
	// How long a session may be idle in a transaction, or with another pin; 0:
	// as long as the server lets it.
	IdleInTransaction, IdlePinned time.Duration
	Admin                         bool   // may pause writes and name the source
	Class, MaxClass               string // of its reads, and the highest they may have; ""
	Scope                         Scope  // whose writes its reads must see
}

// Options are everything a Server is made of.
type Options struct {
	Users      []User
	Monitor    Monitor
	Classifier *classifier.Classifier
	Backend    *backend.Config
	Pool       backend.PoolOptions
	Budget     *balance.Budget
	Policy     balance.Policy
	Zone       string // Causeway's own, for people

	Classes []Class // the first is F0
	Rules   []Rule  // in the order in which they are tried
	// DefaultClass is the class of a read that nothing gives another;
	// ListenClass that of this listener's, "": DefaultClass.
	DefaultClass, ListenClass string

	// Sticky is for how long after a commit the reads of its scope go to the source,
	// as far as the budget goes; 0: they do not.
	Sticky time.Duration

	MaxWait      time.Duration // for a source, or for its budget when no replica is usable
	FailoverWait time.Duration // of what needs a source, while there is none
	PauseLimit   time.Duration // of CAUSEWAY PAUSE WRITES
	// PauseEndRefuses: writes fail when a pause has reached its limit, instead of going on.
	PauseEndRefuses bool
	// ForgetLostWrites: sessions are not told that a failover lost their writes.
	ForgetLostWrites bool
	// SkipTokenCheck gives up the promise; for tests that must be able to fail.
	SkipTokenCheck bool
	// AuditSample is the part of the reads with a token that are audited, see audit.
	AuditSample float64
	// BudgetText names the budget's configuration in errors: "qps=1000, burst=2000".
	BudgetText string
	Brownout   balance.BrownoutLimits

	// Tokens writes and reads the text of tokens; nil: they are plain sets.
	Tokens *token.Codec

	MaxConnections   int
	MaxAllowedPacket int
	TokenIntervals   int
	MaxKeys          int           // that are remembered
	KeyTTL           time.Duration // after the last write under it; 0: for ever
	// Share is the store by which several Causeways share keys and wide scopes, nil:
	// none. The server sets its Source and Changed.
	Share *share.Options
	// StoreDownRefuses: writes that others must see are refused while it is away.
	StoreDownRefuses bool
	LoginTimeout     time.Duration
	DrainTimeout     time.Duration

	TLS         *tls.Config // nil: none offered
	TLSRequired bool

	Compression []string       // towards clients that ask for it: "zlib", "zstd"
	Proxies     []netip.Prefix // whose connections begin with a PROXY protocol header

	Log        zerolog.Logger
	Registerer prometheus.Registerer
	Version    string

	loginKey *rsa.PrivateKey // nil: one is made; tests share one
}

// firstConnectionID keeps the ids that clients see apart from the thread ids
// of the backends, so that KILL knows which is meant.
const firstConnectionID = 1 << 30

// Server accepts MySQL clients and relays their commands to the cluster.
type Server struct {
	opts Options
	log  zerolog.Logger
	// failedLogins is log for what anybody can cause as often as he likes.
	failedLogins zerolog.Logger
	metrics      *metrics
	shake        *handshaker
	users        map[string]*account
	started      time.Time
	turn         atomic.Uint64 // number of the next choice of a replica
	nextID       atomic.Uint32
	// ownReads counts the reads that only the source may answer.
	ownReads atomic.Uint64
	floor    atomic.Pointer[gtid.Token]
	acked    acknowledged
	// noSourceSince is since when no source is known, as time since started; 0: one is.
	noSourceSince atomic.Int64

	paused        atomic.Pointer[writePause] // nil: writes go on
	waitingWrites atomic.Int64               // because of it

	pools   *backend.Pools
	shared  sharedStmts
	schemas seenSchemas
	sets    knownSets
	classes classes
	rules   ruleBook
	digests digestRatios
	scopes  scopes
	// monotonic: a class wants it, so that all reads are noted.
	monotonic bool
	brown     *brownout
	others    *share.Member // nil: keys and scopes are this process's own

	defaultClass, listenClass *Class // listenClass: nil if it has none

	refusals sync.Map // see warnRefused
	dialed   sync.Map // addresses that have a label in the metrics, see forgetNodes

	mu       sync.Mutex
	sessions map[uint32]*session
	wg       sync.WaitGroup
	draining atomic.Bool
	serving  context.Context // of Serve
}

type account struct {
	User
	open            atomic.Int64
	entry           *scope.Entry // with Scope = ScopeUser
	class, maxClass *Class       // nil: none
}

// New makes a Server. Serve starts it.
func New(o Options) (*Server, error) {
	s := &Server{
		opts: o, log: o.Log, started: time.Now(),
		failedLogins: o.Log.Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Minute}),
		users:        map[string]*account{}, sessions: map[uint32]*session{},
	}
	s.pools = backend.NewPools(o.Backend, o.Pool)
	s.scopes = scopes{keys: scope.NewBook(max(o.MaxKeys, 1), o.KeyTTL), proxy: scope.NewEntry(proxyEntry)}
	s.nextID.Store(firstConnectionID)
	for _, u := range o.Users {
		s.users[u.Name] = &account{User: u, entry: scope.NewEntry(userEntryPrefix + u.Name)}
	}
	s.joinOthers()
	if err := s.takeClasses(); err != nil {
		return nil, err
	}
	s.brown = newBrownout(&s.classes)
	s.metrics = newMetrics(o.Registerer, s)
	methods, err := compressionMethods(o.Compression)
	if err != nil {
		return nil, err
	}
	s.shake, err = newHandshaker(handshakeOptions{
		Accounts: s, Key: o.loginKey, TLS: o.TLS, TLSRequired: o.TLSRequired, Compression: methods, Proxies: o.Proxies,
		Version: s.serverVersion, Charset: s.serverCharset, Timeout: o.LoginTimeout,
	})
	return s, err
}

// Lookup finds an account for the handshake.
func (s *Server) Lookup(user string) (string, bool) {
	a := s.users[user]
	if a == nil {
		return "", false
	}
	return a.Password, true
}

// serverVersion is the source's, or any node's while no source is known.
func (s *Server) serverVersion() string {
	v := s.opts.Monitor.View()
	if v.Source != nil && v.Source.Version != "" {
		return v.Source.Version
	}
	for _, n := range v.Nodes {
		if n.Version != "" {
			return n.Version
		}
	}
	return ""
}

func (s *Server) serverCharset() uint16 {
	if src := s.opts.Monitor.View().Source; src != nil && src.Charset != 0 {
		return src.Charset
	}
	return 255 // utf8mb4_0900_ai_ci, MySQL 8's default
}

// Serve accepts clients until ctx ends, then lets running commands finish for
// DrainTimeout and closes the rest. It owns ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	s.floorSet(s.opts.Monitor.View()) // now, not when somebody reads: replicas may be far behind
	s.wg.Go(func() { s.always(ctx, s.watch) })
	s.wg.Go(func() { s.always(ctx, s.tendLost) })
	s.serving = ctx
	tended := make(chan struct{})
	tend, endTend := context.WithCancel(context.Background())
	go func() {
		defer close(tended)
		s.pools.Tend(tend, s.opts.Monitor.View)
	}()
	shared := s.keepShared(tend)
	err := s.acceptLoop(ctx, ln)
	cancel()
	s.drain()
	s.wg.Wait()
	endTend()
	<-tended
	<-shared
	return err
}

func (s *Server) acceptLoop(ctx context.Context, ln net.Listener) error {
	backoff := time.Duration(0)
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			backoff = 0
			s.wg.Add(1)
			go s.serveConn(nc)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default: // out of file descriptors, most likely: wait, never spin
			backoff = min(max(2*backoff, 5*time.Millisecond), time.Second)
			s.log.Warn().Err(err).Dur("retry_in", backoff).Msg("cannot accept a client")
			select {
			case <-time.After(backoff):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// recovered is deferred by every goroutine that works for a session: a fault
// costs that session and not the process.
func (s *Server) recovered(id uint32) {
	if p := recover(); p != nil {
		s.metrics.panics.Inc()
		s.log.Error().Uint32("connection", id).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).
			Msg("a session failed; its connection is closed, the others go on")
	}
}

// always runs what the server needs until ctx ends: a fault costs one turn of it.
func (s *Server) always(ctx context.Context, run func(context.Context)) {
	for ctx.Err() == nil {
		func() {
			defer s.recovered(0)
			run(ctx)
		}()
	}
}

// serveConn is the goroutine of one client.
func (s *Server) serveConn(nc net.Conn) {
	defer s.wg.Done()
	client := wire.NewConn(nc)
	defer client.Close()
	id := s.nextID.Add(1)
	defer s.recovered(id)
	s.metrics.accepted.Inc()
	if reject := s.admit(); reject != nil {
		s.metrics.rejected.WithLabelValues("limit").Inc()
		rejectConn(client, reject)
		return
	}
	defer s.metrics.clients.Add(-1)
	s.login(client, id)
}

// admit counts the client in, or says why not.
func (s *Server) admit() *wire.Error {
	n := s.metrics.clients.Add(1)
	switch {
	case s.opts.MaxConnections > 0 && n > int64(s.opts.MaxConnections):
		s.metrics.clients.Add(-1)
		return wire.NewError(wire.ErrTooManyConnections, "Too many connections")
	case s.serverVersion() == "":
		s.metrics.clients.Add(-1)
		return wire.NewError(wire.ErrOfflineMode, "Causeway: no server of [cluster] servers can be used yet; the log and /readyz tell why")
	}
	return nil
}

func rejectConn(client *wire.Conn, e *wire.Error) {
	client.SetDeadline(time.Now().Add(time.Second))
	if client.WritePacket(e.Append(nil, 0)) == nil {
		client.Flush()
	}
}

func (s *Server) login(client *wire.Conn, id uint32) {
	login, err := s.shake.Handshake(context.Background(), client, id)
	if err != nil {
		s.metrics.rejected.WithLabelValues("login").Inc()
		s.logFailedLogin(err, client, id)
		s.warnProxyHeader(client, err)
		return
	}
	acc := s.users[login.User]
	defer acc.open.Add(-1)
	if n := acc.open.Add(1); acc.MaxConnections > 0 && n > int64(acc.MaxConnections) {
		s.metrics.rejected.WithLabelValues("user_limit").Inc()
		e := wire.NewError(wire.ErrTooManyUserConns, "User '%s' has exceeded the 'max_user_connections' resource (current value: %d)", login.User, acc.MaxConnections)
		client.WritePacket(e.Append(nil, login.Caps))
		client.Flush()
		return
	}
	sess := newSession(s, client, login, id)
	s.register(sess)
	defer s.unregister(sess)
	sess.run()
}

// logFailedLogin tells of clients that were refused, ten a minute; of those that
// only left, as the checks of balancers do, it tells at debug.
func (s *Server) logFailedLogin(err error, client *wire.Conn, id uint32) {
	e := s.log.Debug()
	if errors.As(err, new(*wire.Error)) {
		e = s.failedLogins.Info()
	}
	e.Err(err).Uint32("connection", id).Str("host", clientHost(client)).Msg("login failed")
}

func (s *Server) register(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[x.id] = x
}

func (s *Server) unregister(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
}

func (s *Server) eachSession(fn func(*session)) {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, x := range s.sessions {
		all = append(all, x)
	}
	s.mu.Unlock()
	for _, x := range all {
		fn(x)
	}
}

// drain ends idle sessions at once and busy ones after their command, or when
// the time is up.
func (s *Server) drain() {
	s.draining.Store(true)
	deadline := time.Now().Add(s.opts.DrainTimeout)
	for {
		busy := 0
		s.eachSession(func(x *session) {
			if x.busySince.Load() == 0 && !x.inTrx.Load() {
				x.client.Close()
			} else {
				busy++
			}
		})
		if busy == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.eachSession(func(x *session) {
		x.client.Close()
		if c := x.busyOn.Load(); c != nil {
			c.Close()
		}
	})
}
