package collect_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// ownedBy makes the job measure for an owner on that computer.
func ownedBy(job *collect.Job, host string) {
	job.Owner, job.OwnFor = &devicelock.Owner{User: "ci", Host: host, PID: len(host)}, time.Hour
}

// quiet makes the job's app draw so little that dumps need not be timely.
func quiet(t *testing.T, job *collect.Job) {
	t.Helper()
	job.App.APK = filepath.Join(t.TempDir(), "quiet.apk")
	app := "apkgate-simulated-app/1\npackage com.example.demo\ncost 4ms\nscenario read-mail 2s\n  start 30\n  1s scroll 20\n"
	if err := os.WriteFile(job.App.APK, []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Timeout = 1, 0, 10*time.Minute
}

// Two computers that measure on one phone at once both finish, one after the other: the second
// waits until the first has left the phone as it found it.
func TestTwoComputersTakeTurnsOnAPhone(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{Rate: 20})
	quiet(t, &job)
	var mu sync.Mutex
	var began []string // "one: measure", …
	waited := ""
	results := map[string]collect.Result{}
	var both sync.WaitGroup
	for _, host := range []string{"one", "two!"} {
		both.Go(func() {
			mine := job
			ownedBy(&mine, host)
			told := progressFunc(func(e journal.Event) {
				mu.Lock()
				defer mu.Unlock()
				switch e.Phase {
				case journal.Measure, journal.Done:
					began = append(began, host+": "+string(e.Phase))
				case journal.Waiting:
					waited += host + " " + e.Message + "\n"
				}
			})
			lab := fleet.Lab{Jobs: []collect.Job{mine}, Stations: stationsOf([]collect.Job{mine}), Options: collect.Options{Progress: told}}
			r := lab.Collect(t.Context())[0]
			mu.Lock()
			defer mu.Unlock()
			results[host] = r
		})
	}
	both.Wait()
	for host, r := range results {
		if r.Err != nil || r.Run.Status != run.Complete {
			t.Errorf("%s: %s, %v", host, r.Run.Status, r.Err)
		}
	}
	one := []string{"one: measure", "one: done"}
	two := []string{"two!: measure", "two!: done"}
	if !slices.Equal(began, slices.Concat(one, two)) && !slices.Equal(began, slices.Concat(two, one)) {
		t.Errorf("they were not one after the other: %q", began)
	}
	if !strings.Contains(waited, "is in use by ci@") || !strings.Contains(waited, "com.example.demo/read-mail") {
		t.Errorf("who waited was told %q", waited)
	}
	if left, err := onPhone(t, s, "ls /data/local/tmp"); left != "" || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A phone that somebody else uses is left alone by a run that may not wait.
func TestPhoneInUseIsRefused(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	other := marked(t, s, "elsewhere")
	before := state(t, s)
	ownedBy(&job, "here")
	job.OwnFor = 0
	r := collect.Collect(t.Context(), job, collect.Options{})
	if !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "in use by ci@elsewhere (pid 9)") {
		t.Errorf("%v", r.Err)
	}
	if after := state(t, s); after != before {
		t.Errorf("it was changed, from\n%s\nto\n%s", before, after)
	}
	_, _ = onPhone(t, s, other.Release())
	wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 3)
}

// marked is another user's mark on the phone.
func marked(t *testing.T, s *simulator.Simulated, host string) *devicelock.Hold {
	t.Helper()
	h, _, err := devicelock.Mark(t.Context(), func(_ context.Context, line string) (device.Output, error) {
		out, err := onPhone(t, s, line)
		return device.Output{Stdout: []byte(out)}, err
	}, devicelock.Owner{User: "ci", Host: host, PID: len(host)}, 0, ":")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A lost phone is no longer the run's if somebody else has taken it by the time it is back: that
// other measurement is not disturbed.
func TestLostPhoneTakenBySomebodyElse(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
		ownedBy(&job, "here")
		restarted := false
		open := job.Open
		job.Open = func(ctx context.Context) (device.Device, error) {
			d, err := open(ctx)
			if err == nil && restarted && taken {
				restarted = false
				if out, e := d.Exec(ctx, "getprop sys.boot_completed"); e == nil && strings.TrimSpace(string(out.Stdout)) == "1" {
					marked(t, s, "elsewhere")
				} else {
					restarted = true // not yet
				}
			}
			return d, err
		}
		r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
			if e.Phase == journal.Measure && e.Repetition == 2 && !restarted {
				restarted = true
				s.Phone.Break(simapp.Fault{Kind: simapp.Reboot})
			}
		})})
		if !taken {
			wantComplete(t, r, 3)
			continue
		}
		if r.Run.Status != run.Partial || !strings.Contains(fmt.Sprint(r.Err), "in use by ci@elsewhere") {
			t.Errorf("%s, %v", r.Run.Status, r.Err)
		}
		if marks, _ := onPhone(t, s, "ls /data/local/tmp"); strings.Count(marks, "apkgate-owner.") != 1 {
			t.Errorf("marks: %q, want the other's", marks)
		}
	}
}

