package replicamon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// recordVersion is that of the state file's form. Unknown fields are ignored,
// so that an older Causeway reads what a newer one wrote.
const recordVersion = 1

// readRecord reads the state file; one that is not there is a first start. A
// broken one is an error: to go on without would forget who is fenced.
func readRecord(path string) (*record, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &record{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cluster.state_file: %w", err)
	}
	r := &record{}
	if err = json.Unmarshal(data, r); err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("cluster.state_file %s cannot be understood (%w): it tells which deposed sources are fenced;"+
			" make sure that no old source is writable, then remove the file", path, err)
	}
	return r, nil
}

func (r *record) check() error {
	if r.Version < 1 {
		return errors.New("it has no version")
	}
	for _, f := range r.Fences {
		if f.UUID == "" {
			return errors.New("a fence names no server_uuid")
		}
	}
	return nil
}

// writeRecord replaces the state file: after a crash it is the old one or the
// new one, whole.
func writeRecord(path string, r *record) error {
	out := *r
	out.Version = recordVersion
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if all went well
	_, err = tmp.Write(append(data, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in the folder durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// recall takes over what an earlier process knew.
func (s *state) recall(r *record) {
	s.record = r
	if r.Source != "" {
		s.sourceUUID, s.sourceAddr, s.sources = r.Source, r.SourceAddr, []string{r.Source}
	}
}

// openRecord reads the state file, and writes it so that a folder that cannot
// be written to is an error at the start and not at the first failover.
func (m *Monitor) openRecord() error {
	if m.opts.StateFile == "" {
		m.log.Info().Msg("cluster.state_file is not set: fences of deposed sources do not survive a restart of Causeway")
		return nil
	}
	r, err := readRecord(m.opts.StateFile)
	if err != nil {
		return err
	}
	if err := writeRecord(m.opts.StateFile, r); err != nil {
		return fmt.Errorf("cluster.state_file cannot be written: %w", err)
	}
	m.state.recall(r)
	for _, f := range r.Fences {
		m.log.Warn().Str("node", f.Addr).Str("server_uuid", f.UUID).Str("by", f.By).Time("since", f.Since).
			Msg("fenced since an earlier run: a deposed source serves nothing until it replicates from the source")
	}
	return nil
}

// save keeps the record. It runs before the view is published that follows
// from it: no write goes to a new source whose predecessor a crash of Causeway
// would let in again.
func (m *Monitor) save() {
	if m.opts.StateFile == "" {
		return
	}
	if err := writeRecord(m.opts.StateFile, m.state.record); err != nil {
		m.log.Error().Err(err).Str("file", m.opts.StateFile).Msg("the state file cannot be written: fences would not survive a restart of Causeway now")
	}
}
