package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

func listFilters(t *testing.T, s runstore.Store) {
	a := newRun("a", day(1), map[string]string{"model": "S3", "network": "wifi"}, 1)
	b := newRun("b", day(2), map[string]string{"model": "S3", "network": "3g"}, 2)
	c := newRun("c", day(3), map[string]string{"model": "G4", "network": "wifi"}, 3)
	d := newRun("d", day(4), nil, 4)
	a.Session, a.Source.Commit = "night", "c0ffee"
	a.Declared = []run.Declared{{Name: "score", Better: "higher"}}
	a.Warnings = []run.Warning{{Text: "a doubt"}}
	a.Energy = &run.Energy{Source: "rails"}
	a.ANRs = []run.ANR{{Kind: run.ANRInput, Repetition: 1}}
	a.Evidence = []run.Evidence{{Digest: strings.Repeat("ab", 32), Kind: run.PerfettoTrace, Name: "trace.pftrace", Bytes: 10}}
	b.App.Package = "org.example.game"
	c.Scenario = "scroll"
	d.Status = run.Partial
	add(t, s, a, b, c, d)
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "a", "b")
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "c")
	for _, test := range []struct {
		name   string
		filter runstore.Filter
		want   []string
	}{
		{"all", runstore.Filter{}, []string{"d", "c", "b", "a"}},
		{"package", runstore.Filter{Package: "org.example.game"}, []string{"b"}},
		{"scenario", runstore.Filter{Scenario: "scroll"}, []string{"c"}},
		{"session", runstore.Filter{Session: "night"}, []string{"a"}},
		{"commit", runstore.Filter{Commit: "c0ffee"}, []string{"a"}},
		{"status", runstore.Filter{Status: run.Partial}, []string{"d"}},
		{"accepted", runstore.Filter{States: []runstore.State{runstore.Accepted}}, []string{"b", "a"}},
		{"undecided or rejected", runstore.Filter{States: []runstore.State{runstore.Unmarked, runstore.Rejected}}, []string{"d", "c"}},
		{"no state", runstore.Filter{States: []runstore.State{}}, []string{}},
		{"ids", runstore.Filter{IDs: []string{"c", "a", "none"}}, []string{"c", "a"}},
		{"no id", runstore.Filter{IDs: []string{}}, []string{}},
		{"one property", runstore.Filter{Where: map[string]string{"model": "S3"}}, []string{"b", "a"}},
		{"two properties", runstore.Filter{Where: map[string]string{"model": "S3", "network": "wifi"}}, []string{"a"}},
		{"unknown property", runstore.Filter{Where: map[string]string{"colour": "red"}}, []string{}},
		{"from", runstore.Filter{From: day(3)}, []string{"d", "c"}},
		{"until", runstore.Filter{Until: day(3)}, []string{"b", "a"}},
		{"limit", runstore.Filter{Limit: 3}, []string{"d", "c", "b"}},
		{"limit beyond", runstore.Filter{Limit: 9}, []string{"d", "c", "b", "a"}},
	} {
		wantEqual(t, test.name, list(t, s, test.filter), test.want)
	}
	for e, err := range s.List(t.Context(), runstore.Filter{IDs: []string{"a"}}) {
		if err != nil {
			t.Fatal(err)
		}
		digest, _ := a.Digest()
		want := a
		want.Declared, want.Warnings, want.Iterations, want.Energy, want.Evidence, want.ANRs = nil, nil, nil, nil, nil, nil
		wantEqual(t, "listed run", e.Run, want)
		wantEqual(t, "digest", e.Digest, digest)
		wantEqual(t, "iterations", e.Iterations, 1)
		wantEqual(t, "state", e.Mark.State, runstore.Accepted)
	}
}

func listIsInOrder(t *testing.T, s runstore.Store) {
	const n = 600 // more than a page
	runs := numbered(n, func(i int) run.Run {
		return newRun(fmt.Sprintf("%04d", i), day(1+i%2), nil, float64(i))
	})
	add(t, s, runs...)
	var want []string // the odd ones are a day later; then by id, highest first
	for i := n - 1; i > 0; i -= 2 {
		want = append(want, runs[i].ID)
	}
	for i := n - 2; i >= 0; i -= 2 {
		want = append(want, runs[i].ID)
	}
	wantEqual(t, "list", list(t, s, runstore.Filter{}), want)
	wantEqual(t, "list of 300", list(t, s, runstore.Filter{Limit: 300}), want[:300])

	seen := 0
	for _, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 2 {
			break
		}
	}
	// Writing while a list is read must not deadlock.
	for e, err := range s.List(t.Context(), runstore.Filter{Limit: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		mark(t, s, runstore.Mark{State: runstore.Accepted}, e.Run.ID)
	}
	wantEqual(t, "accepted", list(t, s, runstore.Filter{States: []runstore.State{runstore.Accepted}}), want[:3])
}

func exportAndImport(t *testing.T, s runstore.Store) {
	const n = 300
	runs := numbered(n, func(i int) run.Run {
		r := newRun(fmt.Sprintf("%04d", i), day(1).AddDate(0, 0, i), map[string]string{"model": fmt.Sprint("M", i%7)}, float64(i))
		r.Warnings = []run.Warning{{Line: i, Text: "a doubt"}}
		r.Iterations[0].Events = []run.Bucket{{Name: run.Start, Metrics: map[string]float64{"frames.count": 1}}}
		r.Iterations[0].Frames = []run.Frame{{DurationMS: 16.67, Bucket: 0}}
		return r
	})
	done, err := runstore.Import(t.Context(), s, sequence(runs), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "imported", done, runstore.Imported{Read: n, Added: n})
	got, err := exported(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "exported", got, runs)
	done, err = runstore.Import(t.Context(), s, sequence(got), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "imported into itself", done, runstore.Imported{Read: n})
}

