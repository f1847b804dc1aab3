package collect_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/fleet"
)

func collectOn(t *testing.T, p *phone, change func(*collect.Job)) collect.Result {
	t.Helper()
	job := p.job("fake")
	if change != nil {
		change(&job)
	}
	result := collect.Collect(t.Context(), job, collect.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	if _, err := run.Encode(result.Run); err != nil {
		t.Errorf("the record is not valid: %v", err)
	}
	return result
}

func warnedOf(r run.Run, parts ...string) bool {
	for _, w := range r.Warnings {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(w.Text, part)
		}
		if all {
			return true
		}
	}
	return false
}

func wantComplete(t *testing.T, r collect.Result, repetitions int) {
	t.Helper()
	if r.Err != nil || r.Run.Status != run.Complete || len(r.Run.Iterations) != repetitions {
		t.Fatalf("status %s, %d iterations, %v, %v", r.Run.Status, len(r.Run.Iterations), r.Err, r.Run.Warnings)
	}
}

func TestFramesAreSortedIntoBuckets(t *testing.T) {
	t.Parallel()
	r := collectOn(t, newPhone(30), nil)
	wantComplete(t, r, 3)
	if len(r.Run.Warnings) != 0 {
		t.Errorf("warnings: %v", r.Run.Warnings)
	}
	for i, it := range r.Run.Iterations {
		// Frames are due each 20 ms from 0: 101 up to 2.005 s, 150 up to 5.005 s.
		want := []struct {
			name               string
			count, janky, mean float64
		}{{run.Start, 101, 0, 10}, {"a", 150, 150, 30}, {"b", 249, 0, 10}}
		if len(it.Events) != len(want) {
			t.Fatalf("repetition %d: %d buckets", i+1, len(it.Events))
		}
		for j, w := range want {
			got := it.Events[j]
			if got.Name != w.name || got.Metrics["frames.count"] != w.count || got.Metrics["frames.janky"] != w.janky || got.Metrics["frames.duration_ms"] != w.mean {
				t.Errorf("repetition %d: bucket %+v, want %+v", i+1, got, w)
			}
		}
		if m := it.Metrics; m["frames.count"] != 500 || m["frames.smooth_ratio"] != 0.7 || m["anr.count"] != 0 ||
			m["startup.ttid_ms"] != 250 || m["cpu.time_ms"] != 1000 || m["memory.pss_kb"] != 45678 {
			t.Errorf("repetition %d: totals %v", i+1, m)
		}
	}
	kept := 0
	for _, it := range r.Run.Iterations {
		if len(it.Frames) > 0 {
			kept++
			if len(it.Frames) != 500 || it.Frames[101] != (run.Frame{DurationMS: 30, Bucket: 1}) {
				t.Errorf("%d frames are kept, the 102nd is %v", len(it.Frames), it.Frames[101])
			}
		}
	}
	if kept != 1 {
		t.Errorf("the frames of %d repetitions are kept, want those of one", kept)
	}
}

