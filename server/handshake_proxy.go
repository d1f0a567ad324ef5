package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"causeway/wire"
)

// Errors of the PROXY protocol. MySQL's server speaks first, so whether a header
// comes cannot be found out by waiting for a login: addresses that are
// configured must send one, as with Percona Server, and no other may.
var (
	errNoProxyHeader = errors.New("a PROXY protocol header was expected")
	errProxyHeader   = errors.New("a PROXY protocol header from an address that is not in listen.proxy_protocol")
)

// refusalTime is for telling a client that its login took too long.
const refusalTime = time.Second

// introduce reads the PROXY header of a client that a balancer brings.
func (h *handshaker) introduce(c *wire.Conn) error {
	if len(h.Proxies) == 0 || !h.fromProxy(c.NetConn()) {
		return nil
	}
	err := c.ReadProxyHeader()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		// Somebody waits for a greeting, and would never learn why none comes.
		c.SetDeadline(time.Now().Add(refusalTime))
	case !errors.Is(err, wire.ErrProxyHeader):
		return err
	}
	return fmt.Errorf("%w: %w", errNoProxyHeader, err)
}

func (h *handshaker) fromProxy(nc net.Conn) bool {
	a, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return false
	}
	return contains(h.Proxies, a.AddrPort().Addr())
}

func contains(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range networks {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// warnProxyHeader logs, once a minute for each of the two mistakes, that a
// balancer and listen.proxy_protocol do not agree.
func (s *Server) warnProxyHeader(c *wire.Conn, err error) {
	for _, mistake := range []error{errNoProxyHeader, errProxyHeader} {
		if !errors.Is(err, mistake) {
			continue
		}
		now := time.Now()
		if last, ok := s.refusals.Load(mistake); ok && now.Sub(last.(time.Time)) < time.Minute {
			return
		}
		s.refusals.Store(mistake, now)
		s.log.Warn().Err(err).Stringer("from", c.NetConn().RemoteAddr()).Msg("a client was refused for its PROXY protocol header")
	}
}
