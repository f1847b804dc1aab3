package art_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/art"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	seen, err := art.Inspect(bytes.NewReader(sample().Streaming(3, "dual")))
	if err != nil || seen.Nothing {
		t.Fatal(seen, err)
	}
	d := seen.Details.(art.Details)
	if d.Events != 7 || d.Calls != 4 || d.Open != 1 || d.Early != 0 || d.Methods != 3 || d.PID != 4711 || d.Elapsed.Seconds() != 5 {
		t.Errorf("details are %+v", d)
	}
	want := []string{
		"format streaming 0xf3, clock dual: 4 calls of 3 methods in 2 threads",
		"1 call has no exit in the trace, 0 exits have no entry",
		"   250.000 ms of its own,    250.000 ms in all,      2 × com.example.Store.load",
		"    30.000 ms of its own,     30.000 ms in all,      1 × java.lang.Thread.run",
		"     9.000 ms of its own,    259.000 ms in all,      1 × com.example.Main.onCreate",
	}
	if diff := cmp.Diff(want, d.Summary()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Without a clock there is an order and no time.
func TestInspectAllCalls(t *testing.T) {
	t.Parallel()
	seen, err := art.Inspect(bytes.NewReader(sample().AllCalls(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range seen.Details.(art.Details).Summary() {
		if strings.Contains(line, "ms") {
			t.Errorf("%q has a time", line)
		}
	}
}

// A method that calls itself counts once.
func TestSumsOfRecursion(t *testing.T) {
	t.Parallel()
	var s art.Sums
	calls := art.Calls{Each: s.Add}
	for _, e := range []art.Event{
		{Method: 1, Time: 0}, {Method: 2, Time: 10}, {Method: 1, Time: 20},
		{Method: 1, Action: art.Exit, Time: 50}, {Method: 2, Action: art.Exit, Time: 60}, {Method: 1, Action: art.Unroll, Time: 100},
	} {
		calls.Add(e)
	}
	want := []art.MethodSums{{Method: 1, Calls: 2, Self: 80, Total: 100, Longest: 100}, {Method: 2, Calls: 1, Self: 20, Total: 50, Longest: 50}}
	if diff := cmp.Diff(want, s.List()); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
}

// A file of another kind is wrong input.
func TestInspectNothing(t *testing.T) {
	t.Parallel()
	seen, err := art.Inspect(strings.NewReader("Flags,IntendedVsync\n"))
	if err != nil || !seen.Nothing || len(seen.Warnings) == 0 || seen.Details.(art.Details).Summary() != nil {
		t.Errorf("%+v, %v", seen, err)
	}
}