func TestContextIsReadFromTheDevice(t *testing.T) {
	t.Parallel()
	r := collectOn(t, newPhone(30), func(j *collect.Job) { j.Extra = map[string]string{"room": "warm", "model": "mine"} })
	for name, want := range map[string]string{
		"sdk": "4.1.2", "api": "30", "manufacturer": "samsung", "model": "mine", "cpu": "x86", "network": "wifi",
		"screen": "640x480", "refresh_hz": "60", "battery": "80-100%", "room": "warm", "version": "1.2.3",
	} {
		if got := r.Run.Context[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r.Run.App.Version != "1.2.3" {
		t.Errorf("version %q", r.Run.App.Version)
	}
}

// A 120 Hz phone shows a still screen at 60 Hz: the run has the rate at which its frames were
// drawn, unless the user sets another.
func TestRefreshRateIsThatOfTheFrames(t *testing.T) {
	t.Parallel()
	for want, extra := range map[string]map[string]string{"120": nil, "90": {"refresh_hz": "90"}} {
		p := newPhone(34)
		p.interval = 8_333_333
		r := collectOn(t, p, func(j *collect.Job) { j.Extra = extra })
		if got := r.Run.Context["refresh_hz"]; got != want {
			t.Errorf("refresh_hz is %q, want %q", got, want)
		}
	}
}

// If there are more properties than a run may have, the user's own are kept, the same in each run,
// and a warning lists the missing ones.
func TestFullContextKeepsTheUsersOwn(t *testing.T) {
	t.Parallel()
	extra := map[string]string{"model": "mine"}
	for i := range run.MaxContext - 3 {
		extra[fmt.Sprintf("own.%03d", i)] = "x"
	}
	var first map[string]string
	for range 3 {
		r := collectOn(t, newPhone(30), func(j *collect.Job) { j.Extra = extra })
		for name, want := range extra {
			if r.Run.Context[name] != want {
				t.Errorf("%s is %q, want %q", name, r.Run.Context[name], want)
			}
		}
		if len(r.Run.Context) != run.MaxContext || !warnedOf(r.Run, "no room for sdk") || warnedOf(r.Run, "no room for model") {
			t.Errorf("%d properties, warnings %v", len(r.Run.Context), r.Run.Warnings)
		}
		if first != nil && !maps.Equal(first, r.Run.Context) {
			t.Error("equal runs differ in their contexts")
		}
		first = r.Run.Context
	}
}

func TestFramesWithoutTimesAreSpread(t *testing.T) {
	t.Parallel()
	p := newPhone(16)
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "reports no times of frames", "250ms") {
		t.Errorf("the run does not say that its frames are laid out: %v", r.Run.Warnings)
	}
	for _, it := range r.Run.Iterations {
		if it.Metrics["frames.count"] != 500 {
			t.Errorf("%g frames, want all 500", it.Metrics["frames.count"])
		}
		// A frame can be misplaced by less than the 250 ms between two dumps; here frames are
		// regular, so that only the two at the borders are.
		for j, want := range []float64{101, 150, 249} {
			if got := it.Events[j].Metrics["frames.count"]; math.Abs(got-want) > 2 {
				t.Errorf("bucket %s: %g frames, want %g within 2", it.Events[j].Name, got, want)
			}
		}
	}
	if p.profiling {
		t.Error("profiling is still on")
	}
}

func TestInputEventsReplaceUIEvents(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(int) fault { return fault{noEvents: true} }
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if ev := r.Run.Iterations[0].Events; len(ev) != 2 || ev[1].Name != "input Main" || ev[1].Metrics["frames.count"] != 399 {
		t.Errorf("buckets: %+v", ev)
	}
	if !warnedOf(r.Run, "writes no UI events") {
		t.Errorf("warnings: %v", r.Run.Warnings)
	}
}

func TestLostRepetitionIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fault
		said  []string
	}{
		"crash":         {fault{crash: true}, []string{"the app crashed", "no account"}},
		"hang":          {fault{hang: true}, []string{"did not end in time", "1m"}},
		"hang with ANR": {fault{hang: true, anr: true}, []string{"did not end in time", "Input dispatching timed out"}},
		"device gone":   {fault{gone: true}, []string{"the device is gone"}},
		"process died":  {fault{restart: true}, []string{"process died"}},
		"no frames":     {fault{noFrames: true}, []string{"no frames were seen"}},
		"failed test":   {fault{failTest: true}, []string{"the test failed", "com.example.Test#it", "expected 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPhone(30)
			p.fail = func(n int) fault {
				if n == 2 {
					return c.fault
				}
				return fault{}
			}
			r := collectOn(t, p, nil)
			wantComplete(t, r, 3)
			if !warnedOf(r.Run, append(c.said, "repetition 2 is lost")...) {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
			if p.workloads != 4 {
				t.Errorf("the workload ran %d times, want 3 and one again", p.workloads)
			}
		})
	}
}

func TestIncompleteRunIsReported(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(n int) fault { return fault{crash: n > 2} }
	r := collectOn(t, p, nil)
	if r.Run.Status != run.Partial || len(r.Run.Iterations) != 2 || !errors.Is(r.Err, loss.ErrCrashed) || loss.IsInfrastructure(r.Err) {
		t.Errorf("status %s, %d iterations, %v", r.Run.Status, len(r.Run.Iterations), r.Err)
	}
	if p.workloads != 2+3 {
		t.Errorf("the workload ran %d times: repetition 3 may be tried again twice", p.workloads)
	}
}

