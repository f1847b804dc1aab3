package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

// Damaged tests what a store can return of a damaged history. spoil makes the record of the run of
// that id unreadable, as a bad disk does.
func Damaged(t *testing.T, s runstore.Store, spoil func(id string)) {
	runs := numbered(5, func(i int) run.Run {
		return newRun(fmt.Sprintf("run-%d", i), day(1+i), map[string]string{"model": fmt.Sprint(i)}, float64(10*i))
	})
	for _, i := range []int{1, 2} { // ANRs are stored separately from the record too
		runs[i].ANRs = stalled("", day(1), "main").ANRs
	}
	add(t, s, runs...)
	mark(t, s, runstore.Mark{State: runstore.Accepted, Note: "nightly"}, "run-0", "run-1", "run-2", "run-3")
	spoil("run-2")

	saved := map[string]runstore.Entry{}
	var told []string
	for e, err := range s.Export(t.Context(), runstore.Filter{}) {
		var damaged *runstore.DamagedRun
		switch {
		case errors.As(err, &damaged):
			told = append(told, damaged.ID)
			wantError(t, "what is told", err, runstore.ErrDamaged)
		case err != nil:
			t.Fatalf("export: %v", err)
		default:
			saved[e.Run.ID] = e
		}
	}
	wantEqual(t, "told by export", told, []string{"run-2"})
	wantEqual(t, "number of runs that are exported", len(saved), 4)
	for i, r := range runs {
		e, there := saved[r.ID]
		switch r.Warnings = []run.Warning{}; {
		case i == 2:
			wantEqual(t, "the damaged run is exported", there, false)
		default:
			wantEqual(t, "run", e.Run, r)
			wantEqual(t, "note", e.Mark.Note, map[bool]string{true: "nightly"}[i < 4])
		}
	}

	sound, to := runstore.SoundOf(s), memory.New(nil)
	done, err := runstore.Take(t.Context(), to, sound.Export(t.Context(), runstore.Filter{}))
	if err != nil {
		t.Fatalf("copy: %v", err)
	}
	wantEqual(t, "copied", done, runstore.Imported{Read: 4, Added: 4, Marked: 3})
	if found, total := sound.Damage(); total != 1 || found[0].ID != "run-2" {
		t.Errorf("copy tells of %v, want run-2", found)
	}
	refs, err := sound.References(t.Context(), query(nil))
	if err != nil {
		t.Fatalf("references: %v", err)
	}
	for _, want := range []string{"run-0", "run-1", "run-3"} {
		if !strings.Contains(strings.Join(ids(refs), " "), want) {
			t.Errorf("the references are %q, without the sound %s", ids(refs), want)
		}
	}
	stalls, err := s.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
	if err != nil || len(stalls) != 2 || stalls[0].ID != "run-2" || stalls[1].ID != "run-1" {
		t.Errorf("ANRs are %+v, %v, want those of run-2 and run-1, for which no record is needed", stalls, err)
	}
	damage, err := s.Verify(t.Context())
	if err != nil || len(damage) != 1 || damage[0].ID != "run-2" {
		t.Errorf("Verify says %v, %v, want run-2", damage, err)
	}
}
