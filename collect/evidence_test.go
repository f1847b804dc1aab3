package collect_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	pftrace "github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// spied is a device that records its commands, and how many perfettos ran whenever frames were
// read.
type spied struct {
	device.Device
	spy *spy
}

type spy struct {
	mu       sync.Mutex
	commands []string
	perfetto map[int]int // how often so many were seen
	// refuse makes Pull fail for paths that contain it; "" none.
	refuse string
	deaf   bool // the logcat that follows the log does not start
	// heard is closed when the log's follower has handled an ANR or a long frame.
	heard chan struct{}
	once  sync.Once
}

func (s spied) Exec(ctx context.Context, command string) (device.Output, error) {
	s.spy.mu.Lock()
	s.spy.commands = append(s.spy.commands, command)
	s.spy.mu.Unlock()
	if strings.Contains(command, "gfxinfo com.example.demo framestats") || strings.Contains(command, "pidof com.example.demo") {
		out, err := s.Device.Exec(ctx, "pidof perfetto")
		if err != nil {
			return out, err
		}
		if err := s.waitHeard(ctx); err != nil {
			return out, err
		}
		s.spy.mu.Lock()
		s.spy.perfetto[len(strings.Fields(string(out.Stdout)))]++
		s.spy.mu.Unlock()
	}
	return s.Device.Exec(ctx, command)
}

// awaited is an ANR or a long frame, in the log.
var awaited = regexp.MustCompile(`am_anr|Davey!`)

// hears reports whether the log's follower asked for what is in the text.
func (s spied) hears(text []byte) bool {
	return bytes.Contains(text, []byte("am_anr")) || strings.Contains(s.spy.ran("logcat -T")[0], "HWUI")
}

// waitHeard delays the next command while the phone's log has an entry that was not handled yet: a
// simulated clock is too fast for a concurrent follower.
func (s spied) waitHeard(ctx context.Context) error {
	if len(s.spy.ran("logcat -T")) == 0 {
		return nil // nobody listens
	}
	out, err := s.Device.Exec(ctx, "logcat -d -b events -b main am_anr:I HWUI:I '*:S'")
	if err != nil || !awaited.Match(out.Stdout) || !s.hears(out.Stdout) {
		return err
	}
	select {
	case <-s.spy.heard:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (s spied) Start(ctx context.Context, command string) (device.Process, error) {
	if s.spy.deaf && strings.Contains(command, "logcat -T") {
		return nil, errors.New("logcat: not found")
	}
	s.spy.mu.Lock()
	s.spy.commands = append(s.spy.commands, command)
	s.spy.mu.Unlock()
	p, err := s.Device.Start(ctx, command)
	if err == nil && strings.Contains(command, "logcat -T") {
		return followed{p, &listener{r: p.Stdout(), heard: s.spy.heard, once: &s.spy.once}}, nil
	}
	return p, err
}

// followed is a logcat whose reader is observed.
type followed struct {
	device.Process
	out *listener
}

func (f followed) Stdout() io.Reader { return f.out }

// listener signals when its reader returns after it received what is awaited.
type listener struct {
	r     io.Reader
	text  []byte
	heard chan struct{}
	once  *sync.Once // of all repetitions
	told  bool
}

func (l *listener) Read(p []byte) (int, error) {
	if !l.told && awaited.Match(l.text) && bytes.HasSuffix(l.text, []byte("\n")) {
		l.told = true
		l.once.Do(func() { close(l.heard) })
	}
	n, err := l.r.Read(p)
	l.text = append(l.text, p[:n]...)
	return n, err
}

func (s spied) Pull(ctx context.Context, path string, dst io.Writer) error {
	if s.spy.refuse != "" && strings.Contains(path, s.spy.refuse) {
		return errors.New("pull: read error")
	}
	return s.Device.Pull(ctx, path, dst)
}

// ran returns the commands that contain the text.
func (s *spy) ran(text string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if strings.Contains(c, text) {
			out = append(out, c)
		}
	}
	return out
}

// watched is a job of the demo app on a simulated phone whose evidence is kept in a folder.
func watched(t *testing.T, profile, keep string, o simulator.Options) (*simulator.Simulated, collect.Job, *evidence.Folder, *spy) {
	t.Helper()
	s, job := simulated(t, profile, o)
	job.Evidence.Keep = keep
	spy := spyOn(&job)
	return s, job, evidence.At(t.TempDir(), evidence.Default), spy
}

// spyOn records a job's commands to its device.
func spyOn(job *collect.Job) *spy {
	spy := &spy{perfetto: map[int]int{}, heard: make(chan struct{})}
	open := job.Open
	job.Open = func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return spied{d, spy}, nil
	}
	return spy
}

