package explanation_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// phones are an old one that can't record, and one that can.
var phones = []string{"nexus-5x-android-6.0.0", "pixel-7-android-14"}

// says is standard error, with a hook that runs as soon as something is written.
type says struct {
	strings.Builder
	on string
	do func()
}

func (s *says) Write(p []byte) (int, error) {
	if s.do != nil && strings.Contains(string(p), s.on) {
		s.do()
		s.do = nil
	}
	return s.Builder.Write(p)
}

// bench is a recorder of the demo's builds on simulated phones, with a verdict by which scrolling
// is slower on both.
type bench struct {
	explanation.Recorder
	said  *says
	in    layout.Input
	units map[string]measurement.Unit
}

func newBench(t *testing.T, faults string) *bench {
	t.Helper()
	dir := clitest.SimulatedBuilds(t, phones...)
	cfg, err := settings.LoadConfig(filepath.Join(dir, "apkgate.yml"), false)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{said: &says{}, units: map[string]measurement.Unit{}}
	c := terminal.Console{Stdout: &strings.Builder{}, Stderr: b.said, Now: time.Now, Getenv: func(name string) string {
		return map[string]string{simulated.Faults: faults}[name]
	}}
	good, err := os.ReadFile(filepath.Join(dir, "demo-good.apk"))
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(dir, "demo-slow.apk"), strings.NewReplacer("\nscenario ", "\nblocks binder com.example.backend IFeed::query 24ms after scroll every 4\n\nscenario ", "version 1.4.0 140", "version 1.5.0 150").Replace(string(good)))
	b.Recorder = explanation.Recorder{
		Console: c, Config: cfg, Base: filepath.Join(dir, "demo-good.apk"), Head: filepath.Join(dir, "demo-slow.apk"),
		Session: "pr", Within: config.DefaultWhy, Keep: filepath.Join(dir, "kept"),
	}
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Warnings: []run.Warning{}}
	for i, phone := range phones {
		v.Runs = append(v.Runs, gate.RunVerdict{
			ID: phone, Verdict: gate.Regression, Scenario: "read-mail", Context: map[string]string{"model": phone, "api": []string{"23", "34"}[i], "sdk": []string{"6.0.0", "14"}[i]},
			Deviations: []gate.Comparison{{Event: "scroll", Metric: "frames.duration_ms", Direction: gate.ToRegression, Change: 1.4 - float64(i)}},
		})
		b.units[phone] = measurement.Units(cfg)[i]
	}
	b.in = layout.Input{Verdict: v}
	return b
}

// explained asserts that the verdict is unchanged, and returns what is explained.
func (b *bench) explained(t *testing.T, ctx context.Context) (layout.Input, error) {
	t.Helper()
	before := layout.Verdict(b.in).Answer
	in, err := b.Verdict(ctx, b.in, b.units)
	if !reflect.DeepEqual(b.in.Verdict, in.Verdict) {
		t.Errorf("the verdict changed to %+v", in.Verdict)
	}
	if after := layout.Verdict(in).Answer; after != before {
		t.Errorf("the answer was %+v, and is %+v", before, after)
	}
	return in, err
}

