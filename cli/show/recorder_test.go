package show_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/cli/show"
	"github.com/apkgate/apkgate/usecase/exit"
)

// callingApp is an app each frame of which makes so many calls.
const callingApp = `apkgate-simulated-app/1
package com.example.calls
noise session 1%% repetition 0%% frame 4%% tail 0%%
cost 7ms
frame-calls %d
scenario scroll 6s
  start 2
  3s scroll 120
test com.example.calls.ScrollTest#scrolls scroll
`

// costs runs noise --recorder on the app, and returns the costs by metric.
func costs(t *testing.T, recorder string, calls int) map[string]show.RecorderCost {
	t.Helper()
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "app.apk", fmt.Sprintf(callingApp, calls))
	clitest.WriteFile(t, "apkgate.yml", `app: {package: com.example.calls, apk: app.apk}
scenarios:
  - name: scroll
    workload:
      instrumentation: {test-package: com.example.calls, class: "com.example.calls.ScrollTest#scrolls"}
devices: [{simulated: pixel-7-android-16}]
`)
	rounds := "6"
	if os.Getenv("APKGATE_EVALUATION") == "full" {
		rounds = "30"
	}
	got := clitest.Run(t, nil, "noise", "--recorder", recorder, "--rounds", rounds, "--format", "json")
	if got.Status != exit.StatusPass {
		t.Fatalf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	var out show.RecorderCosts
	if err := json.Unmarshal([]byte(got.Stdout), &out); err != nil || out.Format != "apkgate.recorder/1" || fmt.Sprint(out.Rounds) != rounds {
		t.Fatalf("%v: %s", err, got.Stdout)
	}
	byMetric := map[string]show.RecorderCost{}
	for _, c := range out.Costs {
		byMetric[c.Metric] = c
	}
	return byMetric
}

// The simulated phone's costs are known, and measured: 405 calls a frame take 405 × 2 × 3,366 ns =
// 2.73 ms longer where they are instrumented, on a frame of some 5.5 ms; with low overhead 3 µs; and
// samples of 10 µs at 1,000 Hz take 1 % longer.
func TestNoiseMeasuresWhatARecorderCosts(t *testing.T) {
	for _, c := range []struct {
		recorder  string
		low, high float64 // of the change, in which it has to be
	}{
		{"calls", 0.35, 0.55},
		{"long", -0.01, 0.01},
		{"samples", 0, 0.025},
	} {
		if c.recorder == "samples" && os.Getenv("APKGATE_EVALUATION") != "full" {
			continue // one percent takes more rounds
		}
		got := costs(t, c.recorder, 400)["frames.duration_ms"]
		if os.Getenv("APKGATE_EVALUATION") != "full" { // six rounds, whose order is drawn anew each time
			if got.Change < c.low-0.05 || got.Change > c.high+0.05 || (c.recorder == "calls") != (got.Change > got.Limit) {
				t.Errorf("%s: %+v, want a change of about %g to %g", c.recorder, got, c.low, c.high)
			}
			continue
		}
		switch {
		case got.ChangeLow == nil || got.Change < c.low || got.Change > c.high:
			t.Errorf("%s: %+v, want a change of %g to %g", c.recorder, got, c.low, c.high)
		case (c.recorder == "calls") != (got.Verdict == show.TooMuch):
			t.Errorf("%s: the verdict is %s", c.recorder, got.Verdict)
		default:
			t.Logf("%s: %+.2f %%, %+.2f to %+.2f %%, %s", c.recorder, 100*got.Change, 100**got.ChangeLow, 100**got.ChangeHigh, got.Verdict)
		}
	}
}

// A recorder that the phone does not have is an error, not a recorder that costs nothing.
func TestNoiseOfARecorderThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "app.apk", fmt.Sprintf(callingApp, 0))
	clitest.WriteFile(t, "apkgate.yml", `app: {package: com.example.calls, apk: app.apk}
scenarios:
  - name: scroll
    workload:
      instrumentation: {test-package: com.example.calls, class: "com.example.calls.ScrollTest#scrolls"}
devices: [{simulated: pixel-7-android-14}]
`)
	got := clitest.Run(t, nil, "noise", "--recorder", "long", "--rounds", "2")
	if got.Status == exit.StatusPass || !strings.Contains(got.Stderr, "was to be recorded by long") {
		t.Errorf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
}
