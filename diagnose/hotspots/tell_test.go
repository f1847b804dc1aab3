package hotspots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// told returns the explanations of changes where a verdict flagged findings for all.
func told(t *testing.T, findings []diagnose.Finding, changes ...Change) []diagnose.Explanation {
	t.Helper()
	_, out := Tell(changes, metric.Default(), func(Change) []diagnose.Finding { return findings })
	for _, e := range out {
		if err := diagnose.Validate(e.Causes); err != nil {
			t.Errorf("a cause is not valid: %v", err)
		}
	}
	return out
}

func worse(pairs ...string) (out []diagnose.Finding) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, diagnose.Finding{Event: pairs[i], Metric: pairs[i+1], Direction: gate.ToRegression})
	}
	return out
}

// keys returns the causes in order: where, what, and the share.
func keys(causes []diagnose.Cause) (out []string) {
	for _, c := range causes {
		text := fmt.Sprintf("%s/%s %s %s", c.Event, c.Metric, c.Kind, c.Subject.Name)
		if c.Explains.Share != nil {
			text += fmt.Sprintf(" %.2f", *c.Explains.Share)
		}
		out = append(out, text)
	}
	return out
}

func TestMethodsAreCausesOfWhatWasFlagged(t *testing.T) {
	e := told(t, worse("", "frames.count", "E2", "energy.total_j", "", "energy.total_j"), explained(t, head(), base()))[0]
	want := []string{
		"/energy.total_j energy.method " + decode + " 0.70", "/energy.total_j energy.method " + fresh + " 0.22",
		"E2/energy.total_j energy.method " + decode, "E2/energy.total_j energy.method " + fresh,
	}
	if got := keys(e.Causes); !slices.Equal(got, want) {
		t.Fatalf("the causes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first, ofEvent := e.Causes[0], e.Causes[2]
	// decode: 2.7 J of 2.4 to 3 beside 0.6 J of 0.5 to 0.7, each wider by 15 % for want
	// of a second run.
	if x := first.Explains; !near(*x.Value, 2.1) || x.Unit != "J" || *x.Low >= 2.1 || *x.High <= 2.1 || x.Level != 0.95 || x.Sure != diagnose.Clear {
		t.Errorf("decode explains %+v", x)
	}
	if first.Run != "H" || first.Scenario != "open" || first.Device["model"] != "One" || first.Direction != gate.ToRegression || len(first.Tables) != 1 {
		t.Errorf("the first cause is %+v", first)
	}
	// Of the 6 J that the run takes more, the methods take 3.
	if len(first.Doubts) != 1 || !strings.Contains(first.Doubts[0][0].Text, "Shares are of the") {
		t.Errorf("the first cause does not say what its share is of: %+v", first.Doubts)
	}
	if len(ofEvent.Doubts) != 2 || !strings.Contains(ofEvent.Doubts[1][0].Text, "whole run") || len(ofEvent.Tables) != 0 {
		t.Errorf("an event's cause does not say that its numbers are of the whole run: %+v", ofEvent)
	}
}

// A change that was not flagged needs no cause, except a wakelock that drains the battery.
func TestNothingFlaggedHasNoCause(t *testing.T) {
	held := head()
	held.Energy.Wakelocks = []run.Wakelock{{Name: "Sync", HeldMS: 90_000, ScreenOffMS: 60_000}}
	if e := told(t, nil, explained(t, head(), base()))[0]; len(e.Causes) != 0 || e.Open {
		t.Errorf("a run that passed has the causes %q", keys(e.Causes))
	}
	e := told(t, nil, explained(t, held, base()))[0]
	if got, want := keys(e.Causes), []string{"/wakelock.screen_off_ms energy.wakelock Sync"}; !slices.Equal(got, want) || !e.Open {
		t.Fatalf("the causes are %q, want %q", got, want)
	}
	if x := e.Causes[0].Explains; *x.Value != 60 || x.Unit != "s" || x.Sure != diagnose.Seen {
		t.Errorf("a minute more of the wakelock is told as %+v", x)
	}
	flagged := told(t, worse("", "energy.total_j", "", "wakelock.time_ms"), explained(t, held, base()))[0]
	if got := keys(flagged.Causes); !slices.Contains(got, "/wakelock.time_ms energy.wakelock Sync") {
		t.Errorf("the causes are %q, want the wakelock at the time that wakelocks were held", got)
	}
}

// Where no method explains the change, the part of the device does, and the traffic.
func TestPartsAndTrafficAreCauses(t *testing.T) {
	b, h := base(), base()
	h.ID = "H"
	for of, v := range map[*run.Run][2]float64{&b: {20, 100_000}, &h: {26, 9_000_000}} {
		of.Iterations = []run.Iteration{{Metrics: map[string]float64{"energy.total_j": v[0], "network.rx_bytes": v[1], "network.tx_bytes": 0}}}
		of.Energy.Components = []run.Component{{Name: "wifi", EnergyJ: v[0] - 15}}
	}
	e := told(t, worse("", "energy.total_j"), explained(t, h, b))[0]
	want := []string{"/energy.total_j energy.component wifi 1.00", "/energy.total_j energy.traffic traffic"}
	if got := keys(e.Causes); !slices.Equal(got, want) {
		t.Errorf("the causes are %q, want %q", got, want)
	}
}

// A run with a known cause comes before one that took more.
func TestRunsStandByWhatMatters(t *testing.T) {
	dumb := head()
	dumb.ID, dumb.Energy.Methods = "D", nil
	dumb.Iterations[0].Metrics["energy.total_j"] = 60
	changes, e := Tell([]Change{explained(t, dumb, base()), explained(t, head(), base())}, metric.Default(), func(Change) []diagnose.Finding { return worse("", "energy.total_j") })
	if e[0].Run != "H" || changes[0].Run != "H" || len(e[1].Causes) != 0 {
		t.Errorf("%s speaks first, want H, whose methods are known", e[0].Run)
	}
	if text := fmt.Sprint(e[0].Lines[0]); !strings.Contains(text, "; in ") {
		t.Errorf("of two runs it is not told in how many decode is the cause: %s", text)
	}
}

// Of hundreds of runs only the first have tables and trees of calls.
func TestFewRunsAreToldInDetail(t *testing.T) {
	var changes []Change
	for range 100 {
		changes = append(changes, explained(t, head(), base()))
	}
	n := 0
	for _, e := range told(t, worse("", "energy.total_j"), changes...) {
		if len(e.Lines) == 0 || len(e.Causes) == 0 {
			t.Fatal("a run is told nothing of")
		}
		if len(e.Tables) > 0 || len(e.Pictures) > 0 {
			n++
		}
	}
	if n != detailed {
		t.Errorf("%d of 100 runs have tables and pictures, want %d", n, detailed)
	}
}

// However many findings there are, a run has few causes.
func TestCausesOfARunAreBounded(t *testing.T) {
	var findings []diagnose.Finding
	for i := range 300 {
		findings = append(findings, worse(fmt.Sprintf("E%d", i), "energy.total_j")...)
	}
	if n := len(told(t, findings, explained(t, head(), base()))[0].Causes); n > 40 {
		t.Errorf("a run has %d causes", n)
	}
}
