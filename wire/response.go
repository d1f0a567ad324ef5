package wire

import "encoding/binary"

const (
	responseHeader = 32 // 4 caps, 4 max packet, 1 charset, 23 filler
	maxByteCharset = 255
)

// HandshakeResponse is the client's answer to the greeting.
// Specification: page_protocol_connection_phase_packets_protocol_handshake_response.
type HandshakeResponse struct {
	Caps       Capability
	MaxPacket  uint32
	Collation  uint16 // only 0 to 255 can travel, see Append
	User       string
	Database   string
	AuthPlugin string
	Auth       []byte
	Attrs      map[string]string
	ZstdLevel  byte
}

// Append appends the payload; which fields it has follows from Caps.
//
// The packet has one byte for the collation. Larger numbers are all of utf8mb4,
// so 255 (utf8mb4_0900_ai_ci) goes in their place and the sender must SET NAMES
// afterwards. (libmysqlclient sends the low byte, which names some other
// charset: then even the schema's name would be read wrongly.)
func (r *HandshakeResponse) Append(b []byte) []byte {
	b = appendResponseHeader(b, r.Caps, r.MaxPacket, r.Collation)
	b = appendNul(b, r.User)
	b = appendAuth(b, r.Auth, r.Caps)
	if r.Caps.Has(CapConnectWithDB) {
		b = appendNul(b, r.Database)
	}
	if r.Caps.Has(CapPluginAuth) {
		b = appendNul(b, r.AuthPlugin)
	}
	if r.Caps.Has(CapConnectAttrs) {
		b = appendAttrs(b, r.Attrs)
	}
	if r.Caps.Has(CapZstd) {
		b = append(b, r.ZstdLevel)
	}
	return b
}

// AppendSSLRequest appends the packet that asks for TLS: the response's header
// alone. After TLS is up the whole response follows, with the next number.
func AppendSSLRequest(b []byte, caps Capability, maxPacket uint32, collation uint16) []byte {
	return appendResponseHeader(b, caps|CapSSL, maxPacket, collation)
}

// IsSSLRequest reports whether the client's first packet asks for TLS.
func IsSSLRequest(payload []byte) bool {
	return len(payload) == responseHeader &&
		Capability(binary.LittleEndian.Uint32(payload)).Has(CapSSL|CapProtocol41)
}

func appendResponseHeader(b []byte, caps Capability, maxPacket uint32, collation uint16) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(caps))
	b = binary.LittleEndian.AppendUint32(b, maxPacket)
	b = append(b, byte(min(collation, maxByteCharset)))
	return append(b, make([]byte, 23)...)
}

// appendAuth appends an authentication answer with the length that caps allow.
func appendAuth(b, auth []byte, caps Capability) []byte {
	if caps.Has(CapPluginAuthLenEnc) {
		return AppendLenEncString(b, auth)
	}
	return appendAuthByteLen(b, auth)
}

// appendAuthByteLen cuts at 255: nothing Causeway sends is longer, and a length
// that lies would be worse than a refused password.
func appendAuthByteLen(b, auth []byte) []byte {
	auth = auth[:min(len(auth), 255)]
	return append(append(b, byte(len(auth))), auth...)
}

// ParseHandshakeResponse reads a client's answer to the greeting. caps of the
// answer are as the client sent them; the caller keeps only those it offered.
// A client older than 4.1 is an error. The returned value shares no memory with
// payload.
func ParseHandshakeResponse(payload []byte) (*HandshakeResponse, error) {
	if len(payload) < responseHeader {
		return nil, malformed("handshake response too short")
	}
	r := &HandshakeResponse{
		Caps:      Capability(binary.LittleEndian.Uint32(payload)),
		MaxPacket: binary.LittleEndian.Uint32(payload[4:]),
		Collation: uint16(payload[8]),
	}
	if !r.Caps.Has(CapProtocol41) {
		return nil, malformed("client older than 4.1")
	}
	user, n, ok := readNul(payload[responseHeader:])
	if !ok {
		return nil, malformed("handshake response user")
	}
	r.User = string(user)
	rest := payload[responseHeader+n:]
	auth, n, ok := readAuth(rest, r.Caps)
	if !ok {
		return nil, malformed("handshake response authentication")
	}
	r.Auth = append(r.Auth, auth...)
	return r, r.parseTail(rest[n:])
}

func (r *HandshakeResponse) parseTail(rest []byte) error {
	if r.Caps.Has(CapConnectWithDB) {
		db, n := readNulOrRest(rest)
		r.Database, rest = string(db), rest[n:]
	}
	if r.Caps.Has(CapPluginAuth) {
		plugin, n := readNulOrRest(rest)
		r.AuthPlugin, rest = string(plugin), rest[n:]
	}
	if r.Caps.Has(CapConnectAttrs) && len(rest) > 0 {
		attrs, n, err := readAttrs(rest)
		if err != nil {
			return err
		}
		r.Attrs, rest = attrs, rest[n:]
	}
	if r.Caps.Has(CapZstd) && len(rest) > 0 {
		r.ZstdLevel = rest[0]
	}
	return nil
}

// readAuth reads an authentication answer: string<lenenc>, one byte of length,
// or for clients without SECURE_CONNECTION a string<NUL>.
func readAuth(b []byte, caps Capability) (auth []byte, n int, ok bool) {
	if caps.Has(CapPluginAuthLenEnc) {
		return ReadLenEncBytes(b)
	}
	if caps.Has(CapSecureConnection) {
		return readByteLen(b)
	}
	return readNul(b)
}

func readByteLen(b []byte) (s []byte, n int, ok bool) {
	if len(b) == 0 || int(b[0]) > len(b)-1 {
		return nil, 0, false
	}
	end := 1 + int(b[0])
	return b[1:end:end], end, true
}