// left fails if a recorder's file is left on the phone.
func left(t *testing.T, s *simulator.Simulated) {
	t.Helper()
	files, err := s.Phone.List("/data/misc/perfetto-traces")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("left on the phone: %s", f.Name())
	}
}

// anrs and frozen are faults of the second repetition, which is the third run of the workload. A UI
// thread that is busy for 2.1 s freezes a frame, from its next vsync on; busy for 6.5 s it is an
// ANR.
var (
	anrOnce    = simapp.Fault{Kind: simapp.ANR, At: time.Second, Repetition: 3}
	frozenOnce = simapp.Fault{Kind: simapp.ANR, At: time.Second, For: 2100 * time.Millisecond, Repetition: 3}
)

// If something went wrong in one repetition of a run, only that repetition's trace is kept.
func TestTraceOfAnAnomalyIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile string
		fault   simapp.Fault
		why     string
		clones  int // traces that are saved while the workload runs
	}{
		"ANR, where a session is cloned": {"pixel-7-android-14", anrOnce, "the app did not respond: Input dispatching timed out", 1},
		"ANR before Android 14":          {"pixel-5-android-11", anrOnce, "the app did not respond: Input dispatching timed out", 0},
		"a frozen frame":                 {"pixel-5-android-11", frozenOnce, "a frame took 2", 0},
		"a frozen frame of the timeline": {"pixel-7-android-14", frozenOnce, "a frame took 2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job, folder, spy := watched(t, c.profile, config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{c.fault}})
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
			wantComplete(t, r, 3)
			if _, err := run.Encode(r.Run); err != nil {
				t.Errorf("the record is not valid: %v", err)
			}
			traces := tracesOf(r.Run)
			if len(traces) != 1 {
				t.Fatalf("%d traces are kept, want that of repetition 2: %+v, %v", len(traces), r.Run.Evidence, r.Run.Warnings)
			}
			e := traces[0]
			if e.Kind != run.PerfettoTrace || e.Repetition != 2 || e.Name != "repetition-2.pftrace" || !strings.HasPrefix(e.Why, c.why) {
				t.Errorf("kept: %+v", e)
			}
			if names := eventsOf(r.Run); !slices.Contains(names, e.Event) {
				t.Errorf("kept for the event %q, which is none of %q", e.Event, names)
			}
			spans(t, folder, e)
			if got := spy.ran("--clone-by-name"); len(got) != c.clones {
				t.Errorf("saved while it ran: %q, want %d", got, c.clones)
			}
			if r.Run.Context["recorded"] != "perfetto" {
				t.Errorf("the context does not say that it was recorded: %v", r.Run.Context)
			}
			left(t, s)
		})
	}
}

// tracesOf returns the kept traces of anomalies.
func tracesOf(r run.Run) (out []run.Evidence) {
	for _, e := range r.Evidence {
		if e.Kind == run.PerfettoTrace && !strings.HasPrefix(e.Why, "worst frame of the run: ") {
			out = append(out, e)
		}
	}
	return out
}

func eventsOf(r run.Run) (names []string) {
	for _, b := range r.Iterations[1].Events {
		names = append(names, b.Name)
	}
	return names
}

// spans checks that the kept trace covers the time for which it was kept.
func spans(t *testing.T, folder *evidence.Folder, e run.Evidence) {
	t.Helper()
	file, err := folder.Open(e.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	trace, err := pftrace.Read(file)
	if err != nil || trace.Clock != "monotonic" {
		t.Fatalf("the kept trace: %v, on the clock %q", err, trace.Clock)
	}
	if e.FromMS <= 0 || e.ToMS < e.FromMS {
		t.Errorf("kept for %.0f to %.0f ms", e.FromMS, e.ToMS)
	}
}

// The trace of a crash is kept too, without a repetition: the crashed repetition is repeated, and
// its iteration has no crash.
func TestTraceOfALostRepetitionIsKept(t *testing.T) {
	t.Parallel()
	crash := simapp.Fault{Kind: simapp.Crash, At: 3 * time.Second, Repetition: 3}
	s, job, folder, _ := watched(t, "pixel-5-android-11", config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{crash}})
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	wantComplete(t, r, 3)
	kept := tracesOf(r.Run)
	if len(kept) != 1 {
		t.Fatalf("kept: %+v, %v", r.Run.Evidence, r.Run.Warnings)
	}
	e := kept[0]
	if e.Repetition != 0 || !strings.HasPrefix(e.Why, "of repetition 2, which was lost: the app crashed: ") {
		t.Errorf("kept: %+v", e)
	}
	spans(t, folder, e)
	left(t, s)
}

