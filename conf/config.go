package conf

import (
	"net/netip"
	"time"
)

// Config is one configuration, complete and checked.
type Config struct {
	Listen     Listen
	Cluster    Cluster
	Monitor    Monitor
	Users      []User
	Classes    []Class // F0, F1, F2, then others in the order of the file
	Rules      []Rule  // in the order of the file
	TLS        TLS
	Backend    Backend
	Pool       Pool
	Routing    Routing
	Fallback   Fallback
	Token      Token
	Brownout   Brownout
	Classifier Classifier
	Limits     Limits
	Log        Log

	// Warnings are doubts that do not stop a start, one line each, such as a
	// password file that others can read.
	Warnings []string
}

// Listen says where Causeway accepts connections.
type Listen struct {
	MySQL string // host:port
	HTTP  string // host:port, "" is off

	Compression   []string       // offered to clients: CompressionZlib, CompressionZstd
	ProxyProtocol []netip.Prefix // from where connections begin with a PROXY header

	Class string // of its sessions' reads, "": Routing.DefaultClass
}

// The values of Listen.Compression.
const (
	CompressionZlib = "zlib"
	CompressionZstd = "zstd"
)

// Cluster names the MySQL servers. Their roles are found out, never told.
type Cluster struct {
	Servers       []string          // host:port, in the order of the file
	Weights       map[string]int    // by server; see Weight
	Zone          string            // Causeway's own, "": none
	Zones         map[string]string // by server
	Discover      bool              // add the source's replicas
	AllowFiltered bool              // use replicas with replication filters
	StateFile     string            // fences that outlive a restart; "": none
	FailoverWait  time.Duration     // of what needs a source, while there is none
	Warmup        time.Duration     // after a promotion
	WarmupAllow   []string          // classes that replicas serve during it
	PauseLimit    time.Duration     // of a pause of writes
	PauseEnd      string            // PauseResume or PauseFail
}

// The values of Cluster.PauseEnd.
const (
	PauseResume = "resume"
	PauseFail   = "fail"
)

// Weight returns the configured weight of a server, 1 if none is given.
func (c Cluster) Weight(server string) int {
	if w, ok := c.Weights[server]; ok {
		return w
	}
	return 1
}

// Monitor says how nodes are watched.
type Monitor struct {
	User             string
	Password         Secret // wherever it came from
	PasswordFile     string
	PasswordEnv      string
	Interval         time.Duration // of the slow probe
	PositionInterval time.Duration // of the samples of gtid_executed
	Timeout          time.Duration // of one probe
	WatchTimeout     time.Duration // of one WAIT_FOR_EXECUTED_GTID_SET
	LagWindow        time.Duration // of the samples of apply lag
	RecoveryWindow   time.Duration // within a lag limit, before a replica returns
	SlowStart        time.Duration // of one that returns
}

// User is one MySQL account that clients may use through Causeway.
type User struct {
	Name           string
	Password       Secret // wherever it came from
	PasswordFile   string
	PasswordEnv    string
	MaxConnections int    // 0: only the limit of all users together
	Class          string // of its reads, "": as the listener says
	MaxClass       string // the highest that it may have, "": any
	Admin          bool   // may steer the proxy by statements
	Scope          string // whose writes its reads see, "": Routing.Scope
	// Closed when idle for longer; 0: never.
	IdleInTransaction time.Duration
	IdlePinned        time.Duration
}

// TLS is what clients see. Without a certificate one is made at start.
type TLS struct {
	Cert, Key string // PEM files, both or none
	Required  bool   // refuse clients without TLS
}

// The values of Backend.TLS.
const (
	TLSDisabled  = "disabled"
	TLSPreferred = "preferred"
	TLSRequired  = "required"
	TLSVerify    = "verify"
)

// Backend says how MySQL servers are connected to.
type Backend struct {
	TLS            string
	CA             string // PEM file for verify; "" is the system's own set
	ServerName     string // name expected in the certificate; "" is the server's host
	ConnectTimeout time.Duration
}

// Pool bounds the connections to each server, which all clients share.
type Pool struct {
	MaxConnections     int
	MinIdle            int
	IdleTimeout        time.Duration
	Lifetime           time.Duration
	Wait               time.Duration // of a statement, for a connection
	Queue              int           // statements that may wait
	PreparedStatements int           // on one connection
}

// The values of Routing.Policy.
const (
	PolicyRoundRobin    = "round_robin"
	PolicyWeighted      = "weighted"
	PolicyLeastInFlight = "least_in_flight"
	PolicyLatency       = "latency"
)

// The values of Routing.OnLostWrite.
const (
	LostError  = "error"
	LostForget = "forget"
)

// Routing says how a read finds its replica.
type Routing struct {
	Policy               string
	DefaultClass         string
	Wait                 time.Duration // for a replica, before the source is asked
	MaxWait              time.Duration // for a replica, when the budget is empty
	MaxStaleness         time.Duration // of reads without a token; 0: no bound
	Scope                string        // whose writes a read sees
	Sticky               time.Duration // after a commit, in which reads go to the source; 0: none
	OnLostWrite          string        // LostError or LostForget
	AuditSample          float64       // part of the reads with a token that are audited
	UnsafeSkipTokenCheck bool          // test switch: gives up read-your-writes
}

// The values of Routing.Scope.
const (
	ScopeSession = "session"
	ScopeUser    = "user"
	ScopeProxy   = "proxy"
	ScopeCarried = "carried"
)

// Fallback is the budget of reads that the source takes over from replicas.
type Fallback struct {
	QPS   float64
	Burst float64
}

// Token says how tokens are handed out and in.
type Token struct {
	Secrets    []Secret // the first signs, all are taken; none: tokens are plain sets
	SecretFile string   // where they came from, "": the file itself
	MaxKeys    int
	KeyTTL     time.Duration // of a key, after the last write under it

	StoreDown string // StoreWait or StoreRefuse
	Store     TokenStore
}

// Brownout says when reads of the lowest classes are refused.
type Brownout struct {
	Wait    time.Duration // of a read for a connection, from which on there is pressure; 0: never
	Step    time.Duration // of pressure, until the next class is refused too
	Recover time.Duration // without pressure, until a class is admitted again
}

// Classifier tells what the parser cannot know.
type Classifier struct {
	ReadOnlyFunctions []string
	CacheEntries      int
}

// Limits bound what clients may take.
type Limits struct {
	MaxConnections   int
	MaxAllowedPacket int // bytes
	TokenIntervals   int
	LoginTimeout     time.Duration
	DrainTimeout     time.Duration // of a graceful stop
}

// The values of Log.Format.
const (
	LogAuto    = "auto"
	LogConsole = "console"
	LogJSON    = "json"
)

// Log says what is logged and how.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // LogAuto, LogConsole or LogJSON
}
