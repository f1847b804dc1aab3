package experiments

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
)

// taskPhone is a phone, and what records the tasks of apps there.
type taskPhone struct {
	profile, source string
	methods         bool // by am profile, which a gate does not read tasks of
}

// taskPhones differ in Android, in what tells tasks, in speed (0.7, 1 and 1.3 times the time of a
// good phone) and in their screens (120, 90 and 60 Hz).
var taskPhones = []taskPhone{
	{"pixel-8-android-16", "messages, sections", false},
	{"nord-android-10", "sections", false},
	{"c1-go-android-11", "method trace", true},
}

// job returns the job of a build on a new phone of that seed.
func (p taskPhone) job(t *testing.T, app string, seed uint64) collect.Job {
	t.Helper()
	phone, err := simulator.Start(p.profile, seed, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	pkg := wordAfter(app, "package")
	return collect.Job{
		Device: p.profile, Clock: phone.Clock(), Network: "wifi",
		Open:     func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), noKeys) },
		App:      apkFile(t, app),
		Evidence: config.Evidence{Keep: config.KeepWorst, Tasks: true},
		Extra:    map[string]string{devctx.Simulated: "true"},
		Scenario: config.Scenario{
			Name: "use", Repetitions: taskRepetitions, WarmUp: 0, Timeout: time.Minute, Retries: 2,
			Workload: config.Workload{Instrumentation: &config.Instrumentation{TestPackage: pkg, Runner: config.DefaultRunner, Class: strings.Split(wordAfter(app, "test"), "#")[0]}},
		},
	}
}

func apkFile(t *testing.T, app string) config.App {
	t.Helper()
	apk := filepath.Join(t.TempDir(), "app.apk")
	if err := os.WriteFile(apk, []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.App{Package: wordAfter(app, "package"), APK: apk}
}

// answers are the causes that are named of the head of an app, and of its base compared with another
// session of itself, and the other way round. Each event is explained as if it had got slower.
func (p taskPhone) answers(t *testing.T, a taskApp, seed uint64) (head []diagnose.Cause, unchanged [][]diagnose.Cause) {
	t.Helper()
	var before []run.Run
	if a.load == nil {
		was, is := p.inTurns(t, a.base, a.head, seed)
		before, head = []run.Run{was}, p.explained(is, []run.Run{was})
	}
	for len(before) < 2 {
		before = append(before, p.session(t, a.base, nil, seed+uint64(len(before))+1))
	}
	if a.load != nil { // beside the last of the sessions, which nobody told the gate of
		head = p.explained(p.session(t, a.base, a.load, seed+10), before)
	}
	return head, [][]diagnose.Cause{p.explained(before[1], before[:1]), p.explained(before[0], before[1:])}
}

// explained explains each event as if it had got slower.
func (p taskPhone) explained(is run.Run, was []run.Run) (out []diagnose.Cause) {
	for _, event := range run.EventOrder(is) {
		found := []diagnose.Finding{{Event: event, Metric: "events.settled_ms", Direction: gate.ToRegression}}
		out = append(append(out, jankcause.Explain(is, was, found)...), queueing.Explain(is, was, found)...)
	}
	return out
}

// inTurns measures two builds alternately; where methods are traced, in two sessions.
func (p taskPhone) inTurns(t *testing.T, base, head string, seed uint64) (was, is run.Run) {
	t.Helper()
	if p.methods {
		return p.session(t, base, nil, seed), p.session(t, head, nil, seed+20)
	}
	pair := collect.Pair{Base: p.job(t, base, seed)}
	pair.Head = pair.Base
	pair.Head.App = apkFile(t, head)
	a, b := collect.Interleave(t.Context(), pair, collect.Options{Evidence: evidence.At(t.TempDir(), evidence.Default)})
	return named(t, a), named(t, b)
}

// session measures a build on a new phone, beside a load or not.
func (p taskPhone) session(t *testing.T, app string, load *config.BackgroundLoad, seed uint64) run.Run {
	t.Helper()
	if p.methods {
		return p.profiled(t, app, load, seed, taskRepetitions)
	}
	job := p.job(t, app, seed)
	job.Scenario.Load = load
	return named(t, collect.Collect(t.Context(), job, collect.Options{Evidence: evidence.At(t.TempDir(), evidence.Default)}))
}

func named(t *testing.T, r collect.Result) run.Run {
	t.Helper()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	out, err := r.Run.Named()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// profiled plays a build so many times under am profile.
func (p taskPhone) profiled(t *testing.T, app string, load *config.BackgroundLoad, seed uint64, repetitions int) run.Run {
	t.Helper()
	pr, err := profile.Find(p.profile)
	if err != nil {
		t.Fatal(err)
	}
	pkg := wordAfter(app, "package")
	phone := slowPhone{T: t, Phone: simulator.NewPhone(pr, seed, simulator.Options{Production: true, Chatter: -1}), pkg: pkg, class: strings.Split(wordAfter(app, "test"), "#")[0]}
	defer phone.Close()
	if err := phone.Install([]byte(app)); err != nil {
		t.Fatal(err)
	}
	takes, err := time.ParseDuration(scenarioTime(app))
	if err != nil {
		t.Fatal(err)
	}
	phone.loaded(load)
	c := grouping.NewCollector(pkg, grouping.Late)
	r := run.Run{ID: fmt.Sprint("session ", seed), App: run.App{Package: pkg}, Scenario: "use", Status: run.Complete}
	var frames section.Collector
	for n := range repetitions {
		from := phone.Clock().Now()
		traces := phone.traces()
		one := grouping.Repetition{Number: n + 1, List: phone.profiled(takes + time.Second)}
		one.Events = phone.events(from)
		frames.Add(section.Repetition{Number: n + 1, Trace: phone.traced(traces), Events: one.Events})
		c.Add(one)
		it := run.Iteration{Events: []run.Bucket{{Name: run.Start}}}
		for _, e := range one.Events {
			it.Events = append(it.Events, run.Bucket{Name: e.Name})
		}
		r.Iterations = append(r.Iterations, it)
	}
	r.Tasks, r.Frames = c.Tasks(), frames.Frames()
	return r
}

func scenarioTime(app string) string {
	for line := range strings.Lines(app) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "scenario" {
			return w[2]
		}
	}
	return ""
}

// loaded starts the script of a load beside what follows, as collect/load does.
func (p slowPhone) loaded(load *config.BackgroundLoad) {
	if load == nil {
		return
	}
	p.Helper()
	const script = "/data/local/tmp/apkgate-load"
	p.tell("echo on > "+script+"-on; echo '#' > "+script+".sh", 0)
	command := "sh " + script + ".sh 3600"
	if load.CPU > 0 {
		command += fmt.Sprintf(" cpu 8 %d", int(100*load.CPU))
	}
	if load.Memory > 0 {
		command += " memory 512"
	}
	if load.Storage > 0 {
		command += fmt.Sprintf(" storage %d", load.Storage)
	}
	if load.Downloads > 0 {
		command += fmt.Sprintf(" downloads %d %s", load.Downloads, load.From)
	}
	p.Start(context.Background(), command, strings.NewReader(""), io.Discard, io.Discard)
	p.pass(2 * time.Second)
}
