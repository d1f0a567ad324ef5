package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// GeneralLog reads what clients asked one node for, from the node's own
// general query log. The server writes an entry before it executes the
// statement, so whoever has an answer finds its statement here.
type GeneralLog struct {
	node *Node
	path string
	from int64
}

// LogEntry is one entry of the log. Command is the server's word: Query,
// Connect, Prepare, Execute, Init DB, Quit, Reset stmt, ...
type LogEntry struct {
	Thread  uint64
	Command string
	Text    string
}

// LogStatements switches the node's general log on until the test ends. It
// sees what comes after this call.
func (n *Node) LogStatements(t testing.TB) *GeneralLog {
	t.Helper()
	l, stop, err := n.OpenLog(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return l
}

// OpenLog is LogStatements without a test; the function that it returns
// switches the log off.
func (n *Node) OpenLog(ctx context.Context) (*GeneralLog, func(), error) {
	if err := n.Exec(ctx, "SET GLOBAL log_output='FILE', general_log=ON"); err != nil {
		return nil, nil, err
	}
	l := &GeneralLog{node: n, path: filepath.Join(n.Dir, "general.log")}
	if err := l.Skip(); err != nil {
		return nil, nil, err
	}
	return l, func() { _ = n.Exec(context.Background(), "SET GLOBAL general_log=OFF") }, nil
}

// Skip makes Entries start with what comes from now on.
func (l *GeneralLog) Skip() error {
	info, err := os.Stat(l.path)
	if err != nil {
		return fmt.Errorf("general log of %s: %w", l.node.Name, err)
	}
	l.from = info.Size()
	return nil
}

// Entries returns all entries since the log was opened, or since the last Skip.
func (l *GeneralLog) Entries() ([]LogEntry, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, fmt.Errorf("general log of %s: %w", l.node.Name, err)
	}
	defer f.Close()
	if _, err := f.Seek(l.from, io.SeekStart); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return parseGeneralLog(text), nil
}

// An entry starts with a time, the connection's number, the command in letters
// and a tab; a statement may go on over several lines.
var logStart = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)\t +(\d+) ([A-Z][A-Za-z ]*)\t?`)

func parseGeneralLog(text []byte) []LogEntry {
	starts := logStart.FindAllSubmatchIndex(text, -1)
	entries := make([]LogEntry, 0, len(starts))
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		thread, _ := strconv.ParseUint(string(text[s[2]:s[3]]), 10, 64)
		entries = append(entries, LogEntry{
			Thread:  thread,
			Command: string(bytes.TrimSpace(text[s[4]:s[5]])),
			Text:    string(bytes.TrimSuffix(text[s[1]:end], []byte("\n"))),
		})
	}
	return entries
}

// Saw tells whether the node got a statement with exactly this text, by a
// query, a prepare or an execute.
func (l *GeneralLog) Saw(statement string) (bool, error) {
	entries, err := l.Entries()
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Text == statement && (e.Command == "Query" || e.Command == "Prepare" || e.Command == "Execute") {
			return true, nil
		}
	}
	return false, nil
}
