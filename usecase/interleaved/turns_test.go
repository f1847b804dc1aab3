package interleaved_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// phones are the phones that the tests measure on.
var phones = []string{"pixel-7-android-14", "nexus-5x-android-6.0.0"}

// bench is a settler on simulated phones whose new build is one of the demo's.
type bench struct {
	interleaved.Settler
	t   *testing.T
	dir string
	say *strings.Builder
}

func newBench(t *testing.T, head string) *bench {
	t.Helper()
	b := &bench{t: t, dir: clitest.SimulatedBuilds(t, phones...), say: &strings.Builder{}}
	c := terminal.Console{Stdout: io.Discard, Stderr: b.say, Now: time.Now, Getenv: func(string) string { return "" }}
	cfg, err := settings.LoadConfig(filepath.Join(b.dir, "apkgate.yml"), false)
	if err != nil {
		t.Fatal(err)
	}
	cfg.App.Install(b.apk(head))
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	b.Settler = interleaved.Settler{Console: c, Config: cfg, Set: settings.Settings{Policy: policy}, Flags: measurement.CollectFlags{Session: "pr"}}
	return b
}

func (b *bench) apk(name string) string { return filepath.Join(b.dir, name+".apk") }

// open is a verdict on a run on each phone, with one comparison of the time per frame: undecided on
// the phones at these places, and cleared on the others.
func (b *bench) open(places ...int) (layout.Input, measurement.Measured) {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Warnings: []run.Warning{}}
	var m measurement.Measured
	for i, phone := range phones {
		r := gate.RunVerdict{ID: phone, Verdict: gate.Pass, Scenario: "read-mail", Context: map[string]string{"model": phone}}
		c := gate.Comparison{Metric: "frames.duration_ms", Direction: gate.None, Screen: gate.Cleared}
		if slices.Contains(places, i) {
			r.Verdict, c.Screen, c.Direction = gate.Inconclusive, gate.Open, gate.Suspect
		}
		r.Comparisons = []gate.Comparison{c}
		r.Labels = gate.Labels(r.Comparisons)
		v.Runs = append(v.Runs, r)
		m.Runs, m.Places = append(m.Runs, run.Run{ID: phone, Scenario: "read-mail"}), append(m.Places, i)
	}
	return layout.Input{Verdict: v}, m
}

func (b *bench) settle(t *testing.T, places ...int) gate.Verdict {
	t.Helper()
	in, m := b.open(places...)
	in, err := b.Settle(t.Context(), in, m)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.say)
	}
	return in.Verdict
}

// Rounds that settled nothing are kept, and the next job that measures the same two commits resumes
// them: one more round is enough. For another commit it starts from zero.
func TestSettleResumesRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	store, err := openstore.Open(t.Context(), b.Console, filepath.Join(b.dir, "rounds.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b.Store, b.Base = store, interleaved.Base{APK: b.apk("demo-good"), Source: run.Source{Commit: "base"}}
	b.Config.Rounds.Max = 7 // by their order alone eight exclude anything
	push := func(session, commit string) gate.RunVerdict {
		t.Helper()
		b.Flags.Session, b.Flags.Commit = session, commit
		in, m := b.open(1)
		in.Verdict.Runs[1].Context = map[string]string{"model": "Nexus 5X"}
		for i := range m.Runs {
			m.Runs[i].Source.Commit = commit
		}
		in, err := b.Settle(t.Context(), in, m)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.say)
		}
		return in.Verdict.Runs[1]
	}
	if r := push("first", "head"); r.Verdict != gate.Inconclusive || r.Rounds == nil || r.Rounds.Measured != 7 {
		t.Fatalf("%s after %+v: %s", r.Verdict, r.Rounds, r.Reason)
	}
	b.say.Reset()
	if r := push("second", "head"); r.Verdict != gate.Pass || r.Rounds.Measured != 8 || !strings.Contains(b.say.String(), "rounds of these two commits that the history keeps count too") {
		t.Errorf("%s after %+v: %s\n%s", r.Verdict, r.Rounds, r.Reason, b.say)
	}
	if r := push("third", "another"); r.Verdict != gate.Inconclusive || r.Rounds.Measured != 7 {
		t.Errorf("of another commit: %s after %+v: %s", r.Verdict, r.Rounds, r.Reason)
	}
}