// A phone that keeps no mark is measured on, with a warning.
func TestPhoneThatKeepsNoMark(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{ClosedTmp: true})
	ownedBy(&job, "here")
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "no mark can be made", "/data/local/tmp") {
		t.Errorf("%v", r.Run.Warnings)
	}
}

// The measurement does not depend on whether the phone may have other users.
func TestMarkDoesNotAffectTheMeasurement(t *testing.T) {
	t.Parallel()
	var frames [2][]float64
	for i := range frames {
		_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
		if i == 1 {
			ownedBy(&job, "here")
		}
		for _, it := range collect.Collect(t.Context(), job, collect.Options{}).Run.Iterations {
			frames[i] = append(frames[i], it.Metrics["frames.count"])
		}
	}
	// An extra command shifts the workload relative to the display's vsyncs, of which one more or
	// less is seen.
	if !slices.EqualFunc(frames[0], frames[1], func(a, b float64) bool { return math.Abs(a-b) <= 1 }) {
		t.Errorf("%v without a mark, %v with one", frames[0], frames[1])
	}
}

// state is everything on a phone that a run may change.
func state(t *testing.T, s *simulator.Simulated) string {
	t.Helper()
	if err := s.Clock().Sleep(t.Context(), 10*time.Second); err != nil { // what was signaled to end, ends
		t.Fatal(err)
	}
	out, err := onPhone(t, s, "settings list global; settings list system; settings list secure; getprop; ls /data/local/tmp; ls /data/misc/perfetto-traces; "+
		"pm path com.example.demo; pm path com.example.demo.test; dumpsys battery | grep UPDATES; pidof com.example.demo; logcat -g -b main -b system -b events | grep -c '256 KiB ('; pkill -0 -f '[a]pkgate' && echo records")
	if err != nil {
		t.Fatal(err)
	}
	fixed, dexopt := s.Phone.Held()
	return out + fmt.Sprintf("clocks held: %v, compiles in the background: %v\n", fixed, dexopt)
}

// errKilled is the answer to every command of a killed run.
var errKilled = fmt.Errorf("killed: %w", device.ErrGone)

// mortal is the device of a run that is killed at one of its operations: before the operation, or
// after it without seeing the answer.
type mortal struct {
	device.Device
	life *life
}

type life struct {
	mu   sync.Mutex
	left int
	done bool // the last operation is done
	over bool
	end  func()
}

// opening connects to the device, as long as the run lives.
func (l *life) opening(open func(context.Context) (device.Device, error)) func(context.Context) (device.Device, error) {
	return func(ctx context.Context) (device.Device, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.over {
			return nil, errKilled
		}
		d, err := open(ctx)
		return mortal{d, l}, err
	}
}

func (m mortal) do(f func() error) error {
	l := m.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return errKilled
	}
	if l.left--; l.left > 0 {
		return f()
	}
	if l.done {
		_ = f()
	}
	l.over = true
	_ = m.Device.Close()
	l.end()
	return errKilled
}

func (m mortal) Exec(ctx context.Context, command string) (out device.Output, err error) {
	err = m.do(func() error { out, err = m.Device.Exec(ctx, command); return err })
	return out, err
}

func (m mortal) Start(ctx context.Context, command string) (p device.Process, err error) {
	err = m.do(func() error { p, err = m.Device.Start(ctx, command); return err })
	return p, err
}

func (m mortal) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, at time.Time) error {
	return m.do(func() error { return m.Device.Push(ctx, src, path, mode, at) })
}

