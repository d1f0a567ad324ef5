package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/netip"
	"strings"
)

// ErrProxyHeader: what should be the header of the PROXY protocol is none.
var ErrProxyHeader = errors.New("wire: no valid PROXY protocol header")

// The PROXY protocol, by which a balancer says for whom it connects.
// Specification: "The PROXY protocol, versions 1 & 2", in HAProxy's documentation.
const (
	proxyV1Start = "PROXY "
	proxyV2Start = "\r\n\r\n\x00\r\nQUIT\n"
	proxyV1Max   = 107 // bytes, with the closing CRLF
	proxyV2Fixed = 16  // 12 signature, 1 version and command, 1 family, 2 length of the rest

	proxyLocal   = 0 // commands: the balancer connects for itself, a health check
	proxyProxied = 1

	proxyTLVCRC32C = 0x03
)

// proxyAddressLen is the length of the address block by family (the high half
// of its byte): unspecified, IPv4, IPv6, Unix. Other families have one that is
// not known.
var proxyAddressLen = [...]int{0, 4 + 4 + 2 + 2, 16 + 16 + 2 + 2, 108 + 108}

// HasProxyHeader tells whether b begins like a header of either version. No
// packet of a client does: its number would be 'X' or a newline.
func HasProxyHeader(b []byte) bool {
	return bytes.HasPrefix(b, []byte(proxyV1Start)) || bytes.HasPrefix(b, []byte(proxyV2Start))
}

// ReadProxyHeader reads the header that must come first, of either version.
// From then on RemoteAddr is the address that it names, if it names one. What
// comes behind it stays buffered.
func (c *Conn) ReadProxyHeader() error {
	for {
		from, n, err := parseProxyHeader(c.Buffered())
		if err != nil {
			return err
		}
		if n > 0 {
			c.Discard(n)
			if from.IsValid() {
				c.peer = net.TCPAddrFromAddrPort(from)
			}
			return nil
		}
		if err := c.Fill(); err != nil {
			return err
		}
	}
}

// RemoteAddr returns the client's address: the socket's, or the one that a
// PROXY header named.
func (c *Conn) RemoteAddr() net.Addr {
	if c.peer != nil {
		return c.peer
	}
	return c.nc.RemoteAddr()
}

func noProxyHeader(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProxyHeader, fmt.Sprintf(format, args...))
}

// parseProxyHeader reads a header at the start of b and returns its length; 0:
// more bytes are needed. from is not valid if the header names no address that
// counts, so that the socket's does.
func parseProxyHeader(b []byte) (from netip.AddrPort, n int, err error) {
	switch {
	case startsLike(b, proxyV1Start):
		return parseProxyV1(b)
	case startsLike(b, proxyV2Start):
		return parseProxyV2(b)
	}
	return from, 0, noProxyHeader("the first bytes are of another protocol")
}

// startsLike tells whether b is start, begins with it, or is its beginning.
func startsLike(b []byte, start string) bool {
	n := min(len(b), len(start))
	return string(b[:n]) == start[:n]
}

// parseProxyV1 reads "PROXY TCP4 from to fromport toport\r\n".
func parseProxyV1(b []byte) (from netip.AddrPort, n int, err error) {
	end := bytes.Index(b[:min(len(b), proxyV1Max)], []byte("\r\n"))
	if end < 0 {
		if len(b) >= proxyV1Max {
			return from, 0, noProxyHeader("no end of the line in %d bytes", proxyV1Max)
		}
		return from, 0, nil
	}
	n = end + 2
	words := strings.Split(string(b[:end]), " ")
	if len(words) > 1 && words[1] == "UNKNOWN" { // whatever follows is to be ignored
		return from, n, nil
	}
	if len(words) != 6 || words[1] != "TCP4" && words[1] != "TCP6" {
		return from, 0, noProxyHeader("not of the form of version 1")
	}
	from, err = netip.ParseAddrPort(net.JoinHostPort(words[2], words[4]))
	to, err2 := netip.ParseAddrPort(net.JoinHostPort(words[3], words[5]))
	is4 := words[1] == "TCP4"
	if err != nil || err2 != nil || from.Addr().Is4() != is4 || to.Addr().Is4() != is4 || from.Addr().Zone() != "" {
		return netip.AddrPort{}, 0, noProxyHeader("addresses of version 1")
	}
	return unmapped(from), n, nil
}

// parseProxyV2 reads the binary form.
func parseProxyV2(b []byte) (from netip.AddrPort, n int, err error) {
	if len(b) < proxyV2Fixed {
		return from, 0, nil
	}
	version, command, family := b[12]>>4, b[12]&0xf, int(b[13]>>4)
	if version != 2 || command > proxyProxied {
		return from, 0, noProxyHeader("version %d, command %d", version, command)
	}
	n = proxyV2Fixed + int(binary.BigEndian.Uint16(b[14:]))
	if len(b) < n {
		return from, 0, nil
	}
	if command == proxyLocal || family >= len(proxyAddressLen) {
		return from, n, nil // the block is to be skipped, whatever it is
	}
	size := proxyAddressLen[family]
	addresses := b[proxyV2Fixed:n]
	if len(addresses) < size {
		return from, 0, noProxyHeader("address block of %d bytes", len(addresses))
	}
	if err := checkProxyTLVs(b[:n], proxyV2Fixed+size); err != nil {
		return from, 0, err
	}
	switch family {
	case 1:
		from = netip.AddrPortFrom(netip.AddrFrom4([4]byte(addresses)), binary.BigEndian.Uint16(addresses[8:]))
	case 2:
		from = netip.AddrPortFrom(netip.AddrFrom16([16]byte(addresses)), binary.BigEndian.Uint16(addresses[32:]))
	}
	return unmapped(from), n, nil
}

// checkProxyTLVs walks over the typed values from at on: of a checksum it makes
// sure, the others are not for a MySQL server.
func checkProxyTLVs(header []byte, at int) error {
	for at < len(header) {
		if len(header)-at < 3 {
			return noProxyHeader("%d bytes behind the last value", len(header)-at)
		}
		kind, size := header[at], int(binary.BigEndian.Uint16(header[at+1:]))
		at += 3
		if size > len(header)-at {
			return noProxyHeader("value of type %d longer than the header", kind)
		}
		if kind == proxyTLVCRC32C && (size != 4 || proxyChecksum(header, at) != binary.BigEndian.Uint32(header[at:])) {
			return noProxyHeader("checksum")
		}
		at += size
	}
	return nil
}

// proxyChecksum is the CRC32C of the header with its own four bytes as zeros.
func proxyChecksum(header []byte, at int) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, table, header[:at])
	sum = crc32.Update(sum, table, make([]byte, 4))
	return crc32.Update(sum, table, header[at+4:])
}

// unmapped shows an IPv4 client that came by way of IPv6 as IPv4.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
