package wire

import "strings"

// Capability is the set of capability flags (32 bits) that each side names in
// the handshake; what both name is what is spoken.
// Specification: group__group__cs__capabilities__flags.
type Capability uint32

// The flags by their bit. Bits that no supported peer uses are left out.
const (
	CapLongPassword     Capability = 1 << 0
	CapFoundRows        Capability = 1 << 1
	CapLongFlag         Capability = 1 << 2
	CapConnectWithDB    Capability = 1 << 3
	CapNoSchema         Capability = 1 << 4
	CapCompress         Capability = 1 << 5
	CapODBC             Capability = 1 << 6
	CapLocalFiles       Capability = 1 << 7
	CapIgnoreSpace      Capability = 1 << 8
	CapProtocol41       Capability = 1 << 9
	CapInteractive      Capability = 1 << 10
	CapSSL              Capability = 1 << 11
	CapIgnoreSigpipe    Capability = 1 << 12
	CapTransactions     Capability = 1 << 13
	CapReserved         Capability = 1 << 14
	CapSecureConnection Capability = 1 << 15
	CapMultiStatements  Capability = 1 << 16
	CapMultiResults     Capability = 1 << 17
	CapPSMultiResults   Capability = 1 << 18
	CapPluginAuth       Capability = 1 << 19
	CapConnectAttrs     Capability = 1 << 20
	CapPluginAuthLenEnc Capability = 1 << 21
	CapExpiredPasswords Capability = 1 << 22
	CapSessionTrack     Capability = 1 << 23
	CapDeprecateEOF     Capability = 1 << 24
	CapOptionalMetadata Capability = 1 << 25
	CapZstd             Capability = 1 << 26
	CapQueryAttributes  Capability = 1 << 27
	CapMultiFactor      Capability = 1 << 28
)

var capabilityNames = [32]string{
	0: "LONG_PASSWORD", 1: "FOUND_ROWS", 2: "LONG_FLAG", 3: "CONNECT_WITH_DB",
	4: "NO_SCHEMA", 5: "COMPRESS", 6: "ODBC", 7: "LOCAL_FILES", 8: "IGNORE_SPACE",
	9: "PROTOCOL_41", 10: "INTERACTIVE", 11: "SSL", 12: "IGNORE_SIGPIPE",
	13: "TRANSACTIONS", 14: "RESERVED", 15: "SECURE_CONNECTION",
	16: "MULTI_STATEMENTS", 17: "MULTI_RESULTS", 18: "PS_MULTI_RESULTS",
	19: "PLUGIN_AUTH", 20: "CONNECT_ATTRS", 21: "PLUGIN_AUTH_LENENC_CLIENT_DATA",
	22: "CAN_HANDLE_EXPIRED_PASSWORDS", 23: "SESSION_TRACK", 24: "DEPRECATE_EOF",
	25: "OPTIONAL_RESULTSET_METADATA", 26: "ZSTD_COMPRESSION_ALGORITHM",
	27: "QUERY_ATTRIBUTES", 28: "MULTI_FACTOR_AUTHENTICATION",
	29: "CAPABILITY_EXTENSION", 30: "SSL_VERIFY_SERVER_CERT", 31: "REMEMBER_OPTIONS",
}

// Has reports whether every flag of want is set.
func (c Capability) Has(want Capability) bool { return c&want == want }

// String lists the names of the flags with '|', lowest bit first.
func (c Capability) String() string {
	var names []string
	for bit, name := range capabilityNames {
		if c&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}