// If there is no time to continue earlier rounds, they are all there is: four of the eight that
// exclude anything, and four more are assumed to take five minutes.
func TestSettleWithoutTimeKeepsEarlierRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Store, b.Base = memory.New(nil), interleaved.Base{APK: b.apk("demo-good"), Source: run.Source{Commit: "base"}}
	b.Config.Rounds.Minutes = 1
	in, m := b.open(1)
	for _, commit := range []string{"base", "head"} {
		r := interleaved.InRounds(commit, "first rounds", 4)
		r.App.Package, r.Scenario, r.Context = b.Config.App.Package, in.Verdict.Runs[1].Scenario, in.Verdict.Runs[1].Context
		if _, err := b.Store.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	m.Runs[0].Source.Commit, m.Runs[1].Source.Commit = "head", "head"
	in, err := b.Settle(t.Context(), in, m)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.say)
	}
	if r := in.Verdict.Runs[1]; r.Verdict != gate.Inconclusive || r.Rounds.Measured != 4 || r.Rounds.Stopped != gate.StoppedBudget || !strings.Contains(r.Reason, "about 5 more minutes of rounds") {
		t.Errorf("%s after %+v: %s\n%s", r.Verdict, r.Rounds, r.Reason, b.say)
	}
}

// The time for rounds is spent on what it can settle: the scenario that would take longer is
// reported before anything is measured, and not started.
func TestSettleSkipsWhatTheTimeCantSettle(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Config.Rounds.Minutes = 1 // eight rounds are assumed to take ten
	v := b.settle(t, 1)
	if r := v.Runs[1]; r.Verdict != gate.Inconclusive || r.Rounds == nil || r.Rounds.Measured != 0 || !strings.Contains(r.Reason, "about 10 more minutes of rounds against the base build would settle it") {
		t.Errorf("%s after %+v: %s", r.Verdict, r.Rounds, r.Reason)
	}
	if !strings.Contains(b.say.String(), "that time is unlikely to settle read-mail: about 9 more minutes would (rounds.minutes)") {
		t.Errorf("it says\n%s", b.say)
	}
}

// Looks at which a build can fail lie within the minutes: rounds of 1.25 minutes, as assumed if
// nothing is known, of which eight are ten minutes and prove one question (1/256, of 0.9 %).
func TestSettleLooksWithinTheTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-worse")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Config.Rounds.Minutes = 10
	if r := b.settle(t, 1).Runs[1]; r.Verdict != gate.Regression || r.Rounds == nil || r.Rounds.Most != 8 || r.Rounds.Measured != 8 {
		t.Errorf("%s after %+v: %s", r.Verdict, r.Rounds, r.Reason)
	}
}

