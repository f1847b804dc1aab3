package gitbranch_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// saved returns the runs that the store exports, and its errors for the others.
func saved(t *testing.T, s runstore.Store) (runs map[string]run.Run, told []string) {
	t.Helper()
	runs = map[string]run.Run{}
	for e, err := range s.Export(t.Context(), runstore.Filter{}) {
		var damaged *runstore.DamagedRun
		switch {
		case errors.As(err, &damaged):
			told = append(told, err.Error())
		case err != nil:
			t.Fatalf("export: %v", err)
		default:
			runs[e.Run.ID] = e.Run
		}
	}
	return runs, told
}

// TestDamagedCopyIsMadeAnew flips bits of the local copy. The branch has all runs, so that every
// answer is unchanged.
func TestDamagedCopyIsMadeAnew(t *testing.T) {
	remote, dir := newRemote(t), t.TempDir()
	s := openIn(t, dir, remote)
	var runs []run.Run
	for i := range 6 {
		r := newRun(fmt.Sprint("run-", i), float64(i))
		r.Context = map[string]string{"model": fmt.Sprint(i % 2)}
		runs = append(runs, r)
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"run-0", "run-1", "run-2"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	q := runstore.Query{Package: runs[0].App.Package, Scenario: runs[0].Scenario, Context: runs[0].Context}
	want, _ := saved(t, s)
	wantRefs, err := s.References(t.Context(), q)
	if err != nil || len(wantRefs) != 3 {
		t.Fatalf("%d references, %v", len(wantRefs), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flips := 4
	if os.Getenv("APKGATE_FULL") != "" {
		flips = 200
	}
	random := rand.New(rand.NewPCG(7, 7))
	for i := range flips {
		index, err := filepath.Glob(filepath.Join(dir, "*", "index-*.db"))
		if err != nil || len(index) != 1 {
			t.Fatal(index, err)
		}
		data, err := os.ReadFile(index[0])
		if err != nil {
			t.Fatal(err)
		}
		at := random.IntN(len(data))
		data[at] ^= 1 << random.IntN(8)
		if err := os.WriteFile(index[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openIn(t, dir, remote)
		refs, err := s.References(t.Context(), q)
		if err != nil || !cmp.Equal(refs, wantRefs, cmp.AllowUnexported(run.Cells{})) {
			t.Errorf("flip %d, byte %d: the references are %v, %v", i, at, refs, err)
		}
		if got, told := saved(t, s); !cmp.Equal(got, want) || told != nil {
			t.Errorf("flip %d, byte %d: %d runs are left, and %q is said", i, at, len(got), told)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A digit in a file of the branch is changed. Of its runs those are saved that match their own
// names; all others are too, and every answer reports that something is missing.
func TestDamagedSegmentIsTold(t *testing.T) {
	remote := newRemote(t)
	first := open(t, remote)
	var named []string
	for _, runs := range [][]run.Run{{newRun("", 11), newRun("", 12), newRun("called", 13)}, {newRun("other", 21)}} {
		added, err := first.Add(t.Context(), runs...)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Mark(t.Context(), added, runstore.Mark{State: runstore.Accepted}); err != nil {
			t.Fatal(err)
		}
		named = append(named, added...)
	}
	work := clone(t, remote)
	files, err := filepath.Glob(filepath.Join(work, "runs", "*", "*.zst"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	spoilt := ""
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := zstd.NewReader(nil)
		text, err := z.DecodeAll(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"frames.count":11`) {
			spoilt = filepath.Base(path)
			changed := strings.Replace(string(text), `"frames.count":11`, `"frames.count":19`, 1)
			if err := os.WriteFile(path, packed(t, changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	pushAll(t, work)

	s := open(t, remote)
	got, told := saved(t, s)
	want := []string{named[1], "other"}
	var ids []string
	for id := range got {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, spoilt) }) {
		t.Errorf("%q are saved, want %q; told is %q, want the file %s", ids, want, told, spoilt)
	}
	r := newRun("other", 21)
	refs, err := s.References(t.Context(), runstore.Query{Package: r.App.Package, Scenario: r.Scenario, Context: r.Context})
	var incomplete *runstore.Incomplete
	if len(refs) != 2 || !errors.As(err, &incomplete) {
		t.Errorf("%d references and %v, want the two that are sound, and to be told", len(refs), err)
	}
}

// A copy is rebuilt that lacks what git init had not created when it was killed: it creates refs
// first, then HEAD, config and objects.
func TestAHalfMadeCopyIsMadeAnew(t *testing.T) {
	made := []string{"refs", "HEAD", "config", "objects/pack", "objects/info"}
	for i := range made {
		remote, dir := newRemote(t), t.TempDir()
		s := openIn(t, dir, remote)
		if _, err := s.Add(t.Context(), newRun("before", 1)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		repo, err := filepath.Glob(filepath.Join(dir, "*", "repo.git"))
		if err != nil || len(repo) != 1 {
			t.Fatal(repo, err)
		}
		for _, name := range made[i:] {
			if err := os.RemoveAll(filepath.Join(repo[0], name)); err != nil {
				t.Fatal(err)
			}
		}
		if made[i] == "objects/pack" {
			os.RemoveAll(filepath.Join(repo[0], "objects"))
		}
		again := openIn(t, dir, remote)
		if _, err := again.Add(t.Context(), newRun("after", 2)); err != nil {
			t.Errorf("killed before it made %s: %v", made[i], err)
			continue
		}
		if runs, told := saved(t, again); len(runs) != 2 || len(told) != 0 {
			t.Errorf("killed before it made %s: %d runs, %q", made[i], len(runs), told)
		}
	}
}
