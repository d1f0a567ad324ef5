package wire

import "encoding/binary"

// ChangeUser is COM_CHANGE_USER.
// Specification: page_protocol_com_change_user.
type ChangeUser struct {
	User       string
	Auth       []byte
	Database   string
	Collation  uint16 // 0: not sent; both bytes travel here
	AuthPlugin string
	Attrs      map[string]string
}

// Append appends the payload with its command byte.
func (u *ChangeUser) Append(b []byte, caps Capability) []byte {
	b = appendNul(append(b, byte(ComChangeUser)), u.User)
	b = appendAuthByteLen(b, u.Auth)
	b = appendNul(b, u.Database)
	b = binary.LittleEndian.AppendUint16(b, u.Collation)
	if caps.Has(CapPluginAuth) {
		b = appendNul(b, u.AuthPlugin)
	}
	if caps.Has(CapConnectAttrs) {
		b = appendAttrs(b, u.Attrs)
	}
	return b
}

// ParseChangeUser reads a COM_CHANGE_USER, command byte included, of a client
// that negotiated caps. Its authentication answer has one byte of length even
// with PLUGIN_AUTH_LENENC_CLIENT_DATA, unlike in the handshake (the server's
// parse_com_change_user_packet). What follows the schema may be missing. The
// returned value shares no memory with payload.
func ParseChangeUser(payload []byte, caps Capability) (*ChangeUser, error) {
	if len(payload) == 0 || Command(payload[0]) != ComChangeUser {
		return nil, malformed("COM_CHANGE_USER")
	}
	user, n, ok := readNul(payload[1:])
	if !ok {
		return nil, malformed("COM_CHANGE_USER user")
	}
	u := &ChangeUser{User: string(user)}
	rest := payload[1+n:]
	var auth []byte
	if caps.Has(CapSecureConnection) {
		auth, n, ok = readByteLen(rest)
	} else {
		auth, n, ok = readNul(rest)
	}
	if !ok {
		return nil, malformed("COM_CHANGE_USER authentication")
	}
	u.Auth = append(u.Auth, auth...)
	rest = rest[n:]
	db, n := readNulOrRest(rest)
	u.Database = string(db)
	return u, u.parseTail(rest[n:], caps)
}

func (u *ChangeUser) parseTail(rest []byte, caps Capability) error {
	if len(rest) < 2 {
		return nil
	}
	u.Collation, rest = binary.LittleEndian.Uint16(rest), rest[2:]
	if caps.Has(CapPluginAuth) {
		plugin, n := readNulOrRest(rest)
		u.AuthPlugin, rest = string(plugin), rest[n:]
	}
	if caps.Has(CapConnectAttrs) && len(rest) > 0 {
		attrs, _, err := readAttrs(rest)
		if err != nil {
			return err
		}
		u.Attrs = attrs
	}
	return nil
}
