package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"causeway/gtid"
	"causeway/wire"
)

// Config is what all connections of a process have in common.
type Config struct {
	TLSMode        string
	TLSConfig      *tls.Config
	ConnectTimeout time.Duration
	// DialLimit is how many connections to one node may be under way at once: a
	// storm of clients must not make every one of them time out.
	DialLimit int
	// TrackedVariables are the session variables whose changes the server reports.
	TrackedVariables []string

	turns sync.Map // node address -> chan struct{}, see takeTurn
}

// takeTurn waits until a connection to a node may be made. The wait is not part
// of the connection's own timeout.
func (c *Config) takeTurn(ctx context.Context, addr string) (done func(), err error) {
	limit := c.DialLimit
	if limit <= 0 {
		limit = 8
	}
	v, ok := c.turns.Load(addr)
	if !ok {
		v, _ = c.turns.LoadOrStore(addr, make(chan struct{}, limit))
	}
	turn := v.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Account is who a connection logs in as, and the client's capabilities that
// change the meaning of statements.
type Account struct {
	User, Password string
	Caps           wire.Capability
	Collation      uint16
	TLS            bool // the client uses TLS; what it asks of its connection shall say so
}

// Conn is a connection to one node. One goroutine owns it.
type Conn struct {
	*wire.Conn
	Node        *Node           // as seen when the connection was made
	Caps        wire.Capability // negotiated
	ThreadID    uint32
	Established time.Time
	LastUsed    time.Time
	// Executed is the node's gtid_executed as it was when the connection was made.
	Executed gtid.Set
	// Status is the server's status word of the last answer.
	Status wire.Status
	// Broken: an answer was lost or not understood; close, never use again.
	Broken bool
	// Turn grows each time that another session takes the connection.
	Turn uint64
	// InsertID is what LAST_INSERT_ID() is here, "" if that is not known.
	InsertID string
	// Private: it is one session's own and not to be shared.
	Private bool
	// Unclean: its session may have left something here that only it may find. It
	// can take the connection back; before another one has it, it is reset.
	Unclean bool
	// Dirty: something of its session is left that replaying cannot undo.
	Dirty bool
	// Stained: not even a reset undoes what its session did here.
	Stained bool

	account Account
	cfg     *Config
	base    map[string]string // values of variables that no session has set; shared, see Open
	charset [4]string         // and of charsetVariables, which the login sets
	state   *State
	role    string         // CURRENT_ROLE() after the login
	asked   uint64         // see Asked
	closing []uint32       // ids to be closed with the next command
	eachRow func([]string) // see QueryAll
	// lastColumn is the definition of the last column of the last answer.
	lastColumn []byte
	onTrack    func([]byte) // see Ping

	statements    statements
	maxStatements int

	pool    *pool // nil: belongs to none
	idle    bool  // guarded by the pool's lock
	owner   *Owner
	left    *Leftover // what the owner may still ask for
	baseSeq uint64
	age     uint64 // of the pools when it was opened, see Pools.Renew
}

// MeaningCaps are the capabilities of a client that change what its statements
// mean or how its commands are written; a backend connection must have the same.
const MeaningCaps = wire.CapFoundRows | wire.CapIgnoreSpace | wire.CapMultiStatements | wire.CapLocalFiles |
	wire.CapInteractive | wire.CapNoSchema | wire.CapQueryAttributes | wire.CapExpiredPasswords

// Errors of Open beside *wire.Error and network errors.
var (
	// ErrIncarnation: the server behind the address is not the one seen by the monitor.
	ErrIncarnation = errors.New("another server, or an older state of it, answers at this address")
)

// Open connects, logs in, and prepares a connection for relaying: GTIDs and
// tracked state are reported with every OK, whatever the server's globals say,
// and on a replica transactions are read-only. base holds the session defaults
// of the source, so that a replica whose globals differ gives the same answers.
// It costs one round trip after the login.
// attrs are shown to the server beside Causeway's own connection attributes.
func Open(ctx context.Context, cfg *Config, node *Node, acc Account, attrs map[string]string, schema string, base map[string]string) (*Conn, error) {
	done, err := cfg.takeTurn(ctx, node.Addr)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	wc, greeting, err := Dial(ctx, DialConfig{
		Addr: node.Addr, User: acc.User, Password: acc.Password, Database: schema,
		Collation: acc.Collation, Caps: acc.Caps, TLSMode: cfg.TLSMode, TLSConfig: cfg.TLSConfig, ClientTLS: acc.TLS,
		Attrs: withAttrs(attrs),
	})
	if err != nil {
		return nil, err
	}
	c := &Conn{
		Conn: wc, Node: node, Caps: greeting.Caps, ThreadID: greeting.ConnectionID,
		Established: time.Now(), Status: greeting.Status, account: acc, cfg: cfg,
		state: EmptyState.WithSchema(schema), InsertID: "0",
	}
	if deadline, ok := ctx.Deadline(); ok {
		wc.SetDeadline(deadline)
	}
	if err := c.setup(base); err != nil {
		c.Close()
		return nil, err
	}
	wc.SetDeadline(time.Time{})
	return c, nil
}

// setup runs what every new or reset connection needs, in one write.
func (c *Conn) setup(base map[string]string) error {
	if err := c.Send(wire.ComQuery, c.setupStatement(base)); err != nil {
		return err
	}
	if err := c.Send(wire.ComQuery, "SELECT @@global.server_uuid, @@global.gtid_executed, @@"+strings.Join(charsetVariables[:], ", @@")+", CURRENT_ROLE(), USER()"); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if _, err := c.ReadResult(); err != nil {
		return fmt.Errorf("setting up the connection: %w", err)
	}
	row, err := c.ReadResult()
	if err != nil {
		return fmt.Errorf("asking for the position: %w", err)
	}
	if len(row) != 8 {
		return fmt.Errorf("asking for the position: %d columns", len(row))
	}
	c.base = base
	if base == nil {
		c.base = c.Node.Defaults
	}
	copy(c.charset[:], row[2:6])
	if err := c.checkRole(row[6]); err != nil {
		return err
	}
	c.state = c.state.WithCharset(c.charset)
	if c.Executed, err = gtid.Parse(row[1]); err != nil {
		return err
	}
	return c.checkIncarnation(row[0])
}

// errStained is why a connection is not used for anybody else.
var errStained = errors.New("something is set that COM_RESET_CONNECTION leaves: a role or a resource group")

// checkRole compares the roles that are active with those of the login: a reset
// leaves them as they are, and a routine can set them unseen.
func (c *Conn) checkRole(role string) error {
	switch {
	case c.role == "":
		c.role = role
	case c.role != role || c.Stained:
		return errStained
	}
	return nil
}

// checkIncarnation compares the server with the one the monitor knows by this
// address. A position only grows within an incarnation.
func (c *Conn) checkIncarnation(uuid string) error {
	known := c.Node.Incarnation.ServerUUID
	if known != "" && !strings.EqualFold(known, uuid) {
		return fmt.Errorf("%w: server_uuid %s, known as %s", ErrIncarnation, uuid, known)
	}
	if !c.Executed.Contains(c.Node.Position) {
		return fmt.Errorf("%w: gtid_executed lacks %s", ErrIncarnation, c.Node.Position.Subtract(c.Executed).Line())
	}
	return nil
}

func (c *Conn) setupStatement(base map[string]string) string {
	var b strings.Builder
	b.WriteString(c.armStatement())
	if c.Node.Role == RoleReplica {
		b.WriteString(", transaction_read_only=ON")
	}
	if id := c.account.Collation; id > 255 { // COM_CHANGE_USER has two bytes for it, the login one
		b.WriteString(", collation_connection=" + strconv.Itoa(int(id)))
	}
	for _, name := range meaningVariables {
		value, known := base[name]
		if own, ok := c.Node.Defaults[name]; known && ok && own != value {
			value, _ = c.begins(name, base)
			b.WriteString(", " + name + "=" + literal(name, value))
		}
	}
	return b.String()
}

// Quit takes leave, unless the connection is in an unknown state, and closes.
func (c *Conn) Quit() {
	if !c.Broken {
		c.SetDeadline(time.Now().Add(100 * time.Millisecond))
		if c.Send(wire.ComQuit, "") == nil {
			c.Flush()
		}
	}
	c.Close()
}

// meaningVariables are those whose global value on the source a replica
// connection starts with: they change what a read returns, and any account may
// set them. Sizes of buffers and the like stay as the node's operator chose them.
var meaningVariables = []string{
	"autocommit", "block_encryption_mode", "cte_max_recursion_depth", "default_week_format",
	"div_precision_increment", "group_concat_max_len", "lc_time_names", "max_sort_length",
	"sql_auto_is_null", "sql_mode", "sql_select_limit", "time_zone", "transaction_isolation",
	"windowing_use_high_precision",
}

// charsetVariables are set by the login's collation.
var charsetVariables = [4]string{"character_set_client", charsetResults, "character_set_connection", "collation_connection"}

const charsetResults = "character_set_results"

// initial returns what a variable is while no session has set it.
func (c *Conn) initial(name string) (string, bool) {
	if i := slices.Index(charsetVariables[:], name); i >= 0 {
		return c.charset[i], true
	}
	return c.begins(name, c.base)
}

// begins is what a login makes of a variable, by its global value and the
// capabilities that change it.
func (c *Conn) begins(name string, base map[string]string) (string, bool) {
	switch {
	case name == "wait_timeout" && c.account.Caps.Has(wire.CapInteractive):
		name = "interactive_timeout"
	case name == "sql_mode" && c.account.Caps.Has(wire.CapIgnoreSpace):
		v, ok := base[name]
		if !strings.Contains(v, "IGNORE_SPACE") {
			v = strings.TrimSuffix("IGNORE_SPACE,"+v, ",")
		}
		return v, ok
	}
	v, ok := base[name]
	return v, ok
}

// Reset puts the connection back into the state of a new one, by
// COM_RESET_CONNECTION, and sets it up again. The schema stays.
func (c *Conn) Reset() error {
	if err := c.Send(wire.ComResetConnection, ""); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if _, err := c.ReadResult(); err != nil {
		return err
	}
	c.statements, c.closing, c.Dirty, c.Unclean, c.InsertID = statements{}, nil, false, false, "0"
	c.state = EmptyState.WithSchema(c.state.Schema)
	return c.setup(c.base) // the charset is the server's own then, not the login's
}

// Send queues a command whose argument is text.
func (c *Conn) Send(cmd wire.Command, text string) error {
	return c.SendBytes(append(append(make([]byte, 0, len(text)+3), byte(cmd)), c.queryPrefix(cmd)+text...))
}

// queryPrefix is the empty set of query attributes, where they were negotiated.
func (c *Conn) queryPrefix(cmd wire.Command) string {
	if cmd == wire.ComQuery && c.Caps.Has(wire.CapQueryAttributes) {
		return "\x00\x01"
	}
	return ""
}

// Asked grows with each command of Causeway's own. As long as it stays, the last
// statement here is the session's.
func (c *Conn) Asked() uint64 { return c.asked }

// SendBytes queues a command as a payload.
func (c *Conn) SendBytes(payload []byte) error {
	c.asked++
	if err := c.sendCloses(); err != nil {
		return err
	}
	c.ResetSequence()
	return c.WritePacket(payload)
}

// SendFrame sends a client's command at once, with what is queued before it.
func (c *Conn) SendFrame(f wire.Frame) error {
	if err := c.sendCloses(); err != nil {
		return err
	}
	c.ResetSequence()
	if f.Raw == nil {
		if err := c.WritePacket(f.Payload); err != nil {
			return err
		}
		return c.Flush()
	}
	c.SetSequence(1)
	return c.WriteRaw(f.Raw)
}

// Query runs a statement of Causeway's own and returns the first row of its
// result as text; NULL is "".
func (c *Conn) Query(sql string) ([]string, error) {
	if err := c.Send(wire.ComQuery, sql); err != nil {
		return nil, err
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	return c.ReadResult()
}

// QueryAll is Query with all rows.
func (c *Conn) QueryAll(sql string) ([][]string, error) {
	var rows [][]string
	c.eachRow = func(row []string) { rows = append(rows, row) }
	defer func() { c.eachRow = nil }()
	_, err := c.Query(sql)
	return rows, err
}

// Ping asks for nothing but the server's status flags, see Status, and for what it
// has to tell of the session. That is a copy.
func (c *Conn) Ping() (track []byte, err error) {
	c.onTrack = func(block []byte) { track = append(track, block...) }
	defer func() { c.onTrack = nil }()
	err = c.ping()
	return track, err
}

func (c *Conn) ping() error {
	if err := c.Send(wire.ComPing, ""); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	_, err := c.ReadResult()
	return err
}

// Account returns who the connection is logged in as.
func (c *Conn) Account() Account { return c.account }

// State returns the state that the connection is in.
func (c *Conn) State() *State { return c.state }

// SetState records that the server brought the connection into a state.
func (c *Conn) SetState(s *State) { c.state = s }