func (m mortal) Pull(ctx context.Context, path string, dst io.Writer) error {
	return m.do(func() error { return m.Device.Pull(ctx, path, dst) })
}

func (m mortal) Install(ctx context.Context, files ...string) error {
	return m.do(func() error { return m.Device.Install(ctx, files...) })
}

func (m mortal) Uninstall(ctx context.Context, pkg string) error {
	return m.do(func() error { return m.Device.Uninstall(ctx, pkg) })
}

// ending is a phone, and a job that makes all changes that a run can make, which is killed at its
// n-th operation. survived reports that it ended before.
func ending(t *testing.T, n int, done bool) (s *simulator.Simulated, job collect.Job, survived bool) {
	t.Helper()
	s, job = simulated(t, "pixel-7-android-14", simulator.Options{Powered: "usb", FixedPerformance: 1.2})
	quiet(t, &job)
	job.Conditions.FixedPerformance = config.PerformanceAlways
	for _, key := range []string{"system screen_brightness_mode", "system accelerometer_rotation", "global stay_on_while_plugged_in"} {
		s.Phone.Set(key, "1")
	}
	if _, err := onPhone(t, s, "setprop security.perf_harden 1"); err != nil {
		t.Fatal(err)
	}
	settle := time.Duration(0)
	settings := config.DefaultEnergy()
	settings.Source, settings.Methods, settings.Settle = config.EnergyModel, true, &settle
	job.Energy, job.Network, job.Scenario.Retries = &settings, "none", 0
	job.Scenario.Load = &config.BackgroundLoad{CPU: 0.5, Memory: 0.7, Storage: 2}
	ownedBy(&job, "here")
	job.Owner.Lock = "same" // nobody waits for a killed run of the same computer
	return s, job, killedAt(t, job, n, done)
}

// killedAt kills a job at its n-th operation.
func killedAt(t *testing.T, job collect.Job, n int, done bool) (survived bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &life{left: n, done: done, end: cancel}
	open := job.Open
	killed := job
	killed.Open = l.opening(open)
	r := collect.Collect(ctx, killed, collect.Options{})
	if !l.over && r.Err != nil {
		t.Fatalf("killed at %d: %v", n, r.Err)
	}
	return !l.over
}

// restore does what `apkgate devices restore` does.
func restore(t *testing.T, job collect.Job) (out []string, err error) {
	t.Helper()
	d := target.New(job.Device, job.Clock, time.Now(), job.Open)
	d.Journal, d.Owner = journal.New(job.Device, nil), job.Owner
	err = d.Restore(t.Context())
	for _, w := range d.Journal.Warnings {
		out = append(out, w.Text)
	}
	return out, err
}

// everyOf selects the operations of a run at which it is killed: each with APKGATE_FULL, as each
// night, else one of so many.
func everyOf(usual int) int {
	if os.Getenv("APKGATE_FULL") != "" {
		return 1
	}
	return usual
}

// A run that is killed at any operation leaves a phone that `apkgate devices restore` restores to
// its earlier state, and so does the next run.
func TestChangesOfAKilledRunAreUndone(t *testing.T) {
	t.Parallel()
	whole, _, survived := ending(t, 1<<30, false)
	if !survived {
		t.Fatal("it was killed")
	}
	want := state(t, whole)
	step := everyOf(11)
	var told []string
	over := false
	for n := 1; !over; n += step {
		for _, done := range []bool{false, true} {
			s, job, survived := ending(t, n, done)
			if over = over || survived; survived {
				continue
			}
			if n%3 == 1 { // the next run does as well
				wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 1)
			} else {
				done, err := restore(t, job)
				if err != nil {
					t.Fatal(err)
				}
				told = append(told, done...)
			}
			if got := state(t, s); got != want {
				t.Fatalf("killed at its operation %d (done: %v), and put back: %s", n, done, difference(want, got))
			}
		}
	}
	all := strings.Join(told, "\n")
	for _, what := range []string{"screen_off_timeout back to 60000", "screen_brightness_mode back to 1", "accelerometer_rotation back to 1", "fixed performance mode off", "compile apps in the background again", "with a charger", "turn Wi-Fi on", "faked battery state", "perf_harden", "uninstall com.example.demo.test", "stop com.example.demo;", "recorders"} {
		if !strings.Contains(all, what) {
			t.Errorf("it was never told that it put back %q", what)
		}
	}
}