// Only the phone on which something is undecided is measured, and a build that equals its base is
// settled before the rounds are spent.
func TestSettleClearsAnUnchangedBuild(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Keep = filepath.Join(t.TempDir(), "rounds")
	v := b.settle(t, 1)
	if v.Verdict != gate.Pass || v.Runs[0].Rounds != nil {
		t.Errorf("%s; the phone that was cleared has rounds %v", v.Verdict, v.Runs[0].Rounds)
	}
	if r := v.Runs[1].Rounds; r == nil || r.Stopped != gate.StoppedSettled || r.Measured >= r.Most {
		t.Errorf("rounds %+v: %s", r, v.Runs[1].Reason)
	}
	if said := b.say.String(); !strings.Contains(said, "1 comparison is undecided: measuring base and head alternately on 1 device, 45m at most, the most suspect first; base: ") {
		t.Errorf("it says\n%s", said)
	}
	for _, name := range []string{"base.jsonl", "head.jsonl"} {
		text, err := os.ReadFile(filepath.Join(b.Keep, name))
		if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"session":"pr rounds"`) {
			t.Errorf("%s: %v, %.200s", name, err, text)
		}
	}
}

func TestSettleFailsAWorseBuildEarly(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-worse")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	v := b.settle(t, 0, 1)
	if v.Verdict != gate.Regression {
		t.Errorf("%s", v.Verdict)
	}
	for _, r := range v.Runs {
		if r.Verdict != gate.Regression || r.Rounds.Stopped != gate.StoppedSettled || r.Rounds.Measured > 20 || r.Rounds.Base.App.Version != "1.4.0" {
			t.Errorf("%s: %s after %+v", r.ID, r.Reason, r.Rounds)
		}
	}
}

// A base that can't be measured leaves the verdict as it was, with the reason.
func TestSettleWithABrokenBase(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: clitest.WriteFile(t, filepath.Join(b.dir, "other.apk"), "no app")}
	v := b.settle(t, 0)
	if r := v.Runs[0]; v.Verdict != gate.Inconclusive || r.Rounds.Stopped != gate.StoppedLost || !strings.Contains(r.Reason, "the base build: ") || !strings.Contains(r.Reason, "INSTALL") {
		t.Errorf("%s: %s", v.Verdict, v.Runs[0].Reason)
	}
}

// A phone that is lost in the rounds, or a new build that crashes in them, is no pass: the exit
// status is that of the loss, and the verdict mentions it.
func TestSettleWithLosses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(*bench)
		want string
	}{
		"the phone": {func(b *bench) { b.Config.Devices[0] = config.Device{Address: "127.0.0.1:1", Name: "gone"} }, "connect to gone: "},
		"the new build": {func(b *bench) {
			b.Config.App.Install(clitest.WriteFile(b.t, filepath.Join(b.dir, "crashing.apk"), clitest.ReadFile(b.t, b.apk("demo-good"))+"\nfault crash after scroll\n"))
		}, "crashed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "demo-good")
			b.Base = interleaved.Base{APK: b.apk("demo-good")}
			c.lose(b)
			in, m := b.open(0)
			in, err := b.Settle(t.Context(), in, m)
			if err == nil || !strings.Contains(err.Error(), c.want) || exit.Finish(io.Discard, err) != exit.StatusInfrastructure {
				t.Errorf("%v", err)
			}
			if r := in.Verdict.Runs[0]; in.Verdict.Verdict != gate.Inconclusive || r.Rounds.Stopped != gate.StoppedLost || !strings.Contains(r.Reason, c.want) {
				t.Errorf("%s: %s", in.Verdict.Verdict, r.Reason)
			}
		})
	}
}

// If the phones are not available a second time, the earlier measurements have their verdict.
func TestSettleWithoutDevices(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Getenv = func(name string) string { return map[string]string{simulated.Session: "none"}[name] }
	in, m := b.open(0)
	in, err := b.Settle(t.Context(), in, m)
	if err != nil || in.Verdict.Verdict != gate.Inconclusive || len(in.Notes) != 1 || !strings.Contains(in.Notes[0], `not measured alternately with the base build: APKGATE_SIMULATED_SESSION is "none"`) {
		t.Errorf("%v, %s, %q", err, in.Verdict.Verdict, in.Notes)
	}
}

// adding is a store with a hook that runs before it adds a run.
type adding struct {
	runstore.Store
	before func() error
}

func (s adding) Add(ctx context.Context, runs ...run.Run) ([]string, error) {
	if err := s.before(); err != nil {
		return nil, err
	}
	return s.Store.Add(ctx, runs...)
}

// The rounds of one phone are in the history before those of the next are measured, so that an
// interrupt then costs only the next one's.
func TestSettleStoresRoundsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base, b.Flags.Parallel = interleaved.Base{APK: b.apk("demo-good")}, 1
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	history := memory.New(nil)
	b.Store = adding{history, func() error { interrupt(); return nil }}
	in, m := b.open(0, 1)
	in, err := b.Settle(ctx, in, m)
	if err == nil || !strings.Contains(err.Error(), "measure alternately: context canceled") {
		t.Errorf("%v", err)
	}
	settled := 0
	for _, r := range in.Verdict.Runs {
		if r.Rounds.Stopped == gate.StoppedSettled {
			settled++
		}
	}
	whole := 0
	for e, err := range history.List(t.Context(), runstore.Filter{Status: run.Complete}) {
		if err != nil || len(e.Run.ID) == 0 {
			t.Fatal(err)
		}
		whole++
	}
	if settled != 1 || whole != 2 {
		t.Errorf("%d phones are settled, and %d whole runs kept; want one, and its two", settled, whole)
	}
}

// Rounds that the history refuses have a verdict, and an error.
func TestSettleWithAFailingStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-worse")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Store = adding{memory.New(nil), func() error { return errors.New("the disk is full") }}
	in, m := b.open(0)
	in, err := b.Settle(t.Context(), in, m)
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || in.Verdict.Verdict != gate.Regression {
		t.Errorf("%v, %s", err, in.Verdict.Verdict)
	}
}

// Once the minutes are spent, what is undecided stays so.
func TestSettleWithoutTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: b.apk("demo-good")}
	b.Config.Rounds.Minutes = 1
	v := b.settle(t, 0)
	if r := v.Runs[0]; v.Verdict != gate.Inconclusive || r.Rounds.Stopped != gate.StoppedBudget || r.Rounds.Measured >= 8 {
		t.Errorf("%s after %+v: %s", v.Verdict, r.Rounds, r.Reason)
	}
}

// Nothing is measured if nothing is undecided, if rounds are switched off, or if they could prove
// nothing; the last is reported.
func TestSettleMeasuresNoRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Base = interleaved.Base{APK: "no/such.apk"}
	if v := b.settle(t); v.Verdict != gate.Inconclusive || b.say.Len() > 0 {
		t.Errorf("nothing is open: %s", b.say)
	}
	b.Config.Rounds.Max = 0
	if b.settle(t, 0); b.say.Len() > 0 {
		t.Errorf("rounds are off: %s", b.say)
	}
	b.Config.Rounds.Max = 3
	in, m := b.open(0)
	in, err := b.Settle(t.Context(), in, m)
	if err != nil || len(in.Notes) != 1 || !strings.Contains(in.Notes[0], "3 rounds at most can't keep false alarms") {
		t.Errorf("%v, %q", err, in.Notes)
	}
}

// Without a base build what looks worse is measured again, in another session.
func TestSettleWithoutABase(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	var judged []run.Run
	b.Judge = func(runs []run.Run) (layout.Input, error) {
		judged = runs
		return layout.Input{Verdict: gate.Verdict{Verdict: gate.Regression}}, nil
	}
	if v := b.settle(t, 1); v.Verdict != gate.Regression || len(judged) != 3 {
		t.Fatalf("%s, %d runs are judged", v.Verdict, len(judged))
	}
	if r := judged[2]; r.Session != "pr again" || r.Context["model"] != "Nexus 5X" || len(r.Iterations) != b.Config.Scenarios[0].Repetitions {
		t.Errorf("measured again: session %q on %q, %d repetitions", r.Session, r.Context["model"], len(r.Iterations))
	}
}

// The build that a refresh kept is found by the commits on which a pull request is based, and only
// if it was accepted.
func TestKeptBuildIsTheBase(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	path := filepath.Join(b.dir, "kept.db")
	store, err := openstore.Open(t.Context(), b.Console, path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	folder := openstore.Kept(path)
	keep := func(apk, commit string, state runstore.State) {
		cfg := *b.Config
		cfg.App.Install(b.apk(apk))
		cfg.Devices = []config.Device{{Simulated: phones[0], Name: phones[0]}}
		m, err := measurement.MeasureInto(t.Context(), b.Console, &cfg, measurement.CollectFlags{Commit: commit, Evidence: measurement.Evidence{Folder: folder, APK: true}}, store)
		if err == nil && state != "" {
			err = store.Mark(t.Context(), []string{m.Runs[0].ID}, runstore.Mark{State: state})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Config.Scenarios[0].Repetitions = 1
	keep("demo-good", "aaa", runstore.Accepted)
	keep("demo-worse", "bbb", runstore.Accepted)
	keep("demo-worse", "ccc", "")
	for _, test := range []struct {
		commits      []string
		commit, name string
	}{
		{nil, "bbb", "demo-worse"},
		{[]string{"zzz", "aaa", "bbb"}, "aaa", "demo-good"},
		{[]string{"ccc"}, "", ""},
	} {
		base := interleaved.Kept(t.Context(), b.Console, b.Config, store, folder, test.commits)
		defer base.Close(b.Console)
		want := ""
		if test.name != "" {
			text, err := os.ReadFile(b.apk(test.name))
			if err != nil {
				t.Fatal(err)
			}
			want = string(text)
		}
		got, _ := os.ReadFile(base.APK)
		if base.Source.Commit != test.commit || string(got) != want {
			t.Errorf("commits %q: %+v", test.commits, base)
		}
		base.Close(b.Console)
		if _, err := os.Stat(base.APK); base.APK != "" && err == nil {
			t.Errorf("%s is left behind", base.APK)
		}
	}
	if base := interleaved.Kept(t.Context(), b.Console, b.Config, store, evidence.At(filepath.Join(b.dir, "elsewhere"), evidence.Default), nil); base.APK != "" {
		t.Errorf("it was found where it is not: %+v", base)
	}
	if b.say.Len() > 0 && strings.Contains(b.say.String(), "warning: nothing can") {
		t.Error(b.say)
	}
}

// A named base build is checked before anything is measured.
func TestNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, "demo-good")
	b.Config.Base = filepath.Join(b.dir, "not-built.apk")
	if base, err := interleaved.Named(b.Console, b.Config, "", ""); err != nil || base.APK != "" || !strings.Contains(b.say.String(), "not-built.apk is not there") {
		t.Errorf("%+v, %v: %s", base, err, b.say)
	}
	if _, err := interleaved.Named(b.Console, b.Config, filepath.Join(b.dir, "no-such.apk"), ""); err == nil || !strings.Contains(err.Error(), "no-such.apk") {
		t.Errorf("a flag with no file: %v", err)
	}
	if _, err := interleaved.Named(b.Console, b.Config, b.apk("demo-test"), ""); err == nil || !strings.Contains(err.Error(), "the base build: ") || !strings.Contains(err.Error(), "com.example.demo.test") {
		t.Errorf("another app: %v", err)
	}
	b.Config.Base = b.apk("demo-worse")
	if base, err := interleaved.Named(b.Console, b.Config, b.apk("demo-good"), "abc"); err != nil || base.APK != b.apk("demo-good") || base.Source.Commit != "abc" {
		t.Errorf("the flag wins: %+v, %v", base, err)
	}
}