// Three rounds of both builds are recorded on the phone that can record, though the other one is
// worse. Their records mark their purpose, the causes name their basis, and the report their
// origin. What is explained is not recorded again.
func TestVerdictExplainsARegression(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	in, err := b.explained(t, t.Context())
	if err != nil || len(in.Causes) == 0 {
		t.Fatalf("%v, no cause\n%s", err, b.said)
	}
	for _, c := range in.Causes {
		basis := ""
		for _, part := range c.Basis {
			basis += part.Text
		}
		if c.Kind != "render.binder" || c.Run != phones[1] || c.Event != "scroll" || !strings.Contains(basis, "recorded after the verdict") {
			t.Errorf("the cause is %s of run %s, event %s, on the basis %q", c.Kind, c.Run, c.Event, basis)
		}
	}
	if !strings.Contains(b.said.String(), "recording 4 rounds of both builds of read-mail on pixel-7-android-14 over wifi to explain what got worse: up to 5m; they judge nothing") {
		t.Errorf("it says\n%s", b.said)
	}
	if want := []string{"The causes given for read-mail on pixel-7-android-14 over wifi come from 4 rounds of both builds, recorded after the verdict; they judge nothing."}; !slices.Equal(in.Notes, want) {
		t.Errorf("the notes are %q", in.Notes)
	}
	for _, name := range []string{"why-base.jsonl", "why-head.jsonl"} {
		text, err := os.ReadFile(filepath.Join(b.Keep, name))
		if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"explains":true`) || !strings.Contains(string(text), `"session":"pr why"`) {
			t.Errorf("%s: %v, %.300s", name, err, text)
		}
	}
	b.in = in
	b.said.Reset()
	if _, err := b.explained(t, t.Context()); err != nil || b.said.String() != "" {
		t.Errorf("what is explained is recorded again: %v\n%s", err, b.said)
	}
}

// Files of recorded rounds are not judged, accepted or compared.
func TestRecordedRoundsJudgeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	if _, err := b.explained(t, t.Context()); err != nil {
		t.Fatal(err)
	}
	head, base, store := filepath.Join(b.Keep, "why-head.jsonl"), filepath.Join(b.Keep, "why-base.jsonl"), filepath.Join(t.TempDir(), "h.db")
	for _, args := range [][]string{
		{"check", "--history", base, "--run", head},
		{"compare", "--base-run", base, "--head-run", head},
		{"baseline", "import", "--store", store, head},
	} {
		clitest.Refuses(t, clitest.Run(t, nil, args...), "it was recorded to explain a verdict, and judges nothing")
	}
}

// A failure is a warning and a note, and the verdict stays as it was.
func TestFailedExplanationIsAWarning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults string
		change func(b *bench, cancel func())
		says   string // a note
	}{
		"the phone is gone":    {faults: "pixel-7-android-14: die at 1s", says: "No round of both builds of read-mail on pixel-7-android-14 over wifi was recorded to explain it: "},
		"the base fails":       {change: func(b *bench, _ func()) { b.Base = filepath.Join(filepath.Dir(b.Base), "apkgate.yml") }, says: "the base build: "},
		"there is no time":     {change: func(b *bench, _ func()) { b.Within = time.Nanosecond }, says: "the time for it, "},
		"there is little time": {change: func(b *bench, _ func()) { b.Within = 90 * time.Second }, says: " 4 were to be recorded: the time for it, 1m30s, was too short."},
		"killed in its midst": {change: func(b *bench, cancel func()) {
			b.ProgressTerminal, b.said.on, b.said.do = true, "repetition 2 of 4", cancel
		}, says: "it was interrupted"},
		"killed before it":       {change: func(b *bench, cancel func()) { b.said.on, b.said.do = "recording 4 rounds", cancel }, says: "it was interrupted"},
		"the folder is no place": {change: func(b *bench, _ func()) { b.Keep = b.Base }, says: "The causes given for read-mail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b := newBench(t, c.faults)
			if c.change != nil {
				c.change(b, cancel)
			}
			in, _ := b.explained(t, ctx)
			if len(in.Notes) != 1 || !strings.Contains(in.Notes[0], c.says) {
				t.Errorf("the notes are %q, want %q in one\n%s", in.Notes, c.says, b.said)
			}
			if none := strings.HasPrefix(in.Notes[0], "No round"); none && (len(in.Causes) > 0 || !strings.Contains(b.said.String(), "warning: what got worse is not explained: ")) {
				t.Errorf("%d causes of nothing\n%s", len(in.Causes), b.said)
			}
		})
	}
}

// Without a base build, on phones that are too old, or if it is disabled, nothing is recorded, and
// what is needed is printed.
func TestMissingRequirementsAreReported(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench){
		"no base": func(b *bench) { b.Base = "" },
		"no time": func(b *bench) { b.Within = 0 },
		"too old": func(b *bench) { b.in.Verdict.Runs = b.in.Verdict.Runs[:1] },
		"no frame": func(b *bench) {
			b.in.Verdict.Runs[0].Deviations[0].Metric, b.in.Verdict.Runs[1].Deviations[0].Metric = "build.bytes", "build.bytes"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "")
			change(b)
			in, err := b.explained(t, t.Context())
			if err != nil || len(in.Notes) > 0 || b.said.String() != "" {
				t.Errorf("%v, notes %q\n%s", err, in.Notes, b.said)
			}
		})
	}
}
