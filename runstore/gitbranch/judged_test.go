package gitbranch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

func outcomeOf(t *testing.T, s runstore.Store, id string) string {
	t.Helper()
	e, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if e.Run.Judged == nil {
		return ""
	}
	return e.Run.Judged.Outcome
}

// What one computer stores another reads, whoever pushed last, and rewriting the branch loses
// nothing.
func TestOutcomesReachOthers(t *testing.T) {
	remote := newRemote(t)
	first, second := open(t, remote), open(t, remote)
	if _, err := first.Add(t.Context(), newRun("a", 1), newRun("b", 2)); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, said := range []struct {
		by      runstore.Store
		id      string
		outcome run.Judged
	}{
		{first, "a", run.Judged{Outcome: "inconclusive", At: at}},
		{second, "a", run.Judged{Outcome: "regression", At: at.Add(time.Hour)}}, // it does not have the first yet
		{first, "b", run.Judged{Outcome: "pass", At: at}},
		{first, "a", run.Judged{Outcome: "pass", At: at.Add(time.Minute)}}, // nor of the second
	} {
		if err := said.by.Judge(t.Context(), map[string]run.Judged{said.id: said.outcome}); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Mark(t.Context(), []string{"b"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		third := open(t, remote)
		if a, b := outcomeOf(t, third, "a"), outcomeOf(t, third, "b"); a != "regression" || b != "pass" {
			t.Errorf("%s, a third reads %q and %q, want what was said last", when, a, b)
		}
		if found, err := third.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("%s, Verify says %v, %v", when, found, err)
		}
	}
	check("after four pushes")
	if err := first.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after the branch was begun anew")
}

// Lines that apkgate never writes, and outcomes of unknown runs, are reported, and change no other.
func TestBadOutcomesAreTold(t *testing.T) {
	remote := newRemote(t)
	first := open(t, remote)
	if _, err := first.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	digest, err := newRun("a", 1).Digest()
	if err != nil {
		t.Fatal(err)
	}
	line := func(id, digest, outcome, at string) string {
		return `{"format":"apkgate.outcome/1","run":"` + id + `","digest":"` + digest + `","outcome":"` + outcome + `","at":"` + at + `"}` + "\n"
	}
	const at = "2026-02-03T04:05:06Z"
	dir := clone(t, remote)
	told := []string{
		put(t, dir, "outcomes", []byte("no zstd")),
		put(t, dir, "outcomes", packed(t, line("a", digest, "regression", at)+"{")),
		put(t, dir, "outcomes", packed(t, line("a", strings.Repeat("0", 64), "pass", "2026-03-03T04:05:06Z"))),
		put(t, dir, "outcomes", packed(t, line("b", digest, "pass", at))),
		put(t, dir, "outcomes", packed(t, line("a", digest, "A regression!", at))),
		put(t, dir, "outcomes", packed(t, line("a", digest, "pass", "9999-02-03T04:05:06Z"))),
		put(t, dir, "outcomes", packed(t, line("a", "abc", "pass", at))),
		put(t, dir, "outcomes", packed(t, strings.ReplaceAll(line("a", digest, "pass", at), "outcome/1", "outcome/2"))),
	}
	pushAll(t, dir)
	s := open(t, remote)
	if got := outcomeOf(t, s, "a"); got != "regression" {
		t.Errorf("the run was judged as %q, want what stands before the damage", got)
	}
	found, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(told) {
		t.Errorf("%d damages are told, want %d: %v", len(found), len(told), found)
	}
}