// checkSpent checks where the frames' time went: for all recorded frames, kept or not, with the
// trace of its repetition for each late one.
func checkSpent(t *testing.T, r run.Run, keep string) {
	t.Helper()
	if keep == config.KeepNone {
		if r.Frames != nil {
			t.Errorf("nothing is recorded, and the frames are told of: %+v", r.Frames)
		}
		return
	}
	if r.Frames == nil {
		t.Fatalf("what frames were spent on is not told: %v", r.Warnings)
	}
	told, drawn := 0, 0.0
	for _, g := range r.Frames.Groups {
		told += g.Frames
		if g.Event == "" || g.Class == run.NormalFrames && len(g.Path) == 0 {
			t.Errorf("frames of the event %q, %s, were spent on %v", g.Event, g.Class, g.Path)
		}
	}
	for _, it := range r.Iterations {
		drawn += it.Metrics["frames.count"]
	}
	if told < int(0.75*drawn) || told > int(1.1*drawn) {
		t.Errorf("%d frames are told of, of %g that were drawn", told, drawn)
	}
	for _, f := range slices.Concat(r.Frames.Worst, r.Frames.Usual) {
		kept := slices.IndexFunc(r.Evidence, func(e run.Evidence) bool { return e.Repetition == f.Repetition })
		if kept < 0 && (f.Evidence != "" || keep == config.KeepAll) || kept >= 0 && r.Evidence[kept].Digest != f.Evidence {
			t.Errorf("a frame of repetition %d leads to the trace %q, of %+v", f.Repetition, f.Evidence, r.Evidence)
		}
	}
}

// wantLatest checks that the kept trace is that of the record's latest frame, which links to it.
func wantLatest(t *testing.T, folder *evidence.Folder, r run.Run) {
	t.Helper()
	if len(r.Evidence) == 0 || r.Frames == nil || len(r.Frames.Worst) == 0 {
		t.Fatalf("kept %+v of the frames %+v", r.Evidence, r.Frames)
	}
	e, worst := r.Evidence[0], r.Frames.Worst[0]
	if e.Repetition != worst.Repetition || e.Event != worst.Event || math.Abs(e.FromMS-worst.AtMS) > 0.01 || e.Digest != worst.Evidence ||
		e.Name != fmt.Sprintf("repetition-%d.pftrace", worst.Repetition) || !strings.HasPrefix(e.Why, "worst frame of the run: ") {
		t.Errorf("kept %+v, and the latest frame is %+v", e, worst)
	}
	spans(t, folder, e)
}

// All traces are kept if configured, one if only a frame was late, and none if none is configured.
func TestKeptEvidenceByConfiguration(t *testing.T) {
	t.Parallel()
	for keep, want := range map[string]int{config.KeepAll: 3, config.KeepAnomalies: 1, config.KeepWorst: 1, config.KeepNone: 0} {
		t.Run(keep, func(t *testing.T) {
			t.Parallel()
			s, job, folder, spy := watched(t, "pixel-5-android-11", keep, simulator.Options{})
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
			wantComplete(t, r, 3)
			if len(r.Run.Evidence) != want {
				t.Errorf("kept: %+v, want %d; %v", r.Run.Evidence, want, r.Run.Warnings)
			}
			if keep == config.KeepWorst || keep == config.KeepAnomalies {
				wantLatest(t, folder, r.Run)
			}
			checkSpent(t, r.Run, keep)
			if asked := len(spy.ran("perfetto")) > 0; asked != (keep != config.KeepNone) {
				t.Errorf("perfetto was asked for anything: %v", asked)
			}
			left(t, s)
		})
	}
}

// Energy and evidence are recorded by one perfetto, and each has what it needs.
func TestOnePerfettoServesEnergyAndEvidence(t *testing.T) {
	t.Parallel()
	s, job, folder, spy := watched(t, "pixel-7-android-14", config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{anrOnce}})
	energy := config.DefaultEnergy()
	energy.Source, energy.Settle = config.EnergyRails, new(time.Duration)
	job.Energy = &energy
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	wantComplete(t, r, 3)
	for i, it := range r.Run.Iterations {
		if it.Metrics["energy.total_j"] <= 0 {
			t.Errorf("repetition %d has no joules", i+1)
		}
	}
	if kept := tracesOf(r.Run); len(kept) != 1 || kept[0].Repetition != 2 {
		t.Errorf("kept: %+v; %v", r.Run.Evidence, r.Run.Warnings)
	}
	for n, often := range spy.perfetto {
		if n > 1 {
			t.Errorf("%d perfettos ran at once, %d times", n, often)
		}
	}
	if spy.perfetto[1] == 0 {
		t.Error("no perfetto was seen")
	}
	left(t, s)
}

