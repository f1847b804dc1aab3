package experiments

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// drawer draws an app of chance: its background tasks, and a defect of its head.
type drawer struct {
	*rand.Rand
	head, base queueApp
}

const drawnApp = "com.example.drawn"

// platformStacks end with what schedules a task, by the kind of unit.
var platformStacks = map[string][]string{
	run.AsyncTask:     {"android.os.AsyncTask.executeOnExecutor(AsyncTask.java:720)", "android.os.AsyncTask.execute(AsyncTask.java:660)"},
	run.ThreadPool:    {"java.util.concurrent.ThreadPoolExecutor.execute(ThreadPoolExecutor.java:1325)"},
	run.HandlerThread: {"android.os.Handler.enqueueMessage(Handler.java:778)", "android.os.Handler.post(Handler.java:422)"},
}

// draw draws an app whose head has a defect of that kind, "" for none.
func draw(seed uint64, kind string) (head, base queueApp) {
	d := drawer{Rand: rand.New(rand.NewPCG(24_024, seed)), head: queueApp{pkg: drawnApp, load: map[string]float64{}}, base: queueApp{pkg: drawnApp, load: map[string]float64{}}}
	d.unit("AsyncTask", run.AsyncTask, 1, 1)
	d.unit("io", run.ThreadPool, d.from(2, 4), 0)
	d.unit("wide", run.ThreadPool, 8, 0)
	d.unit("worker", run.HandlerThread, 1, 1)
	d.event("open", 300, false)
	d.event("tap", 2_000+d.from(0, 500), false)
	for i := range d.from(2, 5) {
		unit := []string{"AsyncTask", "io", "wide", "worker"}[d.IntN(4)]
		d.task(true, true, queueTask{name: fmt.Sprint("Background", i), unit: unit, after: []string{"open", "tap"}[d.IntN(2)], kind: []string{"", "net", "io"}[d.IntN(3)], at: d.ms(0, 600), takes: d.ms(20, 250), times: d.from(1, 3), every: d.ms(5, 200)})
	}
	d.defect(kind)
	return d.head, d.base
}

// from returns a number of a range, both ends included.
func (d drawer) from(low, high int) int { return low + d.IntN(high-low+1) }

func (d drawer) ms(low, high int) time.Duration {
	return time.Duration(d.from(low, high)) * time.Millisecond
}

// unit adds a unit to both builds; before 0 is as large as now.
func (d *drawer) unit(name, kind string, now, before int) {
	if before == 0 {
		before = now
	}
	d.head.units = append(d.head.units, tasks.Unit{Name: name, Kind: kind, Capacity: now})
	d.base.units = append(d.base.units, tasks.Unit{Name: name, Kind: kind, Capacity: before})
}

func (d *drawer) event(name string, atMS int, closes bool) {
	for _, a := range []*queueApp{&d.head, &d.base} {
		a.events = append(a.events, queueEvent{name, time.Duration(atMS) * time.Millisecond, closes})
	}
}

// task adds a task to the builds, with the stack that its unit and its name make.
func (d *drawer) task(now, before bool, t queueTask, library ...string) {
	t.chance, t.times = 1, max(t.times, 1)
	kind := d.head.units[slices.IndexFunc(d.head.units, func(u tasks.Unit) bool { return u.Name == t.unit })].Kind
	t.context = slices.Concat(platformStacks[kind], library, []string{
		fmt.Sprintf("%s.%s.schedule(%s.java:%d)", drawnApp, t.name, t.name, d.from(20, 400)), drawnApp + ".Screen.onClick(Screen.java:77)", "android.view.View.performClick(View.java:7448)",
	})
	if now {
		d.head.tasks = append(d.head.tasks, t)
	}
	if before {
		d.base.tasks = append(d.base.tasks, t)
	}
}

