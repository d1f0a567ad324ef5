package main

import (
	"context"
	"database/sql"
	"sync"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
)

// pool is an application's pool of connections: whoever was idle longest is next.
type pool struct {
	db   *sql.DB
	mu   sync.Mutex
	free *sync.Cond
	idle []*sql.Conn
}

// openPool connects so many times. Comments reach Causeway, as drivers keep them.
func openPool(ctx context.Context, addr string, size int) (*pool, error) {
	cfg := cluster.AppConfig(addr, "forum")
	cfg.InterpolateParams = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	p := &pool{db: sql.OpenDB(connector)}
	p.free = sync.NewCond(&p.mu)
	for range size {
		c, err := p.db.Conn(ctx)
		if err != nil {
			p.close()
			return nil, err
		}
		p.idle = append(p.idle, c)
	}
	return p, nil
}

// take waits for a connection that is not the one to avoid.
func (p *pool) take(avoid *sql.Conn) *sql.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for i, c := range p.idle {
			if c != avoid {
				p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
				return c
			}
		}
		p.free.Wait()
	}
}

func (p *pool) put(c *sql.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	p.free.Broadcast() // whoever waits may be one that must not have this one
}

func (p *pool) close() {
	for _, c := range p.idle {
		_ = c.Close()
	}
	_ = p.db.Close()
}