// full is a keeper that accepts nothing.
type full struct{}

func (full) Keep(context.Context, io.Reader, int64) (string, int64, error) {
	return "", 0, errors.New("write: no space left on device")
}

// Missing evidence is a warning, and the measurement counts.
func TestRunSurvivesMissingEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keeper  evidence.Keeper
		profile string
		refuse  string
		says    string
	}{
		"a full disk":         {full{}, "pixel-5-android-11", "", "repetition 2: its trace could not be kept: read the device's"},
		"a pull that fails":   {nil, "pixel-5-android-11", "pftrace", "repetition 2: its trace could not be kept: copy"},
		"a clone that is not": {nil, "pixel-7-android-14", "apkgate-1.pftrace", "repetition 2: its trace could not be kept: copy"},
		"before Android 10":   {nil, "pixel-3-android-9", "", "there is no trace to keep before Android 10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, job, folder, spy := watched(t, c.profile, config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{anrOnce}})
			spy.refuse = c.refuse
			keeper := c.keeper
			if keeper == nil {
				keeper = folder
			}
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: keeper})
			wantComplete(t, r, 3)
			if len(tracesOf(r.Run)) != 0 || !warnedOf(r.Run, c.says) {
				t.Errorf("kept %+v; warnings %v, want %q", r.Run.Evidence, r.Run.Warnings, c.says)
			}
		})
	}
}

// A log that can't be followed costs neither the measurement nor the trace: the anomaly is found at
// the end.
func TestLogThatCantBeFollowed(t *testing.T) {
	t.Parallel()
	_, job, folder, spy := watched(t, "pixel-5-android-11", config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{anrOnce}})
	spy.deaf = true
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	wantComplete(t, r, 3)
	if kept := tracesOf(r.Run); len(kept) != 1 || kept[0].Repetition != 2 {
		t.Errorf("kept %+v, want the trace of repetition 2", r.Run.Evidence)
	}
	if says := "repetition 2: what goes wrong is noticed in the end alone: follow the device's log: logcat: not found"; !warnedOf(r.Run, says) {
		t.Errorf("warnings %v, want %q", r.Run.Warnings, says)
	}
}

