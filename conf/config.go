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
	TLS        TLS
	Backend    Backend
	Pool       Pool
	Routing    Routing
	Fallback   Fallback
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
}

// The values of Listen.Compression.
const (
	CompressionZlib = "zlib"
	CompressionZstd = "zstd"
)

// Cluster names the MySQL servers. Their roles are found out, never told.
type Cluster struct {
	Servers       []string       // host:port, in the order of the file
	Weights       map[string]int // by server; see Weight
	AllowFiltered bool           // use replicas with replication filters
}

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
}

// User is one MySQL account that clients may use through Causeway.
type User struct {
	Name           string
	Password       Secret // wherever it came from
	PasswordFile   string
	PasswordEnv    string
	MaxConnections int // 0: only the limit of all users together
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

// Routing says how a read finds its replica.
type Routing struct {
	Policy               string
	Wait                 time.Duration // for a replica, before the source is asked
	MaxWait              time.Duration // for a replica, when the budget is empty
	MaxStaleness         time.Duration // of reads without a token; 0: no bound
	UnsafeSkipTokenCheck bool          // test switch: gives up read-your-writes
}

// Fallback is the budget of reads that the source takes over from replicas.
type Fallback struct {
	QPS   float64
	Burst float64
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
