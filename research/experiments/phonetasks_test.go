package experimentsexperiments

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
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/settings"
)

// taskPhone is a phone, and what records the tasks of apps there.
type taskPhone struct {
	profile, source string
	methods         bool // by am profile, which a gate does not read tasks of
}

// taskPhones differ in Android, in what tells tasks, in speed (0.7, 1 and 1.3 times the time of a
// good phone) and in their screens (120, 90 and 60 Hz).
var taskPhones = []taskPhone{
	{"pixel-8-android-16", "messages of loopers", false},
	{"nord-android-10", "sections", false},
	{"c1-go-android-11", "method trace", true},
}

const tasksConfig = `app: {package: PACKAGE, apk: base.apk}
scenarios:
  - name: use
    workload: {instrumentation: {test-package: PACKAGE}}
devices: [{simulated: PROFILE}]
gate: {metrics: [frames.smooth_ratio, frames.late, events.settled_ms]}
evidence: {keep: worst, tasks: true}
`

// settingsOf returns the settings that a user's gate would have for an app on a phone.
func (p taskPhone) settingsOf(t *testing.T, pkg string) settings.Settings {
	t.Helper()
	file := filepath.Join(t.TempDir(), "apkgate.yml")
	text := strings.NewReplacer("PACKAGE", pkg, "PROFILE", p.profile).Replace(tasksConfig)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Read(func(string) bool { return false }, settings.ConfigFlags{Config: file}, settings.PolicyFlags{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// job returns the job of a build on a new phone of that seed.
func (p taskPhone) job(t *testing.T, app string, seed uint64, repetitions int) collect.Job {
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
			Name: "use", Repetitions: repetitions, WarmUp: 1, Timeout: time.Minute, Retries: 2,
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

// inTurns returns the causes that the report of two builds has, which were measured in turns.
func (p taskPhone) inTurns(t *testing.T, base, head string, seed uint64, rounds int) []diagnose.Cause {
	t.Helper()
	if p.methods {
		return p.profiledInTurns(t, base, head, seed, rounds)
	}
	pair := collect.Pair{Base: p.job(t, base, seed, rounds)}
	pair.Head = pair.Base
	pair.Head.App = apkFile(t, head)
	a, b := collect.Interleave(t.Context(), pair, collect.Options{Evidence: evidence.At(t.TempDir(), evidence.Default)})
	named(t, &a)
	named(t, &b)
	in, err := judging.Compare([]run.Run{a.Run}, []run.Run{b.Run}, p.settingsOf(t, a.Run.App.Package))
	if err != nil {
		t.Fatal(err)
	}
	return in.Causes
}

func named(t *testing.T, r *collect.Result) {
	t.Helper()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var err error
	if r.Run, err = r.Run.Named(); err != nil {
		t.Fatal(err)
	}
}

// profiledInTurns returns the causes where methods are traced, as apkgate diagnose reads such a
// trace. A gate records no tasks of it, so each event is explained as if its waits had got longer.
func (p taskPhone) profiledInTurns(t *testing.T, base, head string, seed uint64, rounds int) []diagnose.Cause {
	t.Helper()
	was, is := p.profiled(t, base, nil, seed, rounds), p.profiled(t, head, nil, seed+1_000, rounds)
	return explainedEach(is, []run.Run{was}, grouping.QueuedMS)
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
	r := run.Run{ID: "phone", App: run.App{Package: pkg}, Scenario: "use", Status: run.Complete}
	for n := range repetitions {
		from := phone.Clock().Now()
		one := grouping.Repetition{Number: n + 1, List: phone.profiled(takes + time.Second)}
		one.Events = phone.events(from)
		queues := c.Add(one)
		it := run.Iteration{Events: []run.Bucket{{Name: run.Start}}}
		for i, e := range one.Events {
			end := e.At + time.Minute
			if i+1 < len(one.Events) {
				end = one.Events[i+1].At
			}
			it.Events = append(it.Events, run.Bucket{Name: e.Name, Metrics: queues.Metrics(e.At, end)})
		}
		r.Iterations = append(r.Iterations, it)
	}
	r.Tasks = c.Tasks()
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

// explainedEach explains each event as if this metric of it had got worse.
func explainedEach(is run.Run, was []run.Run, metric string) (out []diagnose.Cause) {
	for _, event := range run.EventOrder(is) {
		found := diagnose.Finding{Event: event, Metric: metric, Direction: gate.ToRegression}
		out = append(out, queueing.Explain(is, was, []diagnose.Finding{found})...)
	}
	return out
}

// besideLoad returns the causes where the app is as before, and only the last of its sessions has a
// load beside it, which the gate was not told of: each event is explained as if it had got slower.
func (p taskPhone) besideLoad(t *testing.T, app string, load *config.BackgroundLoad, seed uint64, repetitions int) []diagnose.Cause {
	t.Helper()
	session := func(load *config.BackgroundLoad, seed uint64) run.Run {
		if p.methods {
			return p.profiled(t, app, load, seed, repetitions)
		}
		job := p.job(t, app, seed, repetitions)
		job.Scenario.Load = load
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: evidence.At(t.TempDir(), evidence.Default)})
		named(t, &r)
		return r.Run
	}
	var before []run.Run
	for n := range uint64(3) {
		before = append(before, session(nil, seed+n+1))
	}
	metric := "events.settled_ms"
	if p.methods {
		metric = grouping.QueuedMS
	}
	return explainedEach(session(load, seed), before, metric)
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
