package wire

// AppendAuthSwitch appends the packet that asks the client to answer with
// another plugin and a new nonce. The nonce is closed by a NUL as in the
// greeting. Specification: page_protocol_connection_phase_packets_protocol_auth_switch_request.
func AppendAuthSwitch(b []byte, plugin string, data []byte) []byte {
	b = appendNul(append(b, HeaderEOF), plugin)
	return append(append(b, data...), 0)
}

// ParseAuthSwitch reads an authentication switch; data is without its closing
// NUL and a slice into payload. A packet of one byte asks for the password hash
// of servers before 4.1 and is refused.
func ParseAuthSwitch(payload []byte) (plugin string, data []byte, err error) {
	if len(payload) < 2 || payload[0] != HeaderEOF {
		return "", nil, malformed("authentication switch")
	}
	name, n, ok := readNul(payload[1:])
	if !ok {
		return "", nil, malformed("authentication switch plugin")
	}
	data = payload[1+n:]
	if len(data) > 0 && data[len(data)-1] == 0 {
		data = data[:len(data)-1]
	}
	return string(name), data, nil
}

// First byte of the data of caching_sha2_password inside an authentication
// packet. Specification: page_caching_sha2_authentication_exchanges.
const (
	SHA2RequestPublicKey byte = 0x02 // client: send the server's RSA key
	SHA2FastAuthOK       byte = 0x03 // server: the scramble matched, OK follows
	SHA2FullAuth         byte = 0x04 // server: send the password itself
)

// AppendAuthMoreData appends a packet of the server inside the exchange of an
// authentication plugin.
func AppendAuthMoreData(b, data []byte) []byte {
	return append(append(b, HeaderMoreData), data...)
}

// ParseAuthMoreData reads such a packet; the result is a slice into payload.
func ParseAuthMoreData(payload []byte) ([]byte, error) {
	if len(payload) < 2 || payload[0] != HeaderMoreData {
		return nil, malformed("authentication data")
	}
	return payload[1:], nil
}
