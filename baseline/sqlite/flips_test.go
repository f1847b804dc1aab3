package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// damageable makes a history of n runs on five phones, with levels, rejections and
// records that go over several pages.
func damageable(t *testing.T, path string, n int) {
	t.Helper()
	s := openTest(t, path)
	random := rand.New(rand.NewPCG(3, 5))
	var runs []run.Run
	ids := map[baseline.State][]string{}
	for i := range n {
		r := writtenRun(fmt.Sprintf("run-%04d", i))
		r.Started = r.Started.Add(time.Duration(i) * time.Minute)
		r.Scenario, r.Session, r.Source.Commit = []string{"open-message", "scroll"}[i%2], fmt.Sprint("session ", i/4), fmt.Sprintf("%040x", i/4)
		r.Context = map[string]string{"model": fmt.Sprint("phone ", i%5), "sdk": fmt.Sprint(9 + i%3)}
		r.Iterations = nil
		for range 3 {
			it := run.Iteration{Metrics: map[string]float64{"frames.count": 600, "frames.duration_ms": 8 + random.Float64()}}
			for range random.IntN(200) {
				it.Frames = append(it.Frames, run.Frame{DurationMS: 8 + random.Float64()})
			}
			r.Iterations = append(r.Iterations, it)
		}
		runs = append(runs, r)
		state := baseline.Accepted
		if i%10 == 9 {
			state = baseline.Rejected
		}
		if i%10 != 8 {
			ids[state] = append(ids[state], r.ID)
		}
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	for _, m := range []baseline.Mark{{State: baseline.Accepted, Note: "nightly"}, {State: baseline.Rejected, Note: "a hot phone"}} {
		if err := s.Mark(t.Context(), ids[m.State], m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Mark(t.Context(), []string{runs[n/4*2].ID}, baseline.Mark{State: baseline.Rebaselined}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// questions are what is asked of a history, each of another context and scenario.
func questions() (out []baseline.Query) {
	for i, scenario := range []string{"open-message", "scroll"} {
		out = append(out, baseline.Query{
			Package: "org.example.mail", Scenario: scenario, Centre: []run.Centre{run.Median, run.Mean}[i],
			Context: map[string]string{"model": fmt.Sprint("phone ", i), "sdk": "10"},
		})
	}
	return out
}

// answers is what a history says. noticed is what it says is wrong with it.
type answers struct {
	references [][]run.Summary
	entries    map[string]baseline.Entry
	noticed    []string
}

func askAll(t *testing.T, s *Store) (a answers, err error) {
	t.Helper()
	for _, q := range questions() {
		found, err := s.References(t.Context(), q)
		var incomplete *baseline.Incomplete
		switch {
		case errors.As(err, &incomplete):
			a.noticed = append(a.noticed, err.Error())
			found = nil
		case err != nil:
			return a, err
		}
		a.references = append(a.references, found)
	}
	a.entries = map[string]baseline.Entry{}
	for e, err := range s.Export(t.Context(), baseline.Filter{}) {
		var damaged *baseline.DamagedRun
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

// touched are the runs whose record a byte of the file belongs to, and those that
// lie on a page whose own bytes it is.
func touched(src *filePages, at int64) (record string, onPage []string) {
	reader := rawReader{src, int(src.bytes)}
	found := salvageOf(src, int(src.bytes))
	n := uint32(at/src.bytes) + 1
	flipped := &flippedPages{filePages: src, n: n, at: int(at % src.bytes)}
	for _, f := range found.runs {
		page := slices.Clone(src.page(f.page))
		whole, err := reader.row(f.page, page, tableLeaf, f.cell, run.MaxBytes)
		if err != nil {
			continue
		}
		other, err := rawReader{flipped, int(src.bytes)}.row(f.page, slices.Clone(flipped.page(f.page)), tableLeaf, f.cell, run.MaxBytes)
		switch {
		case err == nil && string(other.values[len(other.values)-1].data) != string(whole.values[1].data):
			record = f.ids.most()
		case f.page == n:
			onPage = append(onPage, f.ids.most())
		}
	}
	return record, onPage
}

// flippedPages are pages with one byte that is something else.
type flippedPages struct {
	*filePages
	n  uint32
	at int
}

func (p *flippedPages) page(n uint32) []byte {
	page := slices.Clone(p.filePages.page(n))
	if n == p.n && p.at < len(page) {
		page[p.at] ^= 0x55
	}
	return page
}

// TestNoFlipMisleads flips single bits of a history. Whatever they hit, an answer is
// what it was or comes with a word of the damage, no run is another than it was, and
// every run is saved whose record the bit did not hit. APKGATE_FULL=1 flips 1,000 in
// a history of 1,000 runs.
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
	var count struct{ harmless, noticed, unopened, lost, structural int }
	for i := range flips {
		at, bit := random.IntN(len(sound)), byte(1)<<random.IntN(8)
		damaged := filepath.Join(t.TempDir(), "history.db")
		broken := slices.Clone(sound)
		broken[at] ^= bit
		if err := os.WriteFile(damaged, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("flip %d: byte %d, bit %#x", i, at, bit)
		got, opened := afterFlip(t, what, damaged)
		for i, refs := range got.references {
			if refs != nil && !cmp.Equal(refs, want.references[i], cmp.AllowUnexported(run.Cells{})) {
				t.Errorf("%s: question %d has another answer, and nothing is said", what, i)
			}
		}
		var lost []string
		for id, e := range want.entries {
			other, there := got.entries[id]
			switch {
			case !there:
				lost = append(lost, id)
			case !cmp.Equal(e.Run, other.Run):
				t.Errorf("%s: run %s is not what it was", what, id)
			case !cmp.Equal(e.Mark, other.Mark) && len(got.noticed) == 0:
				t.Errorf("%s: run %s is marked %+v, want %+v, and nothing is said", what, id, other.Mark, e.Mark)
			}
		}
		if len(got.entries)+len(lost) > len(want.entries) {
			t.Errorf("%s: there are runs that nobody has added", what)
		}
		switch {
		case len(got.noticed) == 0 && len(lost) > 0:
			t.Errorf("%s: %q are lost, and nothing is said", what, lost)
		case len(got.noticed) == 0:
			count.harmless++
		default:
			count.noticed++
		}
		if !opened {
			count.unopened++
		}
		if len(lost) == 0 {
			continue
		}
		record, onPage := touchedIn(t, path, int64(at))
		for _, id := range lost {
			if id == record {
				count.lost++
			} else if slices.Contains(onPage, id) {
				count.structural++
				t.Logf("%s lost run %s, on a page whose own bytes were hit: %s", what, id, strings.Join(got.noticed, "; "))
			} else {
				t.Errorf("%s: run %s is lost, which it did not hit: %q", what, id, got.noticed)
			}
		}
	}
	t.Logf("%d runs, %d flips in %d bytes: %d changed nothing, %d were noticed (%d files can't be opened and were repaired); %d runs lost whose record was hit, %d beside",
		runs, flips, len(sound), count.harmless, count.noticed, count.unopened, count.lost, count.structural)
}

// afterFlip asks a damaged history; one that can't be opened is repaired first.
func afterFlip(t *testing.T, what, path string) (got answers, opened bool) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err == nil {
		got, err = askAll(t, s)
		if err := s.Close(); err != nil {
			t.Logf("%s: close: %v", what, err)
		}
		if err == nil {
			return got, true
		}
	}
	done, failed := Repair(t.Context(), path, Options{})
	if failed != nil {
		t.Errorf("%s: %v, and then repair: %v", what, err, failed)
		return got, false
	}
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatalf("%s: after the repair: %v", what, err)
	}
	defer s.Close()
	if got, err = askAll(t, s); err != nil || len(got.noticed) > 0 {
		t.Errorf("%s: the repaired history: %q, %v", what, got.noticed, err)
	}
	for _, d := range done.Found {
		got.noticed = append(got.noticed, d.String())
	}
	got.references = nil // of what is left; the damage was told
	return got, false
}

func touchedIn(t *testing.T, path string, at int64) (record string, onPage []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := pagesIn(f)
	if err != nil {
		t.Fatal(err)
	}
	return touched(src, at)
}