func TestSurvivedANRIsMeasured(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(n int) fault { return fault{anr: n == 1} }
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if a, b := r.Run.Iterations[0].Metrics["anr.count"], r.Run.Iterations[1].Metrics["anr.count"]; a != 1 || b != 0 {
		t.Errorf("ANRs: %g and %g", a, b)
	}
}

func TestGarbledDumpIsReadAgain(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(n int) fault { return fault{garbage: n == 2} }
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if got := r.Run.Iterations[1].Metrics["frames.count"]; got != 500 || !warnedOf(r.Run, "repetition 2", "garbage") {
		t.Errorf("%g frames, %v", got, r.Run.Warnings)
	}
}

// Slowly storing one device's run does not delay another device.
func TestSlowStoreDelaysNoOtherDevice(t *testing.T) {
	t.Parallel()
	quick, other := newPhone(30), newPhone(30)
	keeping := make(chan struct{})
	other.fail = func(n int) fault {
		if n == 2 {
			<-keeping // so that most of its run is still to come
		}
		return fault{}
	}
	over := make(chan struct{}) // the other device's run, while the quick one's is being kept
	tornDown := sync.OnceFunc(func() { close(over) })
	other.breaks = func(line string) bool {
		if line == "svc power stayon false" {
			tornDown()
		}
		return false
	}
	jobs := []collect.Job{quick.job("quick"), other.job("other")}
	results := fleet.Lab{
		Jobs:     jobs,
		Stations: stationsOf(jobs),
		Options:  collect.Options{Progress: progressFunc(func(journal.Event) {})},
		Finished: func(_ int, r collect.Result) {
			if r.Device != "quick" {
				return
			}
			close(keeping)
			select {
			case <-over:
			case <-time.After(20 * time.Second):
				t.Error("the other device stood still until the store was done")
			}
		},
	}.Collect(t.Context())
	wantComplete(t, results[0], 3)
	wantComplete(t, results[1], 3)
}

func TestDeviceThatStaysAwayEndsOnlyItsRun(t *testing.T) {
	t.Parallel()
	lost, good := newPhone(30), newPhone(30)
	lost.fail = func(n int) fault {
		if n == 2 {
			lost.stayGone = true
		}
		return fault{gone: n == 2}
	}
	var phases []string
	jobs := []collect.Job{lost.job("one"), good.job("two"), lost.job("one")}
	results := fleet.Lab{
		Jobs: jobs, Stations: stationsOf(jobs),
		Options: collect.Options{Progress: progressFunc(func(e journal.Event) {
			phases = append(phases, fmt.Sprint(e.Device, " ", e.Phase, " ", e.Message))
		})},
	}.Collect(t.Context())
	if len(results) != 3 || results[0].Device != "one" || results[1].Device != "two" || results[2].Device != "one" {
		t.Fatalf("results: %+v", results)
	}
	wantComplete(t, results[1], 3)
	first := results[0]
	if first.Run.Status != run.Partial || len(first.Run.Iterations) != 1 || !loss.IsInfrastructure(first.Err) || !errors.Is(first.Err, device.ErrGone) {
		t.Errorf("status %s, %v", first.Run.Status, first.Err)
	}
	if next := results[2]; next.Run.Status != run.Failed || !loss.IsInfrastructure(next.Err) {
		t.Errorf("the next job of the lost device: status %s, %v", next.Run.Status, next.Err)
	}
	if all := strings.Join(phases, "\n"); !strings.Contains(all, "two done complete") || !strings.Contains(all, "one done partial") {
		t.Errorf("progress:\n%s", all)
	}
}

// Restarts come in twos.
func TestDeviceThatIsLostTwice(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(n int) fault { return fault{gone: n == 2} }
	settings := 0
	p.breaks = func(command string) bool {
		if command != "svc power stayon true" {
			return false
		}
		settings++
		return settings == 2 // the first time after it was lost
	}
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if p.opened != 3 || p.closed != 3 {
		t.Errorf("%d connections opened and %d closed, want 3", p.opened, p.closed)
	}
}

