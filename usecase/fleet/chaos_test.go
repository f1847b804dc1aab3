package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// size is how much work a lab of 25 identical phones has on 2 networks.
type size struct{ scenarios, repetitions int }

const (
	phones  = 25
	failing = 3
	model   = "pixel-7-android-14"
)

// chaosSize is what CI has time for; the full size needs `APKGATE_CHAOS=1`.
func chaosSize() size {
	if os.Getenv("APKGATE_CHAOS") != "" {
		return size{scenarios: 75, repetitions: 10}
	}
	return size{scenarios: 38, repetitions: 4}
}

// passing are the faults that a phone survives, one set for each phone that fails: each fault of a
// set strikes one repetition of the second run.
var passing = [failing][]simapp.Fault{
	{{Kind: simapp.Crash}, {Kind: simapp.Drop}, {Kind: simapp.Freeze, For: 40 * time.Second}, {Kind: simapp.NoSpace, For: 5 * time.Second}, {Kind: simapp.Drip, For: 20 * time.Second}},
	{{Kind: simapp.Hang, For: 20 * time.Second}, {Kind: simapp.Lost}, {Kind: simapp.Garbage, For: 2 * time.Second}, {Kind: simapp.Reboot}, {Kind: simapp.ANR}},
	{{Kind: simapp.Offline, For: 10 * time.Second}, {Kind: simapp.Stuck}, {Kind: simapp.Reboot, For: time.Second}, {Kind: simapp.Refuse, For: 5 * time.Second}, {Kind: simapp.Dialog}},
}

// lasting are those that it does not: each phone that fails has the first in its first run, and the
// others from its third on, until it is given up.
var lasting = [failing][]simapp.Fault{
	{{Kind: simapp.Die}, {Kind: simapp.Hang}, {Kind: simapp.NoBoot}},
	{{Kind: simapp.NoBoot}, {Kind: simapp.Die}, {Kind: simapp.Offline}},
	{{Kind: simapp.Offline}, {Kind: simapp.Hang}, {Kind: simapp.Die}},
}

// chaos is a lab of simulated phones whose clocks advance together.
type chaos struct {
	t    *testing.T
	r    *rand.Rand
	pace pacer

	mu     sync.Mutex
	runs   [phones]int // started on each phone
	lost   int         // of these, with a lasting fault
	struck map[simapp.FaultKind]int
}

// faults are those of a phone's next run, at random times.
func (c *chaos) faults(phone int) (out []simapp.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.runs[phone]
	c.runs[phone]++
	switch {
	case phone >= failing:
		return nil
	case n == 1:
		out = slices.Clone(passing[phone])
	default:
		out = []simapp.Fault{lasting[phone][min(max(n-1, 0), len(lasting[phone])-1)]}
		c.lost++
	}
	for i := range out {
		out[i].Repetition = i + 1
		out[i].At = time.Duration(500+c.r.IntN(5000)) * time.Millisecond
	}
	return out
}

// station is one phone of the lab: a fresh one for each run.
func (c *chaos) station(phone int) fleet.Station {
	s := fleet.Station{Name: fmt.Sprintf("pixel #%d", phone+1), Profile: "pixel", Fresh: true}
	s.Start = func(context.Context, func(string)) (*fleet.Started, error) {
		o := simulator.Options{Faults: c.faults(phone), Struck: func(f simapp.Fault, _ time.Duration) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.struck[f.Kind]++
		}}
		sim, err := simulator.Start(model, uint64(phone), o)
		if err != nil {
			return nil, err
		}
		clock := c.pace.begin(phone, sim.Clock())
		open := func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, sim.Address(), adb.Options{}) }
		return &fleet.Started{
			Bind: func(j *collect.Job) {
				j.Open, j.Clock, j.Wall, j.Died = open, clock, sim.Phone.Patience(), sim.Phone.Died()
			},
			Stop: func(context.Context, func(string)) error {
				c.pace.end(phone)
				return sim.Close()
			},
		}, nil
	}
	return s
}

// pacer keeps the clocks of concurrent phones together, so that a run is given to the phone that is
// free first on their clocks, however busy this computer is.
type pacer struct {
	mu   sync.Mutex
	turn *sync.Cond
	at   [phones]time.Duration // on the lab's clock
	busy [phones]bool
}

// apart is how far clocks may be from each other.
const apart = 5 * time.Second

// now is the lab's time: that of the phone that is furthest behind.
func (p *pacer) now() time.Duration {
	least := time.Duration(-1)
	for i, at := range p.at {
		if p.busy[i] && (least < 0 || at < least) {
			least = at
		}
	}
	return max(least, 0)
}

func (p *pacer) begin(phone int, clock device.Clock) device.Clock {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[phone] = max(p.at[phone], p.now())
	p.busy[phone] = true
	return &paced{Clock: clock, pacer: p, phone: phone, began: p.at[phone] - clock.Now()}
}

func (p *pacer) end(phone int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy[phone] = false
	p.turn.Broadcast()
}

type paced struct {
	device.Clock
	pacer *pacer
	phone int
	began time.Duration
}

func (c *paced) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Clock.Sleep(ctx, d)
	p, now := c.pacer, c.began+c.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[c.phone] = max(p.at[c.phone], now)
	p.turn.Broadcast()
	for p.at[c.phone] > p.now()+apart {
		p.turn.Wait()
	}
	return err
}

