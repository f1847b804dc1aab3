// Package storetest is the conformance suite of histories: the behaviour of every runstore.Store,
// whatever it stores them in.
//
// It owns no store and needs only the interface. Its expected values are worked out by hand or by
// runstore.Index, the plain implementation, never taken from a store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Suite tests the stores that open returns. Each is empty, and the suite closes it.
func Suite(t *testing.T, open func(t *testing.T) runstore.Store) {
	for name, test := range map[string]func(*testing.T, runstore.Store){
		"AddTwiceIsAddOnce":        addTwiceIsAddOnce,
		"IDsTellRunsApart":         idsTellRunsApart,
		"AddIsAllOrNone":           addIsAllOrNone,
		"AddNamesRuns":             addNamesRuns,
		"AddRefusesExplanations":   addRefusesExplanations,
		"AddAtTheSameTime":         addAtTheSameTime,
		"GetByPrefix":              getByPrefix,
		"NewestMarkCounts":         newestMarkCounts,
		"MarkIsAllOrNone":          markIsAllOrNone,
		"OnlyCompleteIsAccepted":   onlyCompleteIsAccepted,
		"ListFilters":              listFilters,
		"ListIsInOrder":            listIsInOrder,
		"HostileTextComesBack":     hostileTextComesBack,
		"ExtremeTimesComeBack":     extremeTimesComeBack,
		"ExportAndImport":          exportAndImport,
		"ImportCompletesItself":    importCompletesItself,
		"CopyKeepsMarks":           copyKeepsMarks,
		"PaperExample":             paperExample,
		"OnlyAcceptedAreReference": onlyAcceptedAreReferences,
		"ReferencesOfAContext":     referencesAreOfTheContext,
		"NearestAsTheGateCounts":   nearestAsTheGateCountsThem,
		"NearestCommitsFirst":      nearestCommitsFirst,
		"ReferencesAsTheGate":      referencesAsTheGate,
		"ReferencesSumUp":          referencesSumUp,
		"ReferencesAsPlain":        referencesAsPlain,
		"ManyContextsAsPlain":      manyContextsAsPlain,
		"RebaselineStartsALevel":   rebaselineStartsALevel,
		"LevelsOfSubjectsApart":    levelsOfSubjectsApart,
		"RetiredRunsAreTold":       retiredRunsAreTold,
		"ANRsOfAnApp":              anrsOfAnApp,
		"OutcomesAreKept":          outcomesAreKept,
		"NewestOutcomeCounts":      newestOutcomeCounts,
		"JudgeIsAllOrNone":         judgeIsAllOrNone,
		"OutcomesTravel":           outcomesTravel,
		"PruneKeepsTheNewest":      pruneKeepsTheNewest,
		"PruneKeepsTheLevel":       pruneKeepsTheLevel,
		"BadRequests":              badRequests,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(t, s)
			damage, err := s.Verify(t.Context())
			if err != nil || len(damage) > 0 {
				t.Errorf("after the test, Verify says %v, %v", damage, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// day returns noon of a day of January 2026.
func day(d int) time.Time { return time.Date(2026, 1, d, 12, 0, 0, 0, time.UTC) }

// newRun returns a complete run of one iteration with one metric.
func newRun(id string, started time.Time, context map[string]string, frames float64) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: started, App: run.App{Package: "org.example.mail"},
		Scenario: "open-message", Context: context, Status: run.Complete,
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": frames}}},
	}
}

func add(t *testing.T, s runstore.Store, runs ...run.Run) {
	t.Helper()
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatalf("Add: %v", err)
	}
}

func mark(t *testing.T, s runstore.Store, m runstore.Mark, ids ...string) {
	t.Helper()
	if err := s.Mark(t.Context(), ids, m); err != nil {
		t.Fatalf("Mark %v as %s: %v", ids, m.State, err)
	}
}

func accept(t *testing.T, s runstore.Store, runs ...run.Run) {
	t.Helper()
	add(t, s, runs...)
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	mark(t, s, runstore.Mark{State: runstore.Accepted}, ids...)
}

// list returns the ids that match the filter, in the list's order.
func list(t *testing.T, s runstore.Store, f runstore.Filter) []string {
	t.Helper()
	ids := []string{}
	for e, err := range s.List(t.Context(), f) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		ids = append(ids, e.Run.ID)
	}
	return ids
}

func references(t *testing.T, s runstore.Store, q runstore.Query) []run.Summary {
	t.Helper()
	found, err := s.References(t.Context(), q)
	if err != nil {
		t.Fatalf("References: %v", err)
	}
	return found
}

func ids(summaries []run.Summary) []string {
	out := []string{}
	for _, s := range summaries {
		out = append(out, s.ID)
	}
	return out
}

// query returns a query for references in the given context.
func query(context map[string]string) runstore.Query {
	return runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: context}
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func numbered(n int, make func(i int) run.Run) []run.Run {
	out := []run.Run{}
	for i := range n {
		out = append(out, make(i))
	}
	return out
}

func exported(ctx context.Context, s runstore.Store) ([]run.Run, error) {
	out := []run.Run{}
	for e, err := range s.Export(ctx, runstore.Filter{}) {
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		out = append(out, e.Run)
	}
	return out, nil
}

func sorted(ids []string) []string { return slices.Sorted(slices.Values(ids)) }

// A run that was recorded to explain a verdict is rejected by every history, and so is what is
// added with it.
func addRefusesExplanations(t *testing.T, s runstore.Store) {
	judged, recorded := newRun("judged", day(1), nil, 1), newRun("recorded", day(2), nil, 2)
	recorded.Explains = true
	if _, err := s.Add(t.Context(), judged, recorded); !errors.Is(err, runstore.ErrExplains) {
		t.Errorf("adding it says %v", err)
	}
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		t.Errorf("the history holds %q, %v", e.Run.ID, err)
	}
}
