package measurement

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// A terminal shows the current step, without the bar if it is narrow.
func TestProgressOnATerminal(t *testing.T) {
	for _, c := range []struct {
		width int
		event journal.Event
		want  string
		bar   bool
	}{
		{100, journal.Event{Phase: journal.SetUp, Message: "compiling the app"}, "pixel: compiling the app", true},
		{100, journal.Event{Phase: journal.WarmUp, Repetition: 1}, "pixel: warm-up", true},
		{100, journal.Event{Phase: journal.Waiting, Message: "has not answered for 5s"}, "pixel has not answered for 5s", false},
		{40, journal.Event{Phase: journal.Settle, Message: "1m55s left"}, "pixel: resting, 1m55s", false},
	} {
		var out bytes.Buffer
		jobs := []collect.Job{{Scenario: config.Scenario{Repetitions: 5}}}
		p := NewProgress(terminal.Console{Stderr: &out, ProgressTerminal: true, Width: c.width, Now: time.Now}, jobs)
		c.event.Device = "pixel"
		p.Report(c.event)
		line := strings.TrimPrefix(out.String(), "\r\x1b[K")
		if !strings.Contains(line, c.want) || strings.Contains(line, "·") != c.bar || len([]rune(line)) >= c.width {
			t.Errorf("%d columns wide: %q, want %q within, bar %v", c.width, line, c.want, c.bar)
		}
	}
}

// Once a repetition is over, the time that is left is known about.
func TestProgressTellsTheTime(t *testing.T) {
	now := time.Unix(0, 0)
	var out bytes.Buffer
	jobs := []collect.Job{{Scenario: config.Scenario{Repetitions: 4}}, {Scenario: config.Scenario{Repetitions: 4}}}
	p := NewProgress(terminal.Console{Stderr: &out, ProgressTerminal: true, Width: 120, Now: func() time.Time { return now }}, jobs)
	for _, c := range []struct {
		passed time.Duration
		want   string
	}{
		{0, "0 of 2 runs, 0s, pixel"},
		{time.Minute, "0 of 2 runs, 1m, about 7m left, pixel"},            // one of eight took a minute
		{95 * time.Second, "0 of 2 runs, 1m35s, about 4m45s left, pixel"}, // two took 95 s: six take 285
		{15 * time.Minute, "0 of 2 runs, 15m, about 25m left, pixel"},     // three took 15 min
	} {
		now = time.Unix(0, 0).Add(c.passed)
		out.Reset()
		p.Report(journal.Event{Device: "pixel", Phase: journal.Measure, Repetition: 1, Repetitions: 4})
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("after %v: %q, want %q", c.passed, &out, c.want)
		}
	}
}

// A log that was silent for a minute has a line with the time.
func TestProgressInASilentLog(t *testing.T) {
	now := time.Unix(0, 0)
	var out bytes.Buffer
	p := NewProgress(terminal.Console{Stderr: &out, Now: func() time.Time { return now }}, []collect.Job{{Scenario: config.Scenario{Repetitions: 4}}})
	now = now.Add(70 * time.Second)
	p.Report(journal.Event{Device: "pixel", Phase: journal.Measure, Repetition: 1, Repetitions: 4})
	if want := "pixel: repetition 1 of 4 (1m10s)\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// A log has a line for each finished run.
func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(terminal.Console{Stderr: &out, Now: time.Now}, make([]collect.Job, 2))
	p.Finished(0, collect.Result{Device: "pixel", Run: run.Run{Scenario: "scroll", Iterations: make([]run.Iteration, 10)}})
	p.Finished(1, collect.Result{Device: "pixel", Run: run.Run{Scenario: "start", Iterations: make([]run.Iteration, 1)}})
	const want = "run 1 of 2: pixel, scroll, 10 repetitions\nrun 2 of 2: pixel, start, 1 repetition\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// If a scenario is measured on several networks, its runs are distinguished by them.
func TestProgressOfSeveralNetworks(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(terminal.Console{Stderr: &out, Now: time.Now}, []collect.Job{{Network: "wifi"}, {Network: "lte"}})
	p.Finished(1, collect.Result{Device: "pixel", Run: run.Run{Scenario: "scroll", Iterations: make([]run.Iteration, 2)}})
	p.Finished(0, collect.Result{Device: "pixel", Run: run.Run{Scenario: "scroll", Status: run.Failed}, Err: context.Canceled})
	const want = "run 1 of 2: pixel, scroll over lte, 2 repetitions\npixel: the run of scroll over wifi is failed: interrupted\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