// jobs are the runs of the lab: each of so many scenarios on two networks.
func (c *chaos) jobs(s size) (jobs []collect.Job) {
	dir := c.t.TempDir()
	file := func(name string) string {
		text, err := simapp.Open(name)
		if err != nil {
			c.t.Fatal(err)
		}
		path := filepath.Join(dir, name+".apk")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			c.t.Fatal(err)
		}
		return path
	}
	app := config.App{Package: "com.example.demo", APK: file("demo-good"), TestAPK: file("demo-test")}
	for n := range s.scenarios {
		for _, network := range []string{"wifi", ""} {
			jobs = append(jobs, collect.Job{
				Device: "pixel", App: app, Network: network, Cost: time.Minute,
				Scenario: config.Scenario{
					Name: fmt.Sprintf("read-mail-%d", n+1), Repetitions: s.repetitions, Timeout: 30 * time.Second, Retries: 8,
					Workload: config.Workload{Instrumentation: &config.Instrumentation{
						TestPackage: "com.example.demo.test", Class: "com.example.demo.ReadMailTest#readsMail"}},
				},
			})
		}
	}
	return jobs
}

// measure makes all jobs in the lab, and returns their results, and its makespan.
func (c *chaos) measure(jobs []collect.Job) ([]collect.Result, time.Duration) {
	c.pace.turn = sync.NewCond(&c.pace.mu)
	c.struck = map[simapp.FaultKind]int{}
	lab := fleet.Lab{Jobs: jobs}
	for phone := range phones {
		lab.Stations = append(lab.Stations, c.station(phone))
	}
	finished := make([]int, len(jobs))
	lab.Finished = func(job int, _ collect.Result) { finished[job]++ }
	results := lab.Collect(c.t.Context())
	for job, n := range finished {
		if n != 1 {
			c.t.Errorf("job %d is finished %d times", job, n)
		}
	}
	return results, slices.Max(c.pace.at[:])
}

// Of 25 phones three fail in every way that a simulated one can: all runs are there, each
// repetition once, losses are named with the phone and the reason, and the lab needs little longer
// than its work shared out (docs/performance.md has what this prints).
func TestLabWithFailingPhones(t *testing.T) {
	t.Parallel()
	s := chaosSize()
	c := &chaos{t: t, r: rand.New(rand.NewPCG(25, 2))}
	jobs := c.jobs(s)
	began := time.Now()
	results, makespan := c.measure(jobs)
	repetitions, anew, again := 0, 0, 0
	for i, r := range results {
		if r.Run.Status != run.Complete || r.Err != nil || len(r.Run.Iterations) != s.repetitions {
			t.Errorf("%s over %q: status %s, %d repetitions: %v", jobs[i].Scenario.Name, jobs[i].Network, r.Run.Status, len(r.Run.Iterations), r.Err)
		}
		repetitions += len(r.Run.Iterations)
		for _, w := range r.Run.Warnings {
			switch {
			case strings.Contains(w.Text, "started again") && strings.Contains(w.Text, "pixel #") && strings.Contains(w.Text, "the device is gone"):
				anew++
			case strings.Contains(w.Text, "is lost: "):
				again++
			}
		}
	}
	t.Logf("%d runs, %d repetitions: %d runs begun anew, %d repetitions made again", len(results), repetitions, anew, again)
	if anew != c.lost || c.lost < failing || repetitions != len(jobs)*s.repetitions {
		t.Errorf("%d losses of a phone are named, want %d; %d repetitions in all", anew, c.lost, repetitions)
	}
	c.wantEveryFault()
	c.compare(makespan, s, time.Since(began))
}

// wantEveryFault checks that each kind of fault has struck.
func (c *chaos) wantEveryFault() {
	for _, kind := range simapp.FaultKinds() {
		if c.struck[kind] == 0 {
			c.t.Errorf("no phone failed by %s", kind)
		}
	}
}

// compare compares the makespan with the work of phones that don't fail, shared over all 25.
func (c *chaos) compare(makespan time.Duration, s size, took time.Duration) {
	single := c.jobs(size{1, s.repetitions})[:1]
	sim, err := simulator.Start(model, phones-1, simulator.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = sim.Close() }()
	single[0].Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, sim.Address(), adb.Options{}) }
	single[0].Clock, single[0].Wall = sim.Clock(), sim.Phone.Patience()
	before := sim.Clock().Now()
	if r := collect.Collect(c.t.Context(), single[0], collect.Options{}); r.Err != nil {
		c.t.Fatal(r.Err)
	}
	work := (sim.Clock().Now() - before) * time.Duration(2*s.scenarios)
	least := work / phones
	ratio := float64(makespan) / float64(least)
	c.t.Logf("makespan %v; %v of work over %d phones is %v: %.3f times that, and %.3f times what it is over the %d that don't fail; in %v",
		makespan.Round(time.Second), work.Round(time.Second), phones, least.Round(time.Second), ratio, ratio*(phones-failing)/phones, phones-failing, took.Round(time.Second))
	most := 2.5 // with three runs to a phone, one that is started late decides
	if s.repetitions >= 10 {
		most = 1.25 // 22 phones make 150 runs in seven turns, and 25 make them in six
		if sound := ratio * (phones - failing) / phones; sound > 1.1 {
			c.t.Errorf("the lab takes %.2f times as long as its work shared out over the phones that don't fail, want at most 1.1", sound)
		}
	}
	if ratio > most {
		c.t.Errorf("the lab takes %.2f times as long as its work shared out, want at most %.2f", ratio, most)
	}
}
