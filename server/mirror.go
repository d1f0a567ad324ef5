package server

import (
	"errors"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// mirrorSet repeats SET of user variables on the replica that holds a read-only
// transaction, whose later statements may use them.
func (s *session) mirrorSet(j *job) {
	c := s.readTrx
	if c == nil || j.class.Kind != classifier.Set || !j.class.Is(classifier.SetsUserVars) || j.stmt != nil {
		return
	}
	c.Unclean = true // no state tells of them there
	err := s.repeat(c, j)
	failsToo := s.relay.err != nil && errors.As(err, new(*wire.Error))
	if err != nil && !failsToo {
		s.log.Debug().Err(err).Msg("cannot repeat SET on the replica of a read-only transaction")
		c.Broken = true
	}
}

// refusedInReadTrx tries a SET that calls a stored function in the read-only
// transaction on its replica: what the function may do is for the transaction to
// say, though variables are set on the source.
func (s *session) refusedInReadTrx(j *job) *wire.Error {
	c := s.readTrx
	if c == nil || c.Broken || j.class.Kind != classifier.Set || !j.class.Is(classifier.UnknownFunction) || j.stmt != nil || j.want != expectResult {
		return nil
	}
	c.Unclean = true
	var refused *wire.Error
	if errors.As(s.repeat(c, j), &refused) && (refused.Code == wire.ErrOptionPreventsStmt || refused.Code == wire.ErrReadOnlyTransaction) {
		return wire.NewError(wire.ErrReadOnlyTransaction, errReadOnly)
	}
	return nil // any other error the source tells as well
}

// repeat runs a statement on another connection than the one that answers it.
func (s *session) repeat(c *backend.Conn, j *job) error {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	err := c.AlignNow(s.reachable())
	if err == nil {
		if err = c.SendFrame(j.frame); err == nil {
			_, err = c.ReadResult()
		}
	}
	if err != nil && !errors.As(err, new(*wire.Error)) {
		c.Broken = true
	}
	return err
}

// askHome asks the session's connection to the source.
func (s *session) askHome(query string) ([]string, error) { return s.askOn(s.home, query) }

// askOn asks a connection for something between two statements of the client, who
// may still ask for the diagnostics of the first.
func (s *session) askOn(c *backend.Conn, query string) ([]string, error) {
	s.keepDiagnostics(c)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query(query)
	if err != nil {
		c.Broken = true
	}
	return row, err
}

// followCharset asks for the charset variables after a SET that can have moved
// one which the server does not report: COLLATE in SET NAMES, the collation that
// follows a charset, and how results are described from now on.
func (s *session) followCharset(on *backend.Conn, c *classifier.Class) {
	if c.Kind != classifier.Set || !slices.ContainsFunc(c.Names, isCharset) {
		return
	}
	row, err := s.askOn(on, "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, USER()")
	if err != nil || len(row) != 5 {
		on.Broken = true
		return
	}
	for i, name := range []string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"} {
		s.state = s.state.WithVar(name, row[i])
	}
	if slices.Contains(c.Names, "character_set_results") {
		s.state = s.state.WithoutVar(backend.ResultsCollation)
		if slices.Contains(c.Names, "collation_connection") && strings.Contains(strings.ToLower(c.Digest), "names") {
			s.state = s.state.WithVar(backend.ResultsCollation, row[3])
		}
	}
	on.SetState(s.state.WithSchema(on.State().Schema))
	s.srv.pools.LearnTextColumns(on, s.state)
}

func isCharset(name string) bool {
	return name == "character_set_results" || name == "character_set_connection" || name == "collation_connection"
}
