package gitbranch_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
)

// TestManyWritersLoseNothing has jobs, each with a copy of its own, add runs to one branch at the
// same time: twelve with fifty each where APKGATE_FULL is set, else five with ten.
func TestManyWritersLoseNothing(t *testing.T) {
	writers, each, batch := 5, 10, 5
	if os.Getenv("APKGATE_FULL") != "" {
		writers, each, batch = 12, 50, 25
	}
	remote := newRemote(t)
	var want []string
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t, remote)
		for i := range each {
			want = append(want, fmt.Sprintf("run-%02d-%02d accepted", w, i))
		}
		wg.Go(func() {
			for i := 0; i < each; i += batch {
				var runs []run.Run
				for j := i; j < i+batch; j++ {
					runs = append(runs, newRun(fmt.Sprintf("run-%02d-%02d", w, j), float64(w*each+j)))
				}
				added, err := s.Add(t.Context(), runs...)
				if err != nil || len(added) != batch {
					t.Errorf("writer %d: %d added, %v", w, len(added), err)
					return
				}
				if i+batch == each { // marks go the same way as runs, one push is enough here
					var names []string
					for j := range each {
						names = append(names, fmt.Sprintf("run-%02d-%02d", w, j))
					}
					if err := s.Mark(t.Context(), names, runstore.Mark{State: runstore.Accepted}); err != nil {
						t.Errorf("writer %d: %v", w, err)
					}
				}
			}
		})
	}
	wg.Wait()
	s := open(t, remote)
	got := ids(t, s)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d runs are there, want %d, each once and accepted", len(got), len(want))
	}
	wantWhole(t, s)
}

func wantWhole(t *testing.T, s runstore.Store) {
	t.Helper()
	damage, err := s.Verify(t.Context())
	if err != nil || len(damage) > 0 {
		t.Errorf("Verify: %v, %v", damage, err)
	}
}

// One writer has old state while another prunes and compacts the branch.
func TestWriterMeetsRewrittenBranch(t *testing.T) {
	remote := newRemote(t)
	a, b := open(t, remote), open(t, remote)
	ctx := t.Context()
	for i := range 4 {
		r := newRun(fmt.Sprint("old-", i), float64(i))
		r.Started = r.Started.AddDate(0, 0, i)
		if _, err := a.Add(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Mark(ctx, []string{"old-2", "old-3"}, runstore.Mark{State: runstore.Accepted, Note: "nightly"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Prune(ctx, runstore.Retention{Keep: 1}, nil); n != 2 || err != nil {
		t.Fatalf("%d pruned, %v, want old-0 and old-2", n, err)
	}
	if got := git(t, remote, "rev-list", "--count", "history"); got != "1" {
		t.Errorf("the branch has %s commits after a prune, want 1", got)
	}
	// b still has all four, and does not know of the prune.
	added, err := b.Add(ctx, newRun("new", 9), newRun("old-0", 0))
	if err != nil || !slices.Equal(added, []string{"new", "old-0"}) {
		t.Errorf("after the prune, b added %v, %v", added, err)
	}
	want := []string{"old-3 accepted", "old-1 ", "old-0 ", "new "}
	if err := a.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*gitbranch.Store{"a": a, "b": b, "a fresh copy": open(t, remote)} {
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, s); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", name, got, want)
		}
		wantWhole(t, s)
	}
	e, err := b.Get(ctx, "old-3")
	if err != nil || e.Mark.Note != "nightly" {
		t.Errorf("the mark after a rewrite is %+v, %v", e.Mark, err)
	}
}

// A stale copy queries the branch before it reports that there is nothing to do, or no such run.
func TestStaleCopyLooksAgain(t *testing.T) {
	remote := newRemote(t)
	a, b := open(t, remote), open(t, remote)
	older, newer := newRun("older", 1), newRun("newer", 2)
	newer.Started = newer.Started.AddDate(0, 0, 1)
	if _, err := a.Add(t.Context(), older, newer); err != nil {
		t.Fatal(err)
	}
	if err := b.Mark(t.Context(), []string{"newer"}, runstore.Mark{State: runstore.Rejected}); err != nil {
		t.Errorf("marking a run that another copy has added: %v", err)
	}
	if _, err := b.Prune(t.Context(), runstore.Retention{Keep: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if added, err := a.Add(t.Context(), older); err != nil || !slices.Equal(added, []string{"older"}) {
		t.Errorf("adding a run that another copy has pruned: %q, %v", added, err)
	}
}

// A copy follows a branch that was removed.
func TestBranchIsDeleted(t *testing.T) {
	remote := newRemote(t)
	s := open(t, remote)
	if _, err := s.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	git(t, remote, "update-ref", "-d", "refs/heads/history")
	if _, err := s.Add(t.Context(), newRun("b", 2)); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, s); !slices.Equal(got, []string{"b "}) {
		t.Errorf("the list is %q, want b alone", got)
	}
	wantWhole(t, s)
}

// Two stores of one machine share one local copy.
func TestCopyIsShared(t *testing.T) {
	remote, dir := newRemote(t), t.TempDir()
	a, b := openIn(t, dir, remote), openIn(t, dir, remote)
	var wg sync.WaitGroup
	for name, s := range map[string]*gitbranch.Store{"a": a, "b": b} {
		wg.Go(func() {
			for i := range 5 {
				if _, err := s.Add(t.Context(), newRun(fmt.Sprint(name, i), float64(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(ids(t, a)); n != 10 { // equal content under other names is another run
		t.Errorf("%d runs, want 10", n)
	}
	wantWhole(t, a)
	wantWhole(t, b)
}
