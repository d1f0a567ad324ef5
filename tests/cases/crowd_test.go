package cases

import (
	"fmt"
	"regexp"
	"strings"
)

// A script runs through Causeway with one connection to each node, so a
// session that keeps its connection must not go silent while another one needs
// it. Which sessions keep theirs is seen in what MySQL answers.

// crowded finds steps of a script that need the source while another session
// has a transaction there: they could only wait until they fail.
func crowded(script []step, got []seen) []string {
	var list []string
	holder := ""
	for i, s := range script {
		switch {
		case outside(s.session):
		case holder != "" && holder != s.session && needsSource(s):
			list = append(list, fmt.Sprintf("step %d, %s: %s\n    needs the source, where session %s has a transaction", i+1, s.session, s.name, holder))
		case inTransaction(s, got[i]):
			holder = s.session
		case holder == s.session:
			holder = ""
		}
	}
	return list
}

// outside tells whether a session does not go through Causeway.
func outside(session string) bool { return session == "x" || session == "root" }

var (
	sourceWords = regexp.MustCompile(`(?i)\b(insert|update|delete|replace|load|call|writes|create|drop|alter|xa|lock|get_lock|handler)\b`)
	// begins are statements that need no connection yet.
	begins   = regexp.MustCompile(`(?i)^(begin|start transaction( read (only|write))?|set [^;]*|select 1|commit and chain)$`)
	lastLine = regexp.MustCompile(`warnings=(\d+) status=([0-9a-f]{4}) [^\n]*\n$`)
)

func needsSource(s step) bool {
	return s.node == "source" || sourceWords.MatchString(s.name) && !strings.HasPrefix(s.name, `\`)
}

func inTransaction(s step, got seen) bool {
	m := lastLine.FindStringSubmatch(got.full)
	return m != nil && strings.Contains("13579bdf", m[2][3:]) && !begins.MatchString(s.name)
}

// leftDiagnostics tells whether a step left errors or warnings: its session
// may ask for them, so it may keep its connection until its next statement.
func leftDiagnostics(got seen) bool {
	m := lastLine.FindStringSubmatch(got.full)
	return strings.HasPrefix(got.short, "ERR") || m != nil && m[1] != "0"
}

// letGo has every session but the one whose turn it is say something that
// leaves nothing behind, if its last statement left errors or warnings.
func (p *player) letGo(turn string) {
	for session := range p.noisy {
		if c := p.clients[session]; c != nil && session != turn && p.noisy[session] {
			_, _ = c.Query("DO 0") // an error here shows in the session's next step
			p.noisy[session] = false
		}
	}
}
