// Package salvage finds what the pages of a damaged history still contain of its runs, whether or
// not the trees of the file lead there.
//
// Contradictions are settled by majority, and a run is sound only where its record matches one of
// the digests. It changes no file.
package salvage

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/pages"
)

// Runs is all that the pages of a damaged file still contain of runs, whether or not its trees lead
// there. Contradictions are settled by majority: an id is in a row and in three indexes, a digest
// in a row and in one, a state in a row, an index and a mark. A run is sound where its record
// matches one of the digests.
type Runs struct {
	reader   pages.Reader
	ByNumber map[int64]*Run // by number
	levels   map[runstore.Subject]string
}

// Run is what was found of one run.
type Run struct {
	number              int64
	ids, starts, states votes
	digests             votes // as the bytes
	added, since        string
	judged              *run.Judged
	marks               []foundMark
	Page                uint32 // of the record; 0 where there is none
	Cell                int
	free                bool // the record is on a free page
}

type foundMark struct {
	number int64
	at     string
	mark   runstore.Mark
}

// votes counts how many places agree.
type votes map[string]int

func (v *votes) add(text string) {
	if *v == nil {
		*v = votes{}
	}
	(*v)[text]++
}

// most returns the value of most places; of equals the first in order.
func (v votes) most() string {
	best := ""
	for text, n := range v {
		if n > v[best] || n == v[best] && text < best {
			best = text
		}
	}
	return best
}

// Of reads all pages once.
func Of(src pages.Source, usable int) *Runs {
	s := &Runs{reader: pages.Reader{Pages: src, Usable: usable}, ByNumber: map[int64]*Run{}}
	free := pages.Free(src, usable)
	for n := uint32(1); n <= src.Size(); n++ {
		page := slices.Clone(src.Page(n)) // a long row reads other pages
		kind, count := s.reader.Rows(n, page)
		for i := range count {
			if row, err := s.reader.Row(n, page, kind, i, run.MaxBytes); err == nil {
				s.take(row, n, i, free[n])
			}
		}
	}
	s.findLevels()
	return s
}

func (s *Runs) run(number int64) *Run {
	f, ok := s.ByNumber[number]
	if !ok {
		f = &Run{number: number}
		s.ByNumber[number] = f
	}
	return f
}

// zstdMagic begins a record (RFC 8878, section 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// digestSize is the length of a SHA-256.
const digestSize = 32

// take classifies a row by its columns. On a free page only a record counts, and only where some
// other page knows its run.
func (s *Runs) take(row pages.Row, page uint32, cell int, free bool) {
	shape := ""
	for _, v := range row.Values {
		_, isInteger := v.Integer()
		switch {
		case v.IsNull():
			shape += "-"
		case isInteger:
			shape += "i"
		case v.IsText():
			shape += "t"
		case v.IsBlob() && len(v.Data) == digestSize:
			shape += "d"
		case v.IsBlob():
			shape += "b"
		default:
			shape += "?"
		}
	}
	text := func(i int) string { return string(row.Values[i].Data) }
	number := func(i int) int64 { n, _ := row.Values[i].Integer(); return n }
	switch isTable := row.Kind == pages.TableLeaf; {
	case isTable && (shape == "-b" || shape == "-d") && strings.HasPrefix(text(1), zstdMagic):
		if f := s.run(row.Number); f.Page == 0 || f.free {
			f.Page, f.Cell, f.free = page, cell, free
		}
	case free:
	case isTable && strings.HasPrefix(shape, "-tdiittttttttittt"):
		f := s.run(row.Number)
		f.ids.add(text(1))
		f.digests.add(text(2))
		f.starts.add(text(5))
		f.added, f.since = text(14), text(16)
		f.states.add(text(15))
		if len(row.Values) >= 20 && row.Values[18].IsText() && row.Values[19].IsText() {
			f.judged, _ = records.JudgedOf(text(18), text(19)) // an unreadable outcome is ignored
		}
	case isTable && (shape == "-itttt" || shape == "-ittttt"):
		s.run(number(1)).takeMark(row, len(shape) == 7)
	case isTable:
	case shape == "ti": // the index of ids
		s.run(number(1)).ids.add(text(0))
	case shape == "di": // runs_digest
		s.run(number(1)).digests.add(text(0))
	case shape == "tti" && isStamp(text(0)): // runs_started
		s.run(number(2)).ids.add(text(1))
		s.run(number(2)).starts.add(text(0))
	case shape == "ttti" && isStamp(text(1)): // runs_state
		s.run(number(3)).states.add(text(0))
		s.run(number(3)).starts.add(text(1))
		s.run(number(3)).ids.add(text(2))
	}
}

func isStamp(s string) bool { _, err := records.ParseStamp(s); return err == nil }

