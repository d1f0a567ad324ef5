package wire

import "fmt"

// Command is the first byte of a client's packet in the command phase.
// Specification: my_command.h, enum_server_command.
type Command byte

// All commands of MySQL 9, those included that Causeway refuses.
const (
	ComSleep            Command = 0x00 // internal to the server
	ComQuit             Command = 0x01
	ComInitDB           Command = 0x02
	ComQuery            Command = 0x03
	ComFieldList        Command = 0x04
	ComCreateDB         Command = 0x05 // gone
	ComDropDB           Command = 0x06 // gone
	ComRefresh          Command = 0x07 // gone in 8.4
	ComShutdown         Command = 0x08 // gone
	ComStatistics       Command = 0x09
	ComProcessInfo      Command = 0x0a // gone in 8.4
	ComConnect          Command = 0x0b // internal
	ComProcessKill      Command = 0x0c // gone in 8.4
	ComDebug            Command = 0x0d
	ComPing             Command = 0x0e
	ComTime             Command = 0x0f // internal
	ComDelayedInsert    Command = 0x10 // internal
	ComChangeUser       Command = 0x11
	ComBinlogDump       Command = 0x12
	ComTableDump        Command = 0x13
	ComConnectOut       Command = 0x14 // internal
	ComRegisterReplica  Command = 0x15
	ComStmtPrepare      Command = 0x16
	ComStmtExecute      Command = 0x17
	ComStmtSendLongData Command = 0x18 // no answer
	ComStmtClose        Command = 0x19 // no answer
	ComStmtReset        Command = 0x1a
	ComSetOption        Command = 0x1b
	ComStmtFetch        Command = 0x1c
	ComDaemon           Command = 0x1d // internal
	ComBinlogDumpGTID   Command = 0x1e
	ComResetConnection  Command = 0x1f
	ComClone            Command = 0x20
	ComSubscribeGroup   Command = 0x21
)

var commandNames = [...]string{
	ComSleep: "COM_SLEEP", ComQuit: "COM_QUIT", ComInitDB: "COM_INIT_DB",
	ComQuery: "COM_QUERY", ComFieldList: "COM_FIELD_LIST", ComCreateDB: "COM_CREATE_DB",
	ComDropDB: "COM_DROP_DB", ComRefresh: "COM_REFRESH", ComShutdown: "COM_SHUTDOWN",
	ComStatistics: "COM_STATISTICS", ComProcessInfo: "COM_PROCESS_INFO",
	ComConnect: "COM_CONNECT", ComProcessKill: "COM_PROCESS_KILL", ComDebug: "COM_DEBUG",
	ComPing: "COM_PING", ComTime: "COM_TIME", ComDelayedInsert: "COM_DELAYED_INSERT",
	ComChangeUser: "COM_CHANGE_USER", ComBinlogDump: "COM_BINLOG_DUMP",
	ComTableDump: "COM_TABLE_DUMP", ComConnectOut: "COM_CONNECT_OUT",
	ComRegisterReplica: "COM_REGISTER_SLAVE", ComStmtPrepare: "COM_STMT_PREPARE",
	ComStmtExecute: "COM_STMT_EXECUTE", ComStmtSendLongData: "COM_STMT_SEND_LONG_DATA",
	ComStmtClose: "COM_STMT_CLOSE", ComStmtReset: "COM_STMT_RESET",
	ComSetOption: "COM_SET_OPTION", ComStmtFetch: "COM_STMT_FETCH", ComDaemon: "COM_DAEMON",
	ComBinlogDumpGTID: "COM_BINLOG_DUMP_GTID", ComResetConnection: "COM_RESET_CONNECTION",
	ComClone: "COM_CLONE", ComSubscribeGroup: "COM_SUBSCRIBE_GROUP_REPLICATION_STREAM",
}

// String is the protocol's own name of the command.
func (c Command) String() string {
	if int(c) < len(commandNames) {
		return commandNames[c]
	}
	return fmt.Sprintf("COM_0x%02x", byte(c))
}
