package phone

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
)

// ticks adds the numbers in a list of words, in seconds.
func ticks(t *testing.T, words []string) (seconds float64) {
	t.Helper()
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		seconds += float64(n) / 100
	}
	return seconds
}

// All sources of CPU time agree: the runs of the app's threads are what /proc/PID/stat and
// batterystats count, and all runs are what /proc/stat counts, to a tick or two; and the times
// at a cluster's frequencies add up to the elapsed time.
func TestSourcesOfCPUTimeAgree(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "moto-g5-android-7.0"} {
		p := newPhone(t, phone, hungry)
		output(t, p, "dumpsys battery unplug; dumpsys batterystats --reset")
		start(p, instrument)
		pass(t, p, 5200*time.Millisecond) // idle by then, however long the commands take
		pid := p.state.running["com.example.still"].PID
		own := strings.Fields(output(t, p, fmt.Sprintf("cat /proc/%d/stat", pid)))
		ofProcess := ticks(t, own[13:15])
		all := strings.Fields(strings.SplitN(output(t, p, "cat /proc/stat"), "\n", 2)[0])
		counted := appOf(readStats(t, p, "dumpsys batterystats -c")).Stated
		var app, every float64
		for _, r := range p.Timeline().Runs {
			long := (r.To - r.From).Seconds()
			every += long
			if int(r.TID) >= pid && int(r.TID) < pid+17 {
				app += long
			}
		}
		for what, told := range map[string]float64{
			"/proc/PID/stat": ofProcess, "batterystats": (counted["cpu_user_ms"] + counted["cpu_system_ms"]) / 1000,
		} {
			if math.Abs(told-app) > 0.03 || app < 1 { // for three commands in sequence
				t.Errorf("%s: %s tells %.2f s, the app's threads ran for %.3f s", phone, what, told, app)
			}
		}
		if got := ticks(t, all[1:4]); math.Abs(got-every) > 0.2 { // eight CPUs, user and system: each rounded down
			t.Errorf("%s: /proc/stat tells %.2f s, all threads ran for %.3f s", phone, got, every)
		}
	}
}

// The CPUs' joules are those of the app's runs, at the watts of each run's cluster and
// frequency, times the methods' own factors, which are 1 here, and one factor of the run.
func TestCPUEnergyIsThatOfTheRuns(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", still+"load 700ms after tap\n")
	start(p, instrument)
	pass(t, p, 6*time.Second)
	pid, hw := p.state.running["com.example.still"].PID, p.power.Hardware
	watts := map[uint32]float64{}
	for _, c := range []power.Cluster{hw.Little, hw.Big} {
		for _, s := range c.Steps {
			watts[uint32(s.KHz)] = s.Watts
		}
	}
	factor := 0.0
	for _, until := range []time.Duration{p.clock.Now() - 3*time.Second, p.clock.Now()} {
		byRuns := 0.0
		for _, r := range p.Timeline().Runs {
			if int(r.TID) >= pid && int(r.TID) < pid+17 {
				byRuns += watts[r.KHz] * max(0, min(r.To, until)-r.From).Seconds()
			}
		}
		parts := p.Truth(0, until).Parts
		got := (parts[string(power.Big)] + parts[string(power.Little)]) / byRuns
		if factor > 0 && math.Abs(got-factor) > 1e-6 || got < 0.8 || got > 1.25 {
			t.Errorf("the CPUs took %.6f of what the runs say, before %.6f", got, factor)
		}
		factor = got
	}
}

// An app's CPU time does not depend on how often it is read while the app draws.
func TestCPUTimeDoesNotDependOnPolling(t *testing.T) {
	for _, phone := range []string{"nexus-4-android-4.3", "nexus-4-android-5.0.0", "pixel-7-android-14"} {
		told := map[time.Duration]time.Duration{}
		for _, every := range []time.Duration{3700 * time.Microsecond, 5 * time.Second} {
			p := newPhone(t, phone, still)
			start(p, instrument)
			for until := p.clock.Now() + 5*time.Second; p.clock.Now() < until; pass(t, p, min(every, until-p.clock.Now())) {
				p.power.CPU(p.state.running["com.example.still"].usage)
			}
			told[every] = p.power.CPU(p.state.running["com.example.still"].usage)
		}
		often, once := told[3700*time.Microsecond], told[5*time.Second]
		if d := often - once; once < 500*time.Millisecond || d < -time.Millisecond || d > time.Millisecond {
			t.Errorf("%s: the app's CPU time is %v, and %v where it is asked for often", phone, once, often)
		}
	}
}

// A dump of frames costs the app CPU time, on the drawing thread.
func TestDumpsCostCPUTimeOfTheRenderThread(t *testing.T) {
	for phone, thread := range map[string]string{"pixel-5-android-11": "RenderThread", "nexus-4-android-4.3": "m.example.still"} {
		p := newPhone(t, phone, still)
		start(p, instrument)
		pass(t, p, 2700*time.Millisecond) // idle: the next event is at 3 s
		pr := p.state.running["com.example.still"]
		ran := func() (long time.Duration) {
			p.Timeline()
			for _, one := range pr.usage.Threads {
				if one != nil && one.Name == thread {
					long += one.Ran()
				}
			}
			return long
		}
		before, stalled := ran(), p.Stalled()
		output(t, p, "dumpsys gfxinfo com.example.still framestats")
		stalled = p.Stalled() - stalled
		if took := ran() - before; stalled == 0 || took < stalled/10 || took > stalled {
			t.Errorf("%s: %s ran for %v in a dump that kept it for %v", phone, thread, took, stalled)
		}
	}
}

// A phone that was left alone for hours keeps the runs of its last minute, and the total busy
// time of its CPUs.
func TestIdleHoursUseNoMemory(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	pass(t, p, 3*time.Hour)
	busy := ticks(t, strings.Fields(strings.SplitN(output(t, p, "cat /proc/stat"), "\n", 2)[0])[1:4])
	if all := (3 * time.Hour).Seconds(); math.Abs(busy-4*0.02*all) > 0.001*all {
		t.Errorf("the kernel's workers were busy for %.0f s of %.0f", busy, all)
	}
	if runs := len(p.timeline.Runs); runs > 2000 {
		t.Errorf("%d runs are remembered", runs)
	}
}