// defect adds what the user waits for after a tap, and what makes it late in the head.
func (d *drawer) defect(kind string) {
	load := []string{"", "net", "io"}[d.IntN(3)]
	picture := queueTask{name: "Picture", unit: "AsyncTask", after: "tap", at: d.ms(15, 40), takes: d.ms(60, 300), shows: true}
	switch kind {
	case queueing.SequentialKind:
		d.task(true, true, picture)
		for i := range d.from(1, 2) {
			slow := queueTask{name: fmt.Sprint("Slow", i), unit: "AsyncTask", after: "tap", kind: load, at: d.ms(0, 10), takes: d.ms(900, 2_200)}
			d.task(true, false, slow)
			slow.unit = "wide"
			d.task(false, true, slow)
		}
	case queueing.HandlerKind:
		picture.unit = "worker"
		d.task(true, true, picture)
		for i := range d.from(2, 3) {
			d.task(true, false, queueTask{name: fmt.Sprint("Posted", i), unit: "worker", after: "tap", kind: load, at: d.ms(0, 10), takes: d.ms(500, 1_100)})
		}
	case queueing.PoolKind:
		workers := d.from(2, 3)
		d.unit("pictures", run.ThreadPool, workers, 3*workers)
		picture.unit, picture.kind, picture.takes, picture.times, picture.every = "pictures", load, d.ms(350, 800), 3*workers+d.from(1, 3), d.ms(1, 12)
		d.task(true, true, picture)
	case queueing.LibraryKind:
		d.unit("library", run.ThreadPool, 1, 1)
		picture.unit, picture.takes, picture.times, picture.every, picture.kind = "library", d.ms(350, 600), d.from(4, 6), d.ms(1, 20), load
		d.task(true, false, picture, "io.vendor.net.Client.enqueue(Client.java:51)", "io.vendor.net.Client.load(Client.java:33)")
		picture.unit = "wide"
		d.task(false, true, picture)
	case queueing.ObsoleteKind:
		d.event("back", 4_000, true)
		d.event("tap", 4_600, true)
		old := queueTask{name: "Preview", unit: "AsyncTask", after: "tap", kind: load, at: d.ms(5, 60), takes: d.ms(900, 1_800), times: d.from(3, 4), every: d.ms(5, 60)}
		d.task(true, false, old)
		old.until = "back"
		d.task(false, true, old)
		picture.at = d.ms(0, 3)
		d.task(true, true, picture)
	default:
		d.task(true, true, picture)
		d.task(true, true, queueTask{name: "Slow", unit: "AsyncTask", after: "tap", kind: load, at: d.ms(0, 10), takes: d.ms(200, 1_200)})
		d.task(true, true, queueTask{name: "Thumb", unit: "io", after: "tap", kind: load, at: d.ms(0, 10), takes: d.ms(100, 400), times: d.from(3, 9), every: d.ms(1, 20)})
	}
}

// drawnRow is a row of the table of drawn apps.
type drawnRow struct {
	kind, load     string
	builds, right  int
	on             map[string]int // right, by phone
	doubted, wrong int            // something else first: possible or likely, or clear
}

// TestCausesInDrawnQueues makes the table of drawn apps of docs/evaluation/tasks.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestCausesInDrawnQueues -v
//
// A load makes everything, or what uses the network or the storage, take 1.3 to 3 times as long: in
// the head alone, or in both builds, as where they are measured alternately.
func TestCausesInDrawnQueues(t *testing.T) {
	each, phones := 3, queuePhones[:1]
	full := os.Getenv("APKGATE_EVALUATION") == "full"
	if full {
		each, phones = 60, queuePhones
	}
	right, builds, quiet, unchanged, wrong := 0, 0, 0, 0, 0
	for k, kind := range []string{queueing.SequentialKind, queueing.ObsoleteKind, queueing.PoolKind, queueing.HandlerKind, queueing.LibraryKind, ""} {
		for _, load := range []string{"none", "in both builds", "in the head"} {
			r := drawnRow{kind: kind, load: load, on: map[string]int{}}
			for i := range each {
				seed := uint64(10_000*k + i)
				head, base := draw(seed, kind)
				rng := rand.New(rand.NewPCG(7, seed))
				if slow := map[string]float64{[]string{"cpu", "net", "io"}[rng.IntN(3)]: 1.3 + 1.7*rng.Float64()}; load != "none" {
					head.load = slow
					if load == "in both builds" {
						base.load = slow
					}
				}
				for _, p := range phones {
					r.add(p, explained(head, base, "tap", p, seed))
				}
			}
			t.Logf("| %s | %s | %d | %d | %d | %d | %d | %d | %d |", kind, load, r.builds, r.right, r.on[queuePhones[0].name], r.on[queuePhones[1].name], r.on[queuePhones[2].name], r.doubted, r.wrong)
			wrong += r.wrong
			if kind == "" {
				quiet, unchanged = quiet+r.builds-r.wrong, unchanged+r.builds
				if load != "in the head" && r.right < r.builds {
					t.Errorf("of builds without a defect, load %s, something is named in %d of %d", load, r.builds-r.right, r.builds)
				}
			} else {
				right, builds = right+r.right, builds+r.builds
			}
		}
	}
	if float64(right) < 0.9*float64(builds) || float64(quiet) < 0.98*float64(unchanged) || wrong > 0 {
		t.Errorf("right first in %d of %d, nothing or a mere possibility named in %d of %d without a defect, %d wrong and certain; want 90 %%, 98 %% and none", right, builds, quiet, unchanged, wrong)
	}
}

// add counts what is named of a build.
func (r *drawnRow) add(p queuePhone, causes []diagnose.Cause) {
	r.builds++
	first, sure := "", diagnose.Possible
	if len(causes) > 0 {
		first, sure = causes[0].Kind, causes[0].Explains.Sure
	}
	switch {
	case p.right(first, r.kind):
		r.right++
		r.on[p.name]++
	case first != "" && (sure == diagnose.Clear || sure == diagnose.Seen || r.kind == "" && sure != diagnose.Possible):
		r.wrong++
	case first != "":
		r.doubted++
	}
}