// If the app is a debug build and its files are readable, the stacks of its threads at the ANR are
// kept; otherwise a warning says why not.
func TestThreadsOfAnANR(t *testing.T) {
	t.Parallel()
	const android11, android13, android14, android15 = "pixel-5-android-11", "galaxy-s21-android-13", "pixel-7-android-14", "pixel-7-android-15"
	for name, c := range map[string]struct {
		profile          string
		debuggable, root bool
		says             string // "" if they are kept
	}{
		"a debug build, adb as root": {android11, true, true, ""},
		"a release build, as root":   {android11, false, true, ""},
		"Android 13, as root":        {android13, false, true, ""}, // whose tombstoned names the file alone
		"Android 15, as root":        {android15, false, true, ""},
		"a debug build":              {android11, true, false, ""}, // which the system shows the shell
		"Android 14, a debug build":  {android14, true, false, ""}, // where everybody may read it
		"a release build":            {android11, false, false, "the app could not be made to write them: it is no debug build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, job, folder, _ := watched(t, c.profile, config.KeepAnomalies, simulator.Options{Faults: []simapp.Fault{anrOnce}, Root: c.root})
			if c.debuggable {
				appendTo(t, job.App.APK, "\ndebuggable\n")
			}
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
			wantComplete(t, r, 3)
			i := slices.IndexFunc(r.Run.Evidence, func(e run.Evidence) bool { return e.Kind == run.ThreadDump })
			if c.says != "" {
				if i >= 0 || !warnedOf(r.Run, "repetition 2: which thread kept com.example.demo from responding is not known", c.says) {
					t.Errorf("kept %+v; warnings %v, want %q", r.Run.Evidence, r.Run.Warnings, c.says)
				}
				return
			}
			if i < 0 {
				t.Fatalf("no stacks are kept: %+v, %v", r.Run.Evidence, r.Run.Warnings)
			}
			e := r.Run.Evidence[i]
			file, err := folder.Open(e.Digest)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			text, err := io.ReadAll(file)
			if err != nil || !strings.Contains(string(text), "\n  at com.example.demo.MessageView.") || e.Repetition != 2 {
				t.Errorf("%+v: %v, %s", e, err, text)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Garbage collections are counted if a trace is recorded, in which ART reports each of them, and
// only then.
func TestGarbageCollectionsAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, keep string
		allocates     bool
		known         bool
	}{
		{"pixel-7-android-14", config.KeepAnomalies, true, true},
		{"pixel-5-android-11", config.KeepAnomalies, true, true}, // whose frames are read from dumps
		{"pixel-7-android-14", config.KeepAnomalies, false, true},
		{"pixel-7-android-14", config.KeepNone, true, false},
		{"pixel-3-android-9", config.KeepAnomalies, true, false}, // without a trace
	} {
		s, job, folder, _ := watched(t, c.profile, c.keep, simulator.Options{})
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		if c.allocates {
			job.App.APK = demoWith(t, "allocates 300\n")
		}
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
		wantComplete(t, r, 1)
		count, took := 0, time.Duration(0)
		for _, one := range s.Phone.Timeline().Slices {
			if strings.HasSuffix(one.Name, " GC") {
				count, took = count+1, took+one.To-one.From
			}
		}
		m := r.Run.Iterations[0].Metrics
		got, known := m["gc.count"]
		if known != c.known || c.allocates != (count > 3) {
			t.Errorf("%+v: counted %v of %d", c, known, count)
		}
		if known && (got != float64(count) || math.Abs(m["gc.time_ms"]-float64(took)/1e6) > 0.01) {
			t.Errorf("%+v: %v runs of %v ms, want %d of %v", c, got, m["gc.time_ms"], count, took)
		}
	}
}

// On a retail phone, an app that is not profileable by the shell traces none of its own sections:
// the run says so, with the line that the manifest lacks.
func TestMissingSectionsOfTheAppAreReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		element, attribute string
		production         bool
		keep               string
		want               bool
	}{
		{"application", "label", true, config.KeepWorst, true},
		{"profileable", "shell", true, config.KeepWorst, false},
		{"application", "debuggable", true, config.KeepWorst, false},
		{"application", "label", false, config.KeepWorst, false},
		{"application", "label", true, config.KeepNone, false},
	} {
		_, job, folder, _ := watched(t, "pixel-7-android-14", c.keep, simulator.Options{Production: c.production})
		text, err := os.ReadFile(job.App.APK)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, data := range map[string][]byte{simapp.EntryName: text, "AndroidManifest.xml": manifestWith(c.element, c.attribute)} {
			f, err := z.Create(name)
			if err == nil {
				_, err = f.Write(data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		job.App.APK = filepath.Join(t.TempDir(), "app.apk")
		if err := os.WriteFile(job.App.APK, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
		wantComplete(t, r, 1)
		if said := slices.ContainsFunc(r.Run.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, `add <profileable android:shell="true"/>`) }); said != c.want {
			t.Errorf("%+v: %q", c, r.Run.Warnings)
		}
	}
}

// manifestWith is a binary AndroidManifest.xml after Android's ResourceTypes.h: of a package, with
// an element that has a true attribute.
func manifestWith(name, attribute string) []byte {
	le := binary.LittleEndian
	chunk := func(kind, head uint16, content []byte) []byte {
		out := le.AppendUint16(le.AppendUint16(nil, kind), head)
		return append(le.AppendUint32(out, uint32(8+len(content))), content...)
	}
	words := []string{"manifest", "package", "com.example.demo", name, attribute}
	var offsets, texts []byte
	for _, w := range words {
		offsets = le.AppendUint32(offsets, uint32(len(texts)))
		texts = append(append(append(texts, byte(len(w)), byte(len(w))), w...), 0)
	}
	var head []byte
	for _, n := range []uint32{uint32(len(words)), 0, 1 << 8, uint32(28 + len(offsets)), 0} {
		head = le.AppendUint32(head, n)
	}
	element := func(name, attribute uint32, kind byte, value uint32) []byte {
		c := slices.Concat(le.AppendUint32(nil, 1), bytes.Repeat([]byte{0xff}, 8), le.AppendUint32(nil, name))
		for _, n := range []uint16{20, 20, 1, 0, 0, 0} {
			c = le.AppendUint16(c, n)
		}
		c = le.AppendUint32(append(c, 0xff, 0xff, 0xff, 0xff), attribute)
		c = append(le.AppendUint16(append(c, 0xff, 0xff, 0xff, 0xff), 8), 0, kind)
		return chunk(0x0102, 16, le.AppendUint32(c, value))
	}
	const text, flag = 0x03, 0x12
	return chunk(0x0003, 8, slices.Concat(chunk(0x0001, 28, slices.Concat(head, offsets, texts)), element(0, 1, text, 2), element(3, 4, flag, 0xffffffff)))
}
