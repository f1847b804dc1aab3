package judging_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/settings"
)

func defaultSettings() settings.Settings {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	return settings.Settings{Policy: p, Catalogue: metric.Default()}
}

// The history is queried once for all runs of one app, scenario and context, and each gets the
// answer to its own query.
func TestEachSharesAnswers(t *testing.T) {
	runs := clitest.PhoneRuns(40, 4, 1)
	runs[7].Scenario = "close"
	var mu sync.Mutex
	asked := map[string]int{}
	answer := func(r run.Run) string { return r.Scenario + " on " + r.Context["model"] }
	before := judging.Past{Like: func(r run.Run) ([]run.Summary, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[answer(r)]++
		return []run.Summary{{ID: answer(r)}}, nil
	}}
	got := make([]string, len(runs))
	err := before.Each(runs, defaultSettings(), func(i int, refs []run.Summary) error {
		got[i] = refs[0].ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if got[i] != answer(r) {
			t.Errorf("run %d of %s got the answer for %s", i, answer(r), got[i])
		}
	}
	for question, n := range asked {
		if n != 1 {
			t.Errorf("%s was asked for %d times, want once", question, n)
		}
	}
	if len(asked) != 5 {
		t.Errorf("%d questions, want 4 phones and one other scenario", len(asked))
	}
}

// A history that fits into one answer is read once for all phones, and each gets it in the order
// that the store would have returned.
func TestEachReadsASmallHistoryOnce(t *testing.T) {
	history := clitest.PhoneRuns(60, 6, 1)
	store := &countingStore{Store: memory.New(nil)}
	ids, err := store.Add(t.Context(), history...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	set := defaultSettings()
	before := judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{})
	for phone := range 6 {
		r := clitest.PhoneRun(100+phone, 6, 1)
		got, err := before.Like(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := store.Store.References(t.Context(), judging.Query(r, set))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("phone %d (-store +got):\n%s", phone, diff)
		}
	}
	if store.asked != 1 {
		t.Errorf("the store was asked %d times, want once", store.asked)
	}
}

// A truncated answer, or one limited to a build's ancestors, is not shared: each phone queries its
// own.
func TestEachDoesNotShareIncompleteAnswers(t *testing.T) {
	ten := make([]run.Summary, 10)
	many := make([]run.Summary, runstore.DefaultLimit)
	for name, c := range map[string]struct {
		answer []run.Summary
		on     judging.Lineage
		asked  int
	}{
		"whole":            {ten, judging.Lineage{}, 1},
		"cut short":        {many, judging.Lineage{}, 3},
		"of some commits":  {ten, judging.Lineage{Commits: []string{strings.Repeat("a", 40)}}, 3},
		"cut, and of some": {many, judging.Lineage{Commits: []string{strings.Repeat("a", 40)}}, 3},
	} {
		store := &answeringStore{Store: memory.New(nil), answer: c.answer}
		before := judging.OfStore(t.Context(), runstore.SoundOf(store), defaultSettings(), c.on)
		for phone := range 3 {
			if _, err := before.Like(clitest.PhoneRun(100+phone, 6, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if store.asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", name, store.asked, c.asked)
		}
	}
}

// answeringStore counts the queries, and gives the same answer to each.
type answeringStore struct {
	*memory.Store
	answer []run.Summary
	asked  int
}

func (s *answeringStore) References(context.Context, runstore.Query) ([]run.Summary, error) {
	s.asked++
	return s.answer, nil
}

// Runs with numbers of another source have a history of their own, whoever queried before them, and
// however alike they are otherwise.
func TestEachSharesAnswersOfComparableRuns(t *testing.T) {
	history := clitest.PhoneRuns(60, 6, 1)
	for i := range history[:30] {
		history[i].Context[devctx.MeasuredBy] = "macrobenchmark"
	}
	store := memory.New(nil)
	ids, err := store.Add(t.Context(), history...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	checked := []run.Run{clitest.PhoneRun(100, 6, 1), clitest.PhoneRun(106, 6, 1), clitest.PhoneRun(112, 6, 1)}
	checked[1].Context[devctx.MeasuredBy] = "macrobenchmark"
	for _, use := range [][]string{nil, {"model"}} {
		set := defaultSettings()
		set.Policy.Use = use
		got := make([]int, len(checked))
		err := judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{}).Each(checked, set, func(i int, refs []run.Summary) error {
			for _, r := range refs {
				if devctx.Comparable(r.Context, checked[i].Context) {
					got[i]++
				}
			}
			return nil
		})
		if err != nil || !slices.Equal(got, []int{30, 30, 30}) {
			t.Errorf("where %v counts, the runs have %v comparable references, %v; want 30 each", use, got, err)
		}
	}
}

// countingStore counts the queries.
type countingStore struct {
	*memory.Store
	asked int
}

func (s *countingStore) References(ctx context.Context, q runstore.Query) ([]run.Summary, error) {
	s.asked++
	return s.Store.References(ctx, q)
}

func TestCheckReportsAFailingHistory(t *testing.T) {
	before := judging.Past{Like: func(r run.Run) ([]run.Summary, error) { return nil, fmt.Errorf("no disk under %s", r.Context["model"]) }}
	err := before.Each(clitest.PhoneRuns(9, 3, 1), defaultSettings(), func(int, []run.Summary) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("%v", err)
	}
}

// A file is read and summed up once, however many phones query it: reading it for each would
// allocate some ten times as much for twenty as for one.
func TestOfFilesReadsOnce(t *testing.T) {
	dir := t.TempDir()
	history := clitest.WriteFile(t, dir+"/history.jsonl", clitest.RecordsOf(t, clitest.PhoneRuns(400, 20, 10)))
	checked := clitest.PhoneRuns(1000, 20, 10)[980:]
	allocated := func(n int) uint64 {
		runs := clitest.WriteFile(t, fmt.Sprintf("%s/runs%d.jsonl", dir, n), clitest.RecordsOf(t, checked[:n]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := clitest.Run(t, nil, "check", "--history", history, "--run", runs)
		runtime.ReadMemStats(&after)
		if got.Status != 0 {
			t.Fatalf("status %d: %s%s", got.Status, got.Stdout, got.Stderr)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	one, twenty := allocated(1), allocated(20)
	if twenty > 4*one {
		t.Errorf("1 phone allocates %d kB, 20 phones %d kB, want less than four times as much", one>>10, twenty>>10)
	}
}

// noise takes the last runs of a file, and compares each with all the others.
func TestNoiseOfAFileTakesItsLastRuns(t *testing.T) {
	history := clitest.WriteFile(t, t.TempDir()+"/history.jsonl", clitest.RecordsOf(t, clitest.PhoneRuns(60, 2, 1)))
	for _, limit := range []int{1, 7, 59, 100} {
		got := clitest.Run(t, nil, "noise", "--history", history, "--limit", fmt.Sprint(limit), "--format", "json")
		if want := fmt.Sprintf(`"runs": %d,`, min(limit, 60)); got.Status != 0 || !strings.Contains(got.Stdout, want) {
			t.Errorf("limit %d: status %d, want %s in\n%s%s", limit, got.Status, want, got.Stdout, got.Stderr)
		}
	}
}