func TestEveryConnectionIsClosed(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	ctx, cancel := context.WithCancel(t.Context())
	p.fail = func(int) fault {
		cancel()
		return fault{gone: true}
	}
	p.breaks = func(string) bool { return ctx.Err() != nil } // can be connected to, and answers nothing
	r := collect.Collect(ctx, p.job("fake"), collect.Options{})
	if !warnedOf(r.Run, "the device is gone", "still to do, by the next run or `apkgate devices restore`: ", "set back whether the screen stays on") {
		t.Errorf("warnings %v", r.Run.Warnings)
	}
	if p.opened != 2 || p.closed != 2 {
		t.Errorf("%d connections opened, %d closed; want both 2", p.opened, p.closed)
	}
}

func TestDeviceIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	p := newPhone(22)
	p.installed = map[string]bool{testPkg: true}
	r := collectOn(t, p, func(j *collect.Job) { j.App.APK, j.App.TestAPK = "app.apk", "test.apk" })
	wantComplete(t, r, 3)
	for command, want := range map[string]int{
		"install app.apk": 1, "install test.apk": 1,
		"uninstall " + pkg: 1, "uninstall " + testPkg: 0, // the test was there before
		"svc power stayon false":          1,
		"svc data disable":                1,
		"svc data enable":                 1,
		"setprop debug.hwui.profile true": 1, "setprop debug.hwui.profile false": 1,
	} {
		if got := p.did(command); got != want {
			t.Errorf("%q was done %d times, want %d", command, got, want)
		}
	}
}

func TestAPKOfAnotherPackageIsRefused(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.installed = map[string]bool{testPkg: true}
	r := collectOn(t, p, func(j *collect.Job) { j.App.APK = "debug.apk" })
	if !loss.IsConfiguration(r.Err) || !strings.Contains(r.Err.Error(), "install debug.apk: it contains another package than com.example, which apkgate.yml names") {
		t.Error(r.Err)
	}
}

// The screen stays on with the same chargers as before.
func TestStayOnSettingIsRestored(t *testing.T) {
	t.Parallel()
	const setting = "stay_on_while_plugged_in"
	for _, before := range []string{"2", "0"} {
		p := newPhone(30)
		p.globals[setting] = before
		wantComplete(t, collectOn(t, p, nil), 3)
		if p.did("svc power stayon true") != 1 || p.globals[setting] != before {
			t.Errorf("%s is %q, was %q", setting, p.globals[setting], before)
		}
	}
}

// Wi-Fi is not turned off if adb uses it: nobody could turn it on again.
func TestWiFiOfTheConnectionStaysOn(t *testing.T) {
	t.Parallel()
	const addresses = "1: lo    inet 127.0.0.1/8 scope host lo\n30: wlan0    inet 10.0.0.7/24 brd 10.0.0.255 scope global wlan0\n31: eth0    inet 10.0.1.7/24 brd 10.0.1.255 scope global eth0\n"
	for serial, wireless := range map[string]bool{
		"10.0.0.7:5555": true, "adb-1A2B3C-x7.._adb-tls-connect._tcp": true,
		"10.0.1.7:5555": false, "phone.lab:5555": false, "1A2B3C": false,
	} {
		for _, network := range []string{"none", "3g", "wifi"} {
			p := newPhone(30)
			p.serial, p.addresses = serial, addresses
			r := collectOn(t, p, func(j *collect.Job) { j.Network = network })
			if !wireless || network == "wifi" {
				wantComplete(t, r, 3)
				continue
			}
			var hinted interface{ Hint() string }
			if !loss.IsConfiguration(r.Err) || !errors.As(r.Err, &hinted) || !strings.Contains(hinted.Hint(), "cable") || p.did("svc wifi disable") != 0 {
				t.Errorf("%s, %s: %v, after %q", serial, network, r.Err, p.commands)
			}
		}
	}
}

func TestWorkloadIsQuoted(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	collectOn(t, p, nil)
	if p.did(`am instrument -w -r -e class 'com.example.Test#it'\''s' com.example.test/androidx.test.runner.AndroidJUnitRunner`) != 3 {
		t.Errorf("commands: %q", p.commands)
	}
}

