package wire

import "encoding/binary"

// NonceLen is the length of the challenge that both authentication methods use.
const NonceLen = 20

const (
	protocolVersion = 10
	nonceFirstPart  = 8
	greetingFiller  = 10
	greetingNonce2  = NonceLen - nonceFirstPart + 1 // with its closing NUL
)

// HandshakeV10 is the server's first packet, the greeting.
// Specification: page_protocol_connection_phase_packets_protocol_handshake_v10.
type HandshakeV10 struct {
	ServerVersion string
	ConnectionID  uint32
	AuthData      []byte // the nonce, 20 bytes, none of them zero
	Caps          Capability
	Charset       byte // low byte of the server's default collation
	Status        Status
	AuthPlugin    string
}

// Append appends the payload. AuthData must have NonceLen bytes.
func (h HandshakeV10) Append(b []byte) []byte {
	b = appendNul(append(b, protocolVersion), h.ServerVersion)
	b = binary.LittleEndian.AppendUint32(b, h.ConnectionID)
	b = append(append(b, h.AuthData[:nonceFirstPart]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(h.Caps))
	b = append(b, h.Charset)
	b = binary.LittleEndian.AppendUint16(b, uint16(h.Status))
	b = binary.LittleEndian.AppendUint16(b, uint16(h.Caps>>16))
	if h.Caps.Has(CapPluginAuth) {
		b = append(b, NonceLen+1)
	} else {
		b = append(b, 0)
	}
	b = append(b, make([]byte, greetingFiller)...)
	b = append(append(b, h.AuthData[nonceFirstPart:NonceLen]...), 0)
	if h.Caps.Has(CapPluginAuth) {
		b = appendNul(b, h.AuthPlugin)
	}
	return b
}

// ParseHandshakeV10 reads a greeting. A server that refuses the connection at
// once (too many connections, blocked host) sends an ERR instead: then the
// error is that *Error. The returned value shares no memory with payload.
func ParseHandshakeV10(payload []byte) (*HandshakeV10, error) {
	if IsErr(payload) {
		e, err := ParseError(payload)
		if err != nil {
			return nil, err
		}
		return nil, e
	}
	if len(payload) == 0 || payload[0] != protocolVersion {
		return nil, malformed("greeting is not of protocol 10")
	}
	version, n, ok := readNul(payload[1:])
	if !ok {
		return nil, malformed("greeting version")
	}
	// 4 id, 8 nonce, 1 filler, 2 caps, 1 charset, 2 status, 2 caps, 1 length, 10 filler
	const fixed = 4 + nonceFirstPart + 1 + 2 + 1 + 2 + 2 + 1 + greetingFiller
	rest := payload[1+n:]
	if len(rest) < fixed+greetingNonce2 {
		return nil, malformed("greeting too short, a server older than 4.1?")
	}
	h := &HandshakeV10{
		ServerVersion: string(version),
		ConnectionID:  binary.LittleEndian.Uint32(rest),
		Caps:          Capability(binary.LittleEndian.Uint16(rest[13:])),
		Charset:       rest[15],
		Status:        Status(binary.LittleEndian.Uint16(rest[16:])),
	}
	h.Caps |= Capability(binary.LittleEndian.Uint16(rest[18:])) << 16
	nonceLen := int(rest[20])
	h.AuthData = append(h.AuthData, rest[4:4+nonceFirstPart]...)
	return h, h.parseTail(rest[fixed:], nonceLen)
}

// parseTail reads the second part of the nonce and the plugin's name. The
// nonce's length byte counts a closing NUL; a server without PLUGIN_AUTH sends
// 0 there and 13 bytes all the same.
func (h *HandshakeV10) parseTail(rest []byte, nonceLen int) error {
	second := max(greetingNonce2, nonceLen-nonceFirstPart)
	if len(rest) < second {
		return malformed("greeting nonce")
	}
	h.AuthData = append(h.AuthData, rest[:NonceLen-nonceFirstPart]...)
	if h.Caps.Has(CapPluginAuth) {
		plugin, _ := readNulOrRest(rest[second:])
		h.AuthPlugin = string(plugin)
	}
	return nil
}
