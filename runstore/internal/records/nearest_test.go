package records

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Clusters puts the most similar contexts first, and equally similar ones together.
func TestClusters(t *testing.T) {
	got := Clusters([]Ranked{{5, 1}, {2, 3}, {9, 1}, {1, 3}, {4, 0}})
	if want := [][]int64{{1, 2}, {5, 9}, {4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Clusters(nil); got != nil {
		t.Errorf("of no context: %v", got)
	}
}

// NearRuns.In returns the nearest commit's runs first, within a commit the newest first.
func TestNearRunsInOrder(t *testing.T) {
	var near NearRuns
	if near.Has("a") || len(near.In([]int64{1}, 9)) != 0 {
		t.Error("it has runs before any was added")
	}
	for _, r := range []Near{
		{Context: 1, Rank: 1, Started: "3", ID: "a"}, {Context: 2, Rank: 0, Started: "1", ID: "b"}, {Context: 2, Rank: 0, Started: "2", ID: "c"},
		{Context: 1, Rank: 0, Started: "2", ID: "d"}, {Context: 3, Rank: 0, Started: "9", ID: "e"},
	} {
		near.Add(r)
	}
	ids := ""
	for _, r := range near.In([]int64{2, 1}, 9) {
		ids += r.ID
	}
	if few := near.In([]int64{2, 1}, 2); ids != "dcba" || len(few) != 2 || few[1].ID != "c" || !near.Has("e") {
		t.Errorf("%s, of two %+v", ids, few)
	}
}

// Merge returns the newest of all lanes first, and reads on in a lane only if it is empty.
func TestMerge(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	pieces := map[int64][][]run.Summary{
		1: {{{ID: "a", Started: day(9)}, {ID: "b", Started: day(5)}}, {}, {{ID: "c", Started: day(5)}}}, // the second piece was skipped
		2: {{{ID: "d", Started: day(7)}}, {{ID: "e", Started: day(5)}}},
		3: {{}},
	}
	asked := 0
	read := func(lanes ...*Lane) error {
		for _, l := range lanes {
			if asked++; len(l.Read) > 0 || l.Done {
				t.Errorf("context %d is asked for more, and has %v", l.Context, l.Read)
			}
			l.Read, pieces[l.Context] = pieces[l.Context][0], pieces[l.Context][1:]
			l.Done = len(pieces[l.Context]) == 0
		}
		return nil
	}
	got, err := Merge([]run.Summary{{ID: "near"}}, 5, []int64{1, 2, 3}, read)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range got {
		ids = append(ids, s.ID)
	}
	if s := strings.Join(ids, " "); s != "near a d e b" || asked != 4 {
		t.Errorf("%s after %d questions, want near a d e b after 4", s, asked)
	}
	broken := errors.New("the disk is gone")
	if _, err := Merge(nil, 5, []int64{1}, func(...*Lane) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Starts.Since returns the earliest start of a subject, unless the mark names one.
func TestStartsSince(t *testing.T) {
	s := Starts{}
	s.Note(1, "2026-02")
	s.Note(1, "2026-01")
	s.Note(1, "2026-03")
	s.Note(2, "2025-01")
	at := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	for want, m := range map[string]runstore.Mark{
		"":                               {State: runstore.Accepted},
		"2026-01":                        {State: runstore.Rebaselined},
		"2024-05-06T00:00:00.000000000Z": {State: runstore.Rebaselined, Since: at},
	} {
		if got := s.Since(m, 1); got != want {
			t.Errorf("%+v begins at %q, want %q", m, got, want)
		}
	}
}