func TestSetUpFailuresAreFinal(t *testing.T) {
	t.Parallel()
	full := newPhone(30)
	r := collectOn(t, full, func(j *collect.Job) { j.App.APK = "huge.apk" })
	if r.Run.Status != run.Failed || !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "INSUFFICIENT_STORAGE") {
		t.Errorf("full disk: %s, %v", r.Run.Status, r.Err)
	}
	missing := newPhone(30)
	missing.installed = nil
	r = collectOn(t, missing, nil)
	if r.Run.Status != run.Failed || r.Err == nil || !strings.Contains(r.Err.Error(), "names no APK") {
		t.Errorf("no app: %s, %v", r.Run.Status, r.Err)
	}
	away := newPhone(30)
	away.stayGone = true
	r = collectOn(t, away, nil)
	if !loss.IsInfrastructure(r.Err) || !errors.Is(r.Err, device.ErrGone) {
		t.Errorf("no device: %v", r.Err)
	}
}

func TestInterruptEndsTheRunAndCleansUp(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	ctx, cancel := context.WithCancel(t.Context())
	p.fail = func(n int) fault {
		if n == 2 {
			cancel()
		}
		return fault{}
	}
	r := collect.Collect(ctx, p.job("fake"), collect.Options{})
	if r.Run.Status != run.Partial || !errors.Is(r.Err, context.Canceled) || p.did("svc power stayon false") != 1 {
		t.Errorf("status %s, %v", r.Run.Status, r.Err)
	}
}

func TestMaestroFlowRunsOnTheHost(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	job := p.job("fake")
	job.Clock = startedClock{p}
	job.Scenario.Workload = config.Workload{Maestro: &config.Maestro{Flow: "flows/open.yaml"}}
	job.Scenario.ClearData = true
	var asked []string
	exit := 0
	host := func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
		asked = append(asked, name+" "+strings.Join(args, " "))
		process, err := p.Start(ctx, "flow")
		if err != nil {
			return nil, 0, err
		}
		_, err = process.Wait()
		return []byte("Flow failed: no such button\n"), exit, err
	}
	r := collect.Collect(t.Context(), job, collect.Options{Host: host})
	wantComplete(t, r, 3)
	if len(asked) != 3 || asked[0] != "maestro --device fake-1 test flows/open.yaml" {
		t.Errorf("asked for %q", asked)
	}
	if p.did("pm clear "+pkg) != 3 {
		t.Error("the app's data was not cleared before each repetition")
	}
	exit = 1
	r = collect.Collect(t.Context(), job, collect.Options{Host: host})
	if !errors.Is(r.Err, loss.ErrTestFail) || !strings.Contains(r.Err.Error(), "no such button") {
		t.Errorf("a flow that fails: %v", r.Err)
	}
	r = collect.Collect(t.Context(), job, collect.Options{})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "Maestro") {
		t.Errorf("without a way to run it: %v", r.Err)
	}
}

// startedClock stands still until the workload has begun, which a workload on this computer does in
// its own goroutine.
type startedClock struct{ *phone }

func (c startedClock) Sleep(ctx context.Context, d time.Duration) error {
	for c.idle() {
		runtime.Gosched()
	}
	return c.phone.Sleep(ctx, d)
}

func TestShellScriptIsPushedAndRemoved(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	script := filepath.Join(t.TempDir(), "work.sh")
	if err := os.WriteFile(script, []byte("input tap 1 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(j *collect.Job) { j.Scenario.Workload = config.Workload{Shell: &config.Shell{Script: script}} }
	wantComplete(t, collectOn(t, p, change), 3)
	if p.did("push /data/local/tmp/apkgate-workload.sh: input tap 1 1\n") != 1 || p.did("sh /data/local/tmp/apkgate-workload.sh") != 3 || p.did("rm /data/local/tmp/apkgate-workload.sh") != 1 {
		t.Errorf("commands: %q", p.commands)
	}
	script += ".missing"
	if r := collectOn(t, p, change); r.Err == nil || !errors.Is(r.Err, fs.ErrNotExist) {
		t.Errorf("no script: %v", r.Err)
	}
}
