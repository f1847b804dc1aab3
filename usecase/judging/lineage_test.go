package judging_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/judging"
)

// Five accepted runs, a minute apart: of main's commits m1 and m2, of m3, which came after the pull
// request had left main, of an unknown commit, and from before.
func TestLineageExcludesOtherCommits(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 40) }
	m1, m2, m3, old := id("1"), id("2"), id("3"), id("0")
	history := clitest.PhoneRuns(5, 1, 0)
	for i, commit := range []string{old, m1, m2[:8], m3, ""} {
		history[i].Source.Commit = commit
	}
	store := memory.New(nil)
	ids, err := store.Add(t.Context(), history...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	since := history[0].Started.Add(time.Second)
	for name, c := range map[string]struct {
		on     judging.Lineage
		want   []string
		warned string
	}{
		"nothing is known":              {judging.Lineage{}, []string{"run0", "run1", "run2", "run3", "run4"}, ""},
		"the merge base alone is known": {judging.Lineage{Commits: []string{m2}}, []string{"run0", "run1", "run2", "run3", "run4"}, ""},
		"all commits before are known":  {judging.Lineage{Commits: []string{m2, m1, old}, Whole: true}, []string{"run0", "run1", "run2", "run4"}, "1 accepted run is of a commit outside this build's history (the newest: 3333333333) and is left out"},
		"some of them are":              {judging.Lineage{Commits: []string{m2, m1}, Since: since}, []string{"run0", "run1", "run2", "run4"}, "1 accepted run is"},
		"all, and one is none of them":  {judging.Lineage{Commits: []string{m2, m1}, Whole: true}, []string{"run1", "run2", "run4"}, "2 accepted runs are of commits outside this build's history (the newest: 3333333333) and are left out"},
		"a shallow clone":               {judging.Lineage{Commits: []string{m2}, Whole: true, Shallow: true}, []string{"run0", "run1", "run2", "run3", "run4"}, "3 accepted runs are of commits that this shallow clone does not have"},
		"a commit that is cut short":    {judging.Lineage{Commits: []string{"2222", m1[:7]}, Whole: true}, []string{"run1", "run4"}, "3 accepted runs"},
	} {
		set := defaultSettings()
		past := judging.OfStore(t.Context(), runstore.SoundOf(store), set, c.on)
		now := clitest.PhoneRun(9, 1, 0)
		refs, err := past.Like(now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range refs {
			got = append(got, r.ID)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q judge, want %q", name, got, c.want)
		}
		in, err := judging.Judge(clitest.PhoneRuns(1, 1, 0)[:0], past, set)
		if err != nil {
			t.Fatal(err)
		}
		warned := ""
		for _, w := range in.Verdict.Warnings {
			if strings.Contains(w.Text, "accepted") {
				warned = w.Text
			}
		}
		if !strings.HasPrefix(warned, c.warned) || (c.warned == "") != (warned == "") {
			t.Errorf("%s: warned of %q, want %q", name, warned, c.warned)
		}
	}
}
