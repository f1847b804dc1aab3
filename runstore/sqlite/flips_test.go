package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/pages"
	"github.com/apkgate/apkgate/runstore/sqlite/salvage"
)

// damageable creates a history of n runs on five phones, with levels, rejections and records of
// several pages.
func damageable(t *testing.T, path string, n int) {
	t.Helper()
	s := openTest(t, path)
	random := rand.New(rand.NewPCG(3, 5))
	var runs []run.Run
	ids := map[runstore.State][]string{}
	for i := range n {
		r := writtenRun(fmt.Sprintf("run-%04d", i))
		r.Started = r.Started.Add(time.Duration(i) * time.Minute)
		r.Scenario, r.Session, r.Source.Commit = []string{"open-message", "scroll"}[i%2], fmt.Sprint("session ", i/4), fmt.Sprintf("%040x", i/4)
		r.Context = map[string]string{"model": fmt.Sprint("phone ", i%5), "sdk": fmt.Sprint(9 + i%3)}
		if i%6 == 5 {
			r.ANRs = []run.ANR{{Kind: run.ANRInput, Process: fmt.Sprint("process ", i), Repetition: 1, Threads: []run.ANRThread{{Name: "main", Stack: []string{"a.b(C.java:1)"}}}}}
		}
		r.Iterations = nil
		for range 3 {
			it := run.Iteration{Metrics: map[string]float64{"frames.count": 600, "frames.duration_ms": 8 + random.Float64()}}
			for range random.IntN(10) * (1 + i%10/9*60) { // a tenth of the records takes several pages
				it.Frames = append(it.Frames, run.Frame{DurationMS: 8 + random.Float64()})
			}
			r.Iterations = append(r.Iterations, it)
		}
		runs = append(runs, r)
		state := runstore.Accepted
		if i%10 == 9 {
			state = runstore.Rejected
		}
		if i%10 != 8 {
			ids[state] = append(ids[state], r.ID)
		}
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	for _, m := range []runstore.Mark{{State: runstore.Accepted, Note: "nightly"}, {State: runstore.Rejected, Note: "a hot phone"}} {
		if err := s.Mark(t.Context(), ids[m.State], m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Mark(t.Context(), []string{runs[n/4*2].ID}, runstore.Mark{State: runstore.Rebaselined}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// questions returns queries of a history, each of another context and scenario.
func questions() (out []runstore.Query) {
	for i, scenario := range []string{"open-message", "scroll"} {
		out = append(out, runstore.Query{
			Package: "org.example.mail", Scenario: scenario, Centre: []run.Centre{run.Median, run.Mean}[i],
			Context: map[string]string{"model": fmt.Sprint("phone ", i), "sdk": "10"},
		})
	}
	return out
}

// answers are the answers of a history. noticed is the damage that it reports.
type answers struct {
	references [][]run.Summary
	anrs       []runstore.ANRRun
	entries    map[string]runstore.Entry
	listed     []string // ids and states
	noticed    []string
}

func askAll(t *testing.T, s *Store) (a answers, err error) {
	t.Helper()
	for _, q := range questions() {
		found, err := s.References(t.Context(), q)
		var incomplete *runstore.Incomplete
		switch {
		case errors.As(err, &incomplete):
			a.noticed = append(a.noticed, err.Error())
			found = nil
		case err != nil:
			return a, err
		}
		a.references = append(a.references, found)
	}
	a.anrs, err = s.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
	var incomplete *runstore.Incomplete
	switch {
	case errors.As(err, &incomplete):
		a.noticed = append(a.noticed, err.Error())
		a.anrs = nil
	case err != nil:
		return a, err
	}
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		var damaged *runstore.DamagedRun
		switch {
		case errors.As(err, &damaged):
			a.noticed = append(a.noticed, err.Error())
		case err != nil:
			return a, err
		default:
			a.listed = append(a.listed, e.Run.ID+" "+string(e.Mark.State))
		}
	}
	a.entries = map[string]runstore.Entry{}
	for e, err := range s.Export(t.Context(), runstore.Filter{}) {
		var damaged *runstore.DamagedRun
		switch {
		case errors.As(err, &damaged):
			a.noticed = append(a.noticed, err.Error())
		case err != nil:
			return a, err
		default:
			a.entries[e.Run.ID] = e
		}
	}
	return a, nil
}

// touched returns the runs whose record contains a byte of the file, and those on a page whose own
// bytes contain it.
func touched(src *pages.File, at int64) (record string, onPage []string) {
	reader := pages.Reader{Pages: src, Usable: int(src.Bytes)}
	found := salvage.Of(src, int(src.Bytes))
	n := uint32(at/src.Bytes) + 1
	flipped := &flippedPages{File: src, n: n, at: int(at % src.Bytes)}
	for _, f := range found.ByNumber {
		page := slices.Clone(src.Page(f.Page))
		whole, err := reader.Row(f.Page, page, pages.TableLeaf, f.Cell, run.MaxBytes)
		if err != nil {
			continue
		}
		other, err := pages.Reader{Pages: flipped, Usable: int(src.Bytes)}.Row(f.Page, slices.Clone(flipped.Page(f.Page)), pages.TableLeaf, f.Cell, run.MaxBytes)
		switch {
		case err == nil && string(other.Values[len(other.Values)-1].Data) != string(whole.Values[1].Data):
			record = f.ID()
		case f.Page == n:
			onPage = append(onPage, f.ID())
		}
	}
	return record, onPage
}

// flippedPages are pages with one changed byte.
type flippedPages struct {
	*pages.File
	n  uint32
	at int
}

func (p *flippedPages) Page(n uint32) []byte {
	page := slices.Clone(p.File.Page(n))
	if n == p.n && p.at < len(page) {
		page[p.at] ^= 0x55
	}
	return page
}

// Single bits of a history are flipped. Except in the words of a note, every answer is unchanged or
// comes with a report of the damage, no run is changed, and every run is saved whose record the bit
// did not hit. APKGATE_FULL=1 flips 1,000 in a history of 1,000 runs.
func TestNoFlipMisleads(t *testing.T) {
	t.Parallel()
	runs, flips := 60, 60
	if os.Getenv("APKGATE_FULL") != "" {
		runs, flips = 1000, 1000
	}
	path := filepath.Join(t.TempDir(), "history.db")
	damageable(t, path, runs)
	s := openTest(t, path)
	want, err := askAll(t, s)
	if err != nil || len(want.noticed) > 0 || len(want.entries) != runs {
		t.Fatalf("the sound history: %d runs, %v, %v", len(want.entries), want.noticed, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(flips), 21))
	type flip struct {
		at  int
		bit byte
	}
	const workers = 4
	var of [workers][]flip
	for i := range flips {
		of[i%workers] = append(of[i%workers], flip{random.IntN(len(sound)), 1 << random.IntN(8)})
	}
	var mu sync.Mutex
	var total flipCount
	for _, some := range of {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			var count flipCount
			for _, f := range some {
				damaged := filepath.Join(t.TempDir(), "history.db")
				broken := slices.Clone(sound)
				broken[f.at] ^= f.bit
				if err := os.WriteFile(damaged, broken, 0o644); err != nil {
					t.Fatal(err)
				}
				got, opened := afterFlip(t, damaged)
				if !opened {
					count.unopened++
				}
				what := fmt.Sprintf("byte %d, bit %#x", f.at, f.bit)
				count.judge(t, what, got, want, func() (string, []string) { return touchedIn(t, path, int64(f.at)) })
				if err := os.Remove(damaged); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(count)
		})
	}
	t.Cleanup(func() {
		t.Logf("%d runs, %d flips in %d bytes: %d changed nothing, %d were noticed (%d files could not be opened and were repaired); %d runs lost whose record was hit, %d on a page whose own bytes were",
			runs, flips, len(sound), total.harmless, total.noticed, total.unopened, total.lost, total.structural)
	})
}

// flipCount counts the effects of flips.
type flipCount struct {
	harmless, noticed, unopened, lost, structural int
}

func (c *flipCount) add(o flipCount) {
	c.harmless, c.noticed, c.unopened = c.harmless+o.harmless, c.noticed+o.noticed, c.unopened+o.unopened
	c.lost, c.structural = c.lost+o.lost, c.structural+o.structural
}

// judge compares the answers of a history before and after a flip. touched returns the run whose
// record was hit, and those on a page whose own bytes were.
func (c *flipCount) judge(t *testing.T, what string, got, want answers, touched func() (string, []string)) {
	t.Helper()
	said := len(got.noticed) > 0
	for i, refs := range got.references {
		if refs != nil && !cmp.Equal(refs, want.references[i], cmp.AllowUnexported(run.Cells{})) {
			t.Errorf("%s: question %d has another answer, and nothing is said", what, i)
		}
	}
	if got.anrs != nil && !cmp.Equal(got.anrs, want.anrs) {
		t.Errorf("%s: the ANRs are others, and nothing is said", what)
	}
	if !said && !slices.Equal(got.listed, want.listed) {
		t.Errorf("%s: the list is another, and nothing is said", what)
	}
	var lost []string
	for id, e := range want.entries {
		switch other, there := got.entries[id]; {
		case !there:
			lost = append(lost, id)
		case !reflect.DeepEqual(e.Run, other.Run):
			t.Errorf("%s: run %s is not what it was", what, id)
		case !said && (e.Mark.State != other.Mark.State || !e.Mark.At.Equal(other.Mark.At) || !e.Mark.Since.Equal(other.Mark.Since)):
			t.Errorf("%s: run %s is marked %+v, want %+v, and nothing is said", what, id, other.Mark, e.Mark)
		}
	}
	if len(got.entries)+len(lost) > len(want.entries) {
		t.Errorf("%s: there are runs that nobody has added", what)
	}
	if said {
		c.noticed++
	} else if c.harmless++; len(lost) > 0 {
		t.Errorf("%s: %q are lost, and nothing is said", what, lost)
	}
	if len(lost) == 0 {
		return
	}
	record, onPage := touched()
	for _, id := range lost {
		switch {
		case id == record:
			c.lost++
		case slices.Contains(onPage, id):
			c.structural++
		default:
			t.Errorf("%s: run %s is lost, which it did not hit: %q", what, id, got.noticed)
		}
	}
}

// afterFlip queries a damaged history; one that can't be opened is repaired first.
func afterFlip(t *testing.T, path string) (got answers, opened bool) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err == nil {
		got, err = askAll(t, s)
		_ = s.Close() // of a damaged file
		if err == nil {
			return got, true
		}
	}
	done, failed := Repair(t.Context(), path, Options{})
	if failed != nil {
		t.Errorf("%v, and then repair: %v", err, failed)
		return got, false
	}
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatalf("after the repair: %v", err)
	}
	defer s.Close()
	if got, err = askAll(t, s); err != nil || len(got.noticed) > 0 {
		t.Errorf("the repaired history: %q, %v", got.noticed, err)
	}
	for _, d := range done.Found {
		got.noticed = append(got.noticed, d.String())
	}
	got.references, got.anrs = nil, nil // of the rest; the damage was reported
	return got, false
}

func touchedIn(t *testing.T, path string, at int64) (record string, onPage []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := pages.In(f)
	if err != nil {
		t.Fatal(err)
	}
	return touched(src, at)
}

// Damage in the file's header is rejected when the file is opened, or reported; repair saves every
// run of the file with its mark.
func TestRepairWithoutAHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	damageable(t, path, 20)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := askAll(t, openTest(t, path))
	if err != nil {
		t.Fatal(err)
	}
	for what, at := range map[string]int{ // SQLite's "Database File Format", section 1.3
		"magic": 3, "page size": 16, "reserved bytes": 20, "schema format": 47, "application id": 70, "version": 62,
		"first page's kind": 100, "number of tables": 104, "text of the schema": 4000,
	} {
		broken := slices.Clone(sound)
		broken[at] ^= 0x40
		damaged := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(damaged, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		got, _ := afterFlip(t, damaged)
		if len(got.noticed) == 0 {
			t.Errorf("%s: nothing is said", what)
		}
		for id, e := range want.entries {
			if other, there := got.entries[id]; !there || !reflect.DeepEqual(e.Run, other.Run) || other.Mark != e.Mark {
				t.Errorf("%s: run %s is saved %v, marked %+v, want %+v", what, id, there, other.Mark, e.Mark)
			}
		}
		if done, err := Repair(t.Context(), damaged, Options{}); err != nil && len(got.noticed) > 0 {
			t.Errorf("%s: repair: %v", what, err)
		} else if kept, err := askAll(t, openTest(t, damaged)); err != nil || len(kept.entries) != len(want.entries) || len(kept.noticed) > 0 {
			t.Errorf("%s: after the repair (%+v): %d runs, %q, %v", what, done, len(kept.entries), kept.noticed, err)
		}
	}
}
