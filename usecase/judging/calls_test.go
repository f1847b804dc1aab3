package judging_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
)

// traced is a run whose frames wait so long, of which only the calls were recorded: each repetition
// binds so many rows of a list, of 2 ms each.
func traced(i int, waits time.Duration, rows int) run.Run {
	r := scrolled(i, waits)
	r.Frames = nil
	frame := run.TracedCall{Parent: -1, Name: "android.view.Choreographer.doFrame", Thread: "main", Event: "scroll"}
	bind := run.TracedCall{Parent: 0, Name: "com.example.mail.Row.bind"}
	r.MethodTraces = &run.MethodTraces{Source: "art", Clock: run.WallClock}
	for rep := range r.Iterations {
		took := float64(2*rows) + float64((i+rep)%3)/10
		frame.Repetitions, frame.RepetitionsMS = append(frame.Repetitions, 100), append(frame.RepetitionsMS, took+50)
		bind.Repetitions, bind.RepetitionsMS = append(bind.Repetitions, rows), append(bind.RepetitionsMS, took)
		r.MethodTraces.Windows = append(r.MethodTraces.Windows, run.TraceWindow{Repetition: rep + 1, Event: "scroll", ToMS: 5000})
	}
	r.MethodTraces.Tree = []run.TracedCall{frame, bind}
	return r
}

// ofKind returns the causes of a kind, and whether each is at the event.
func ofKind(all []diagnose.Cause, kind string) (out []diagnose.Cause) {
	for _, c := range all {
		if c.Kind == kind && c.Event == "scroll" {
			out = append(out, c)
		}
	}
	return out
}

// A regression whose calls were traced is explained by them: compared with runs before, with a base
// build, by rounds that settle it, and by rounds recorded after the verdict. A known problem is named
// with it.
func TestCallsExplain(t *testing.T) {
	set := defaultSettings()
	set.Config = &config.Config{KnownProblems: []config.KnownProblem{{Name: "rows", Calls: []string{"*.doFrame", "com.example.mail.Row.bind"}, Over: 100 * time.Millisecond, Threads: config.MainThread}}}
	var past, base, head []run.Run
	for i := range 10 {
		past = append(past, traced(i, time.Millisecond, 5))
	}
	for i := range 6 {
		base, head = append(base, traced(40+2*i, time.Millisecond, 5)), append(head, traced(41+2*i, 30*time.Millisecond, 80))
	}
	worse := traced(20, 30*time.Millisecond, 80)
	in, err := judging.Judge([]run.Run{worse}, pastOf(t, past), set)
	if err != nil {
		t.Fatal(err)
	}
	compared, err := judging.Compare(base, head, set)
	if err != nil {
		t.Fatal(err)
	}
	rounds := judging.Rounds{Base: base[0], Head: head[0]}
	regressed := judging.RegressedIn(in)
	if len(regressed) != 1 {
		t.Fatalf("%d regressions", len(regressed))
	}
	recorded, _ := judging.Recorded(regressed[0], rounds, judging.ProblemsOf(set.Config))
	for name, c := range map[string]struct {
		causes []diagnose.Cause
		basis  string
	}{
		"runs before":   {in.Causes, "compared with 25 of earlier runs"},
		"a base build":  {compared.Causes, "compared with 25 of earlier runs"},
		"rounds":        {judging.Settled(in, map[int]judging.Rounds{0: rounds}, judging.ProblemsOf(set.Config)), "compared with 5 of earlier runs"},
		"no rounds":     {judging.Settled(in, nil, nil), "compared with 25 of earlier runs"},
		"recorded ones": {recorded, "compared with 5 of the base build, recorded after the verdict"},
	} {
		more, known := ofKind(c.causes, calls.MoreKind), ofKind(c.causes, calls.KnownKind)
		if len(more) == 0 || more[0].Subject.Name != "com.example.mail.Row.bind" || !strings.Contains(said(more[0]), c.basis) {
			t.Errorf("%s: %q, want the rows that are bound more often, %s", name, saidAll(c.causes), c.basis)
		}
		if len(known) != len(more) || len(known) > 0 && known[0].Subject.Name != "rows" {
			t.Errorf("%s: %d known problems, want %d", name, len(known), len(more))
		}
	}
	cleared := judging.Rounds{Base: base[0], Head: traced(60, time.Millisecond, 5)}
	if got := judging.Settled(in, map[int]judging.Rounds{0: cleared}, nil); slices.ContainsFunc(got, func(c diagnose.Cause) bool { return c.Kind == calls.MoreKind }) {
		t.Errorf("what rounds of both builds don't have is explained: %q", saidAll(got))
	}
}

// Where nothing got worse, a known problem is named only where something went wrong.
func TestAKnownProblemWithoutARegression(t *testing.T) {
	set := defaultSettings()
	set.Config = &config.Config{KnownProblems: []config.KnownProblem{{Name: "rows", Calls: []string{"com.example.mail.Row.bind"}}}}
	var past []run.Run
	for i := range 10 {
		past = append(past, traced(i, time.Millisecond, 5))
	}
	for why, want := range map[string]int{"": 0, "a frame took 820 ms": 1} {
		calm := traced(20, time.Millisecond, 5)
		calm.MethodTraces.Windows[1].Why = why
		in, err := judging.Judge([]run.Run{calm}, pastOf(t, past), set)
		if err != nil {
			t.Fatal(err)
		}
		if in.Verdict.Runs[0].Verdict == gate.Regression || len(in.Causes) != want {
			t.Errorf("why %q: %s, and %q, want %d causes", why, in.Verdict.Verdict, saidAll(in.Causes), want)
		}
	}
}
