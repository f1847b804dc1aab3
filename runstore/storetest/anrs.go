package storetest

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// stalled returns a run in which the threads of those names did not respond.
func stalled(id string, started time.Time, threads ...string) run.Run {
	r := newRun(id, started, map[string]string{"model": "S3"}, 1)
	r.Session, r.Source.Commit, r.App.Version = "session of "+id, "commit of "+id, "1.0"
	for i, name := range threads {
		r.ANRs = append(r.ANRs, run.ANR{
			Kind: run.ANRInput, Process: r.App.Package, PID: 100 + i, Reason: "a \x00 and a ü", Repetition: 1, Event: "tap", AtMS: 12.5,
			Threads:  []run.ANRThread{{Name: name, State: "Blocked", WaitsFor: "lock of a.B", Stack: []string{"a.B.c(B.java:1)", "a.D.e(D.java:2)"}}, {Name: "last"}},
			Features: []string{"cpu: high"}, Signature: "0a1b",
		})
	}
	return r
}

// anrsOfAnApp has ANRs in runs of every state, of two scenarios and of another app, and runs
// without any.
func anrsOfAnApp(t *testing.T, s runstore.Store) {
	found := func(q runstore.ANRQuery) []runstore.ANRRun {
		t.Helper()
		got, err := s.ANRs(t.Context(), q)
		if err != nil {
			t.Fatalf("ANRs: %v", err)
		}
		return got
	}
	mail := runstore.ANRQuery{Package: "org.example.mail"}
	wantEqual(t, "ANRs of an empty history", len(found(mail)), 0)

	of := map[string]run.Run{}
	for _, r := range []run.Run{
		stalled("accepted", day(2), "main"), stalled("rejected", day(3), "main", "worker"), stalled("unmarked", day(4), "sync"),
		stalled("other scenario", day(1), "main"), stalled("other app", day(5), "main"), stalled("failed", day(6), "main"),
		stalled("same start a", day(7), "main"), stalled("same start b", day(7), "main"),
	} {
		switch r.ID {
		case "other scenario":
			r.Scenario = "scroll"
		case "other app":
			r.App.Package = "org.example.game"
		case "failed":
			r.Status = run.Failed
		}
		of[r.ID] = r
		add(t, s, r)
	}
	accept(t, s, newRun("without", day(8), nil, 1))
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "accepted", "other scenario")
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "rejected")

	want := []runstore.ANRRun{}
	for _, run := range []struct {
		id    string
		state runstore.State
	}{
		{"same start b", ""}, {"same start a", ""}, {"failed", ""}, {"unmarked", ""},
		{"rejected", runstore.Rejected}, {"accepted", runstore.Accepted}, {"other scenario", runstore.Accepted},
	} {
		r := of[run.id]
		want = append(want, runstore.ANRRun{ID: r.ID, Started: r.Started, Session: "session of " + r.ID, Scenario: r.Scenario,
			Version: "1.0", Commit: "commit of " + r.ID, State: run.state, ANRs: r.ANRs})
	}
	wantEqual(t, "ANRs of the app", found(mail), want)
	mail.Limit = 3
	wantEqual(t, "of the newest three runs", found(mail), want[:3])
	wantEqual(t, "of an app that is not there", len(found(runstore.ANRQuery{Package: "org.example.none"})), 0)
	for _, limit := range []int{-1, runstore.MaxANRRuns + 1} {
		if _, err := s.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail", Limit: limit}); err == nil {
			t.Errorf("a limit of %d is taken", limit)
		}
	}

	mail.Limit = 0
	if _, err := s.Prune(t.Context(), runstore.Retention{Keep: 1, Package: mail.Package}, nil); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	if n := len(found(mail)); n == 0 || n == len(want) {
		t.Errorf("after pruning %d of %d runs have ANRs, want fewer", n, len(want))
	}
	left := map[string]bool{}
	for _, id := range list(t, s, runstore.Filter{}) {
		left[id] = true
	}
	for _, a := range found(mail) {
		if !left[a.ID] {
			t.Errorf("run %s is pruned, and its ANRs are not", a.ID)
		}
	}
}
