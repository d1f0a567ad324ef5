package wire

// Status is the server's status word (16 bits) in OK and EOF packets and in
// the greeting. Specification: mysql_com.h, SERVER_STATUS_flags_enum.
type Status uint16

// The flags of Status.
const (
	StatusInTrans             Status = 0x0001 // a transaction is open
	StatusAutocommit          Status = 0x0002
	StatusMoreResults         Status = 0x0008 // another result of this command follows
	StatusNoGoodIndex         Status = 0x0010
	StatusNoIndex             Status = 0x0020
	StatusCursorExists        Status = 0x0040 // a cursor was opened; rows come by COM_STMT_FETCH
	StatusLastRowSent         Status = 0x0080
	StatusDBDropped           Status = 0x0100
	StatusNoBackslashEscapes  Status = 0x0200
	StatusMetadataChanged     Status = 0x0400
	StatusSlow                Status = 0x0800
	StatusPSOut               Status = 0x1000 // this result set holds OUT parameters
	StatusInTransReadonly     Status = 0x2000
	StatusSessionStateChanged Status = 0x4000 // a session-state block follows in this OK
)

// Has reports whether every flag of want is set.
func (s Status) Has(want Status) bool { return s&want == want }