// difference returns the lines that only one of the texts has.
func difference(want, got string) string {
	var out []string
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range wanted {
		if !slices.Contains(gotten, line) {
			out = append(out, "missing "+line)
		}
	}
	for _, line := range gotten {
		if !slices.Contains(wanted, line) {
			out = append(out, "left "+line)
		}
	}
	return strings.Join(out, "; ")
}

// Later changes by somebody else are kept.
func TestLaterChangesAreKept(t *testing.T) {
	t.Parallel()
	const beforeTearDown = 60 // operations: all is changed by then
	s, job, survived := ending(t, beforeTearDown, true)
	if survived {
		t.Fatal("it was not killed")
	}
	if got, _ := onPhone(t, s, "settings get system screen_off_timeout; settings get system screen_brightness_mode; pm path com.example.demo"); !strings.HasPrefix(got, "86399000\n0\npackage:") {
		t.Fatalf("the killed run has left %q", got)
	}
	s.Phone.Set("system screen_off_timeout", "300000")
	text, err := os.ReadFile(job.App.APK)
	if err == nil {
		err = s.Phone.Install(append(text, "# another build\n"...))
	}
	if err != nil {
		t.Fatal(err)
	}
	did, err := restore(t, job)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(did, "\n")
	got, _ := onPhone(t, s, "settings get system screen_off_timeout; settings get system screen_brightness_mode; pm path com.example.demo; pm path com.example.demo.test; ls /data/local/tmp")
	if want := "300000\n1\npackage:"; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 3 {
		t.Errorf("%q, want what was set and installed since, and nothing else", got)
	}
	if !strings.Contains(told, "so it is left as it is") || !strings.Contains(told, "screen_off_timeout back to 60000 (it is 300000 by now)") || !strings.Contains(told, "uninstall com.example.demo (it was reinstalled since)") {
		t.Errorf("told: %s", told)
	}
}

// The results of a Macrobenchmark are removed after a kill too, whenever it comes.
func TestMacrobenchmarkResultsOfAKilledRun(t *testing.T) {
	t.Parallel()
	step := 1
	if testing.Short() {
		step = 9
	}
	told := ""
	for n := 1; ; n += step {
		s, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark#cold", simulator.Options{})
		ownedBy(&job, "here")
		job.Owner.Lock, job.KeepInstalled = "same", true
		if killedAt(t, job, n, true) {
			break
		}
		done, err := restore(t, job)
		if err != nil {
			t.Fatal(err)
		}
		told += strings.Join(done, "\n")
		if left, err := onPhone(t, s, "ls /sdcard/Android/media/com.example.macro"); left != "" || err != nil {
			t.Errorf("killed at its operation %d: %s stays, %v", n, left, err)
		}
	}
	if !strings.Contains(told, "remove the results of the Macrobenchmark com.example.macro") {
		t.Errorf("told: %s", told)
	}
}

// A ledger entry that apkgate never writes is not executed.
func TestLedgerIsNotExecuted(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	ownedBy(&job, "here")
	before := state(t, s)
	lines := []string{"kind=files&put=/data/local/tmp/../../../sdcard/x+/system/bin/sh", "kind=package&name=com.example%3B+reboot&put=1", "kind=odd&put=1",
		"kind=results&name=..&put=1", "kind=results&name=com.example.demo/..&put=1", "kind=results&name=a+/sdcard&put=1", "%zz&put=1", "half a line"}
	if _, err := onPhone(t, s, "echo '"+strings.Join(lines, "' >>/data/local/tmp/apkgate-changed; echo '")+"' >>/data/local/tmp/apkgate-changed"); err != nil {
		t.Fatal(err)
	}
	did, err := restore(t, job)
	told := strings.Join(did, "\n")
	if err == nil || !strings.Contains(told, "is no file of apkgate's") || !strings.Contains(told, "is no package") || !strings.Contains(told, "does not know") || strings.Count(told, "is no package") != 4 {
		t.Errorf("told: %s", told)
	}
	_, _ = onPhone(t, s, "rm -f /data/local/tmp/apkgate-changed")
	if after := state(t, s); after != before {
		t.Error(difference(before, after))
	}
}