// takeMark adds a row of marks; an invalid one is ignored.
func (f *Run) takeMark(row pages.Row, batch bool) {
	text := func(i int) string { return string(row.Values[i].Data) }
	m := foundMark{number: row.Number, at: text(3), mark: runstore.Mark{State: runstore.State(text(2)), Note: text(5)}}
	if batch {
		m.mark.Batch = text(6)
	}
	var err error
	if m.mark.At, m.mark.Since, err = records.Times(text(3), text(4)); err == nil && m.mark.Check() == nil {
		f.marks = append(f.marks, m)
	}
}

// newest returns the mark that counts, and what is wrong with it.
func (f *Run) newest() (m runstore.Mark, doubt string) {
	if len(f.marks) > 0 {
		m = slices.MaxFunc(f.marks, func(a, b foundMark) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number))
		}).mark
	}
	if f.states[string(m.State)] > 0 || len(f.states) == 0 {
		return m, ""
	}
	lost := runstore.State(f.states.most())
	if !slices.Contains(runstore.States(), lost) {
		return m, ""
	}
	// The mark itself is gone; the list of runs repeats its state.
	own := runstore.Mark{State: lost, At: m.At, Note: "the mark was damaged: its note and time are lost"}
	if own.At.IsZero() {
		own.At, _ = records.ParseStamp(f.added)
	}
	if lost == runstore.Rebaselined {
		own.Since, _ = records.ParseStamp(f.since)
	}
	return own, fmt.Sprintf("its newest mark is lost, and its state %q kept", lost)
}

// ID returns the id in most places.
func (f *Run) ID() string { return f.ids.most() }

// open returns the run with its mark, or what is wrong with it.
func (s *Runs) open(f *Run) (runstore.Entry, error) {
	id := f.ID()
	if f.Page == 0 {
		return runstore.Entry{}, &runstore.DamagedRun{ID: id, Err: records.Damaged(errors.New("its record is missing"))}
	}
	page := slices.Clone(s.reader.Pages.Page(f.Page))
	row, err := s.reader.Row(f.Page, page, pages.TableLeaf, f.Cell, run.MaxBytes)
	if err != nil {
		return runstore.Entry{}, &runstore.DamagedRun{ID: id, Err: records.Damaged(errors.New("its record can't be read"))}
	}
	err = errors.New("its digest is missing")
	for digest := range f.digests {
		var r run.Run
		if r, err = records.Open(id, []byte(digest), row.Values[1].Data); err == nil {
			return s.entry(f, r, []byte(digest)), nil
		}
	}
	return runstore.Entry{}, &runstore.DamagedRun{ID: id, Err: records.Damaged(err)}
}

func (s *Runs) entry(f *Run, r run.Run, digest []byte) runstore.Entry {
	e := runstore.Entry{Run: r, Digest: hex.EncodeToString(digest), Iterations: len(r.Iterations)}
	if e.Run.ID == "" { // every place with it is lost
		e.Run.ID = e.Digest[:16]
	}
	e.AddedAt, _ = records.ParseStamp(f.added)
	e.Run.Judged = f.judged
	e.Mark, _ = f.newest()
	if r.Status != run.Complete && e.Mark.State != runstore.Rejected {
		e.Mark = runstore.Mark{} // no other can be
	}
	e.Retired = records.Stamp(r.Started) < s.levels[runstore.Subject{Package: r.App.Package, Scenario: r.Scenario}]
	return e
}

// findLevels opens the runs that begin a level.
func (s *Runs) findLevels() {
	s.levels = map[runstore.Subject]string{}
	for _, f := range s.ByNumber {
		m, _ := f.newest()
		if m.State != runstore.Rebaselined {
			continue
		}
		if e, err := s.open(f); err == nil {
			of := runstore.Subject{Package: e.Run.App.Package, Scenario: e.Run.Scenario}
			s.levels[of] = max(s.levels[of], records.Stamp(m.Since))
		}
	}
}

// Entries returns the sound runs that match the filter, in the order of their start, and the damage
// among them.
func (s *Runs) Entries(filter runstore.Filter, newestFirst bool) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		list := make([]*Run, 0, len(s.ByNumber))
		for _, f := range s.ByNumber {
			if len(f.ids)+len(f.digests) > 0 {
				list = append(list, f)
			}
		}
		slices.SortFunc(list, func(a, b *Run) int {
			return cmp.Or(cmp.Compare(a.starts.most(), b.starts.most()), cmp.Compare(a.ids.most(), b.ids.most()))
		})
		if newestFirst {
			slices.Reverse(list)
		}
		n := 0
		for _, f := range list {
			m, doubt := f.newest()
			if filter.States != nil && !slices.Contains(filter.States, m.State) ||
				filter.IDs != nil && !slices.Contains(filter.IDs, f.ids.most()) {
				continue
			}
			e, err := s.open(f)
			if err != nil {
				if !yield(runstore.Entry{}, err) {
					return
				}
				continue
			}
			if !filter.Match(e) {
				continue
			}
			if doubt != "" && !yield(runstore.Entry{}, &runstore.DamagedRun{ID: e.Run.ID, Err: records.Damaged(errors.New(doubt))}) {
				return
			}
			if !yield(e, nil) {
				return
			}
			if n++; n == filter.Limit {
				return
			}
		}
	}
}
