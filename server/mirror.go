package server

import (
	"slices"

	"causeway/backend"
	"causeway/classifier"
)

// mirrorSet repeats SET of user variables on the replica that holds a read-only
// transaction, whose later statements may use them.
func (s *session) mirrorSet(j *job) {
	c := s.readTrx
	if c == nil || j.class.Kind != classifier.Set || !j.class.Is(classifier.SetsUserVars) || j.stmt != nil {
		return
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	err := c.AlignNow(s.state)
	if err == nil {
		if err = c.SendFrame(j.frame); err == nil {
			_, err = c.ReadResult()
		}
	}
	if err != nil {
		s.log.Debug().Err(err).Msg("cannot repeat SET on the replica of a read-only transaction")
		c.Broken = true
	}
}

// followCharset asks for the charset variables after a SET that can have moved
// one which the server does not report: COLLATE in SET NAMES, and the collation
// that follows a charset.
func (s *session) followCharset(c *classifier.Class) {
	if c.Kind == classifier.Set && slices.Contains(c.Names, "character_set_results") && !slices.Contains(c.Names, "character_set_connection") {
		s.state = s.state.WithoutVar(backend.ResultsCollation)
	}
	if c.Kind != classifier.Set || !slices.Contains(c.Names, "character_set_connection") && !slices.Contains(c.Names, "collation_connection") {
		return
	}
	s.keepDiagnostics(s.home) // the server knows of our own question now
	s.bound(s.home)
	defer s.home.SetDeadline(noDeadline)
	row, err := s.home.Query("SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection")
	if err != nil || len(row) != 4 {
		s.home.Broken = true
		return
	}
	for i, name := range []string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"} {
		s.state = s.state.WithVar(name, row[i])
	}
	if slices.Contains(c.Names, "character_set_results") { // SET NAMES
		s.state = s.state.WithVar(backend.ResultsCollation, row[3])
	}
	s.home.SetState(s.state)
}
