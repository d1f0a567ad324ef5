package wire

// The error numbers that Causeway sends by itself or looks for in a server's
// answer, by their names in the server (without ER_).
const (
	ErrTooManyConnections     uint16 = 1040
	ErrBadHandshake           uint16 = 1043
	ErrDBAccessDenied         uint16 = 1044
	ErrAccessDenied           uint16 = 1045
	ErrNoDB                   uint16 = 1046
	ErrUnknownCommand         uint16 = 1047
	ErrBadDB                  uint16 = 1049
	ErrBadField               uint16 = 1054
	ErrServerShutdown         uint16 = 1053
	ErrParse                  uint16 = 1064
	ErrEmptyQuery             uint16 = 1065
	ErrUnknownTable           uint16 = 1109
	ErrNoSuchThread           uint16 = 1094
	ErrNoSuchTable            uint16 = 1146
	ErrNetPacketTooLarge      uint16 = 1153
	ErrPacketsOutOfOrder      uint16 = 1156
	ErrNetUncompress          uint16 = 1157
	ErrNetRead                uint16 = 1158
	ErrNetReadInterrupted     uint16 = 1159
	ErrNetErrorOnWrite        uint16 = 1160
	ErrNetWriteInterrupted    uint16 = 1161
	ErrNewAbortingConnection  uint16 = 1184
	ErrUnknownSystemVariable  uint16 = 1193
	ErrLockWaitTimeout        uint16 = 1205
	ErrWrongArguments         uint16 = 1210
	ErrDeadlock               uint16 = 1213
	ErrTooManyUserConns       uint16 = 1226
	ErrSpecificAccessDenied   uint16 = 1227
	ErrNotSupportedYet        uint16 = 1235
	ErrUnknownStmtHandler     uint16 = 1243
	ErrNotSupportedAuthMode   uint16 = 1251
	ErrOptionPreventsStmt     uint16 = 1290
	ErrUnsupportedPS          uint16 = 1295
	ErrRoutineNotFound        uint16 = 1305
	ErrQueryInterrupted       uint16 = 1317
	ErrWrongValueForVar       uint16 = 1231
	ErrMalformedPacket        uint16 = 1835
	ErrReadOnlyTransaction    uint16 = 1792
	ErrMustChangePassword     uint16 = 1820
	ErrPasswordExpired        uint16 = 1862
	ErrInvalidConditionNumber uint16 = 1758
	ErrServerGone             uint16 = 2006
	ErrServerLost             uint16 = 2013
	ErrNoHandlerActive        uint16 = 3004
	ErrQueryTimeout           uint16 = 3024
	ErrOfflineMode            uint16 = 3032
	ErrSecureTransport        uint16 = 3159
	ErrServerIsntAvailable    uint16 = 3168
	ErrCompressionLevel       uint16 = 3923
	ErrClientTimeout          uint16 = 4031
)

// generalState is the SQLSTATE of every error that has none of its own.
const generalState = "HY000"

// sqlStates holds the SQLSTATE of the numbers above as the server's own table
// has it (sql_state.h / messages_to_clients.txt); a number not named here is
// HY000 there as well, or is not one that Causeway makes up.
var sqlStates = map[uint16]string{
	ErrTooManyConnections:     "08004",
	ErrBadHandshake:           "08S01",
	ErrDBAccessDenied:         "42000",
	ErrAccessDenied:           "28000",
	ErrNoDB:                   "3D000",
	ErrUnknownCommand:         "08S01",
	ErrBadDB:                  "42000",
	ErrServerShutdown:         "08S01",
	ErrBadField:               "42S22",
	ErrParse:                  "42000",
	ErrEmptyQuery:             "42000",
	ErrNoSuchTable:            "42S02",
	ErrNetPacketTooLarge:      "08S01",
	ErrPacketsOutOfOrder:      "08S01",
	ErrNetUncompress:          "08S01",
	ErrNetRead:                "08S01",
	ErrNetReadInterrupted:     "08S01",
	ErrNetErrorOnWrite:        "08S01",
	ErrNetWriteInterrupted:    "08S01",
	ErrNewAbortingConnection:  "08S01",
	ErrDeadlock:               "40001",
	ErrTooManyUserConns:       "42000",
	ErrSpecificAccessDenied:   "42000",
	ErrWrongValueForVar:       "42000",
	ErrNotSupportedYet:        "42000",
	ErrNotSupportedAuthMode:   "08004",
	ErrRoutineNotFound:        "42000",
	ErrQueryInterrupted:       "70100",
	ErrReadOnlyTransaction:    "25006",
	ErrInvalidConditionNumber: "35000",
	ErrNoHandlerActive:        "0Z002",
}

// SQLState is the SQLSTATE that MySQL sends with an error number.
func SQLState(code uint16) string {
	if s, ok := sqlStates[code]; ok {
		return s
	}
	return generalState
}
