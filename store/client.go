package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"causeway/share"
)

// Options say where the store is.
type Options struct {
	Addrs []string // of the server, of Sentinels, or of nodes of a Cluster
	// Sentinel is the name by which Sentinel knows the server; "": Addrs are no Sentinels.
	Sentinel string
	Cluster  bool

	User, Password     string
	SentinelPassword   string
	DB                 int
	TLS                *tls.Config // nil: none
	Timeout            time.Duration
	Prefix             string // of all keys
	ConnectionsAtATime int    // 0: what go-redis does
}

// Client speaks with the store.
type Client struct {
	redis  redis.UniversalClient
	prefix string
}

// hush keeps go-redis, which knows only a logger of the whole process, from writing
// lines of its own: each error is returned as well, and told of by the member's state.
var hush = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// New makes a Client; nothing is connected yet.
func New(o Options) *Client {
	hush()
	return &Client{
		redis: redis.NewUniversalClient(&redis.UniversalOptions{
			Addrs: o.Addrs, MasterName: o.Sentinel, IsClusterMode: o.Cluster, DB: o.DB,
			Username: o.User, Password: o.Password, SentinelPassword: o.SentinelPassword, TLSConfig: o.TLS,
			DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, PoolTimeout: o.Timeout, ContextTimeoutEnabled: true,
			PoolSize: o.ConnectionsAtATime, MaxRetries: 1, DialerRetries: 1,
			Protocol: 2, DisableIdentity: true, // Redis 5 and later, and Valkey
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		}),
		// The braces put all keys into one slot of a Cluster: scripts look at several.
		prefix: "{" + o.Prefix + "}:",
	}
}

// Close ends all connections.
func (c *Client) Close() error { return c.redis.Close() }

func (c *Client) keys(names ...string) []string {
	keys := make([]string, 0, 3+len(names))
	keys = append(keys, c.prefix+"leases", c.prefix+"floor", c.prefix+"born")
	for _, name := range names {
		keys = append(keys, c.prefix+"k:"+name)
	}
	return keys
}

// Look implements share.Store.
func (c *Client) Look(ctx context.Context, names []string) (share.Sight, error) {
	answer, err := lookScript.Run(ctx, c.redis, c.keys(names...)).Slice()
	if err != nil {
		return share.Sight{}, fmt.Errorf("looking: %w", err)
	}
	return readSight(answer, names)
}

// Lease implements share.Store.
func (c *Client) Lease(ctx context.Context, o share.LeaseOrder) (share.Sight, share.Verdict, error) {
	floor := ""
	if o.Floor.Set != "" {
		floor = fmt.Sprintf("%d %d %s %s", o.Floor.Begun, o.Floor.Until, o.Floor.Life, o.Floor.Set)
	}
	l := o.Lease
	answer, err := leaseScript.Run(ctx, c.redis, c.keys(), l.Life, o.Name, l.Proc, l.List, int64(l.End), int64(o.Floor.Begun), floor).Slice()
	if err != nil {
		return share.Sight{}, "", fmt.Errorf("leasing: %w", err)
	}
	if len(answer) != 5 {
		return share.Sight{}, "", errAnswer
	}
	s, err := readSight(answer[:4], nil)
	verdict, _ := answer[4].(string)
	return s, share.Verdict(verdict), err
}

// Publish implements share.Store.
func (c *Client) Publish(ctx context.Context, o share.PublishOrder) (share.Verdict, error) {
	names := make([]string, len(o.Items))
	args := []any{o.Life, o.Name, o.Proc, o.Seq, o.TTL.Milliseconds()}
	for i, item := range o.Items {
		names[i] = item.Name
		args = append(args, item.Set)
	}
	verdict, err := publishScript.Run(ctx, c.redis, c.keys(names...), args...).Text()
	if err != nil {
		return "", fmt.Errorf("publishing: %w", err)
	}
	return share.Verdict(verdict), nil
}

var errAnswer = errors.New("the store's answer cannot be read")

// readSight takes an answer apart: life, time, leases, floor, and the values under
// each of so many names.
func readSight(answer []any, names []string) (share.Sight, error) {
	if len(answer) != 4+len(names) {
		return share.Sight{}, errAnswer
	}
	var s share.Sight
	life, ok1 := answer[0].(string)
	now, ok2 := answer[1].(string)
	leases, ok3 := texts(answer[2])
	floor, ok4 := answer[3].(string)
	ms, err := strconv.ParseInt(now, 10, 64)
	if !ok1 || !ok2 || !ok3 || !ok4 || err != nil || len(leases)%2 != 0 {
		return s, errAnswer
	}
	s.Life, s.Now, s.Leases, s.Entries = life, share.Millis(ms), map[string]share.Lease{}, map[string][]string{}
	for i := 0; i < len(leases); i += 2 {
		if s.Leases[leases[i]], err = readLease(leases[i+1]); err != nil {
			return s, err
		}
	}
	if floor != "" {
		if s.Floor, err = readFloor(floor); err != nil {
			return s, err
		}
	}
	for i, values := range answer[4:] {
		fields, ok := texts(values)
		if !ok {
			return s, errAnswer
		}
		for _, field := range fields { // number, time, set
			parts := strings.SplitN(field, " ", 3)
			if len(parts) != 3 {
				return s, errAnswer
			}
			s.Entries[names[i]] = append(s.Entries[names[i]], parts[2])
		}
	}
	return s, nil
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	out := make([]string, len(list))
	for i := range list {
		var is bool
		out[i], is = list[i].(string)
		ok = ok && is
	}
	return out, ok
}

func readLease(text string) (share.Lease, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return share.Lease{}, errAnswer
	}
	end, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return share.Lease{}, errAnswer
	}
	return share.Lease{Life: parts[1], Proc: parts[2], List: parts[3], End: share.Millis(end)}, nil
}

func readFloor(text string) (share.Floor, error) {
	parts := strings.SplitN(text, " ", 4)
	if len(parts) != 4 {
		return share.Floor{}, errAnswer
	}
	begun, err1 := strconv.ParseInt(parts[0], 10, 64)
	until, err2 := strconv.ParseInt(parts[1], 10, 64)
	if err1 != nil || err2 != nil {
		return share.Floor{}, errAnswer
	}
	return share.Floor{Begun: share.Millis(begun), Until: share.Millis(until), Life: parts[2], Set: parts[3]}, nil
}