// importCompletesItself repeats a partial import without marks, as a second attempt does after a
// kill.
func importCompletesItself(t *testing.T, s runstore.Store) {
	a, b, c, d := newRun("a", day(1), nil, 1), newRun("b", day(2), nil, 2), newRun("c", day(3), nil, 3), newRun("d", day(4), nil, 4)
	d.Status = run.Partial
	add(t, s, a, b)
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "b")
	done, err := runstore.Import(t.Context(), s, sequence([]run.Run{a, b, c, d}), &runstore.Mark{State: runstore.Accepted}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "imported", done, runstore.Imported{Read: 4, Added: 2, Marked: 2})
	wantEqual(t, "accepted", list(t, s, runstore.Filter{States: []runstore.State{runstore.Accepted}}), []string{"c", "a"})

	broken := errors.New("the line is broken")
	_, err = runstore.Import(t.Context(), s, func(yield func(run.Run, error) bool) { yield(run.Run{}, broken) }, nil, nil)
	wantError(t, "an import that breaks off", err, broken)
}

// copyKeepsMarks copies a history with a level into a store that has decided on one of its runs
// since.
func copyKeepsMarks(t *testing.T, s runstore.Store) {
	a, b, c, d := newRun("a", day(1), nil, 1), newRun("b", day(2), nil, 2), newRun("c", day(3), nil, 3), newRun("d", day(4), nil, 4)
	from := memory.New(nil)
	add(t, from, a, b, c, d)
	at := time.Unix(1000, 0).UTC()
	mark(t, from, runstore.Mark{State: runstore.Accepted, At: at, Note: "nightly"}, "a", "c")
	mark(t, from, runstore.Mark{State: runstore.Rebaselined, At: at, Since: day(2)}, "b")
	add(t, s, c)
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "c")

	for _, want := range []runstore.Imported{{Read: 4, Added: 3, Marked: 2}, {Read: 4}} {
		done, err := runstore.Take(t.Context(), s, from.Export(t.Context(), runstore.Filter{}))
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "copied", done, want)
	}
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "mark", e.Mark, runstore.Mark{State: runstore.Accepted, At: at, Note: "nightly"})
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "d")
	wantEqual(t, "references", ids(references(t, s, query(nil))), []string{"d", "b"})
}

func sequence(runs []run.Run) func(yield func(run.Run, error) bool) {
	return func(yield func(run.Run, error) bool) {
		for _, r := range runs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func pruneKeepsTheNewest(t *testing.T, s runstore.Store) {
	s3, g4 := map[string]string{"model": "S3"}, map[string]string{"model": "G4"}
	old := newRun("other-app", day(1), s3, 1)
	old.App.Package = "org.example.game"
	accept(t, s, old, newRun("s1", day(1), s3, 1), newRun("s2", day(2), s3, 1), newRun("s3", day(3), s3, 1), newRun("g1", day(1), g4, 1))
	add(t, s, newRun("u4", day(4), s3, 1), newRun("u5", day(5), s3, 1), newRun("u6", day(6), s3, 1))
	// Of the S3 are kept: the newest two references and the newest two others.
	want := []string{"s1", "u4"}
	for _, dry := range []bool{true, false} {
		var told []string
		n, err := s.Prune(t.Context(), runstore.Retention{Keep: 2, DryRun: dry}, func(e runstore.Entry) error {
			told = append(told, e.Run.ID)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "told", sorted(told), want)
		wantEqual(t, "removed", n, len(want))
		if dry {
			wantEqual(t, "number of runs after a dry run", len(list(t, s, runstore.Filter{})), 8)
		}
	}
	wantEqual(t, "left", sorted(list(t, s, runstore.Filter{})), []string{"g1", "other-app", "s2", "s3", "u5", "u6"})
	wantEqual(t, "references", ids(references(t, s, query(s3))), []string{"s3", "s2", "g1"})

	enough := errors.New("enough")
	_, err := s.Prune(t.Context(), runstore.Retention{Keep: 1, Package: "org.example.mail"}, func(runstore.Entry) error { return enough })
	wantError(t, "a prune that is stopped", err, enough)
	wantEqual(t, "number of runs after it", len(list(t, s, runstore.Filter{})), 6)
	if n, err := s.Prune(t.Context(), runstore.Retention{Keep: 1, Scenario: "none"}, nil); n != 0 || err != nil {
		t.Errorf("pruning a scenario that is not there: %d, %v", n, err)
	}
	add(t, s, newRun("s1", day(1), s3, 1)) // what was removed can be added again
	wantEqual(t, "number of runs at the end", len(list(t, s, runstore.Filter{})), 7)
}

func pruneKeepsTheLevel(t *testing.T, s runstore.Store) {
	accept(t, s, newRun("1", day(1), nil, 1), newRun("2", day(2), nil, 1), newRun("3", day(3), nil, 1), newRun("4", day(4), nil, 1))
	mark(t, s, runstore.Mark{State: runstore.Rebaselined}, "2")
	if _, err := s.Prune(t.Context(), runstore.Retention{Keep: 1}, nil); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "left", list(t, s, runstore.Filter{}), []string{"4", "2"})
}
