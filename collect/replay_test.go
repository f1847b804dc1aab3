package collect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	tape "github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

var replayedDate = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// recorded makes a run of the job while it is recorded.
func recorded(t *testing.T, dir string, job collect.Job, o collect.Options) collect.Result {
	t.Helper()
	r, err := tape.New(dir, tape.Head{Of: tape.OfSimulated}, tape.NewBlackout(job.App.Package))
	if err != nil {
		t.Fatal(err)
	}
	session := r.Begin("unit", replayedDate, job.Clock)
	if job.Wall == nil {
		job.Wall = target.HostClock()
	}
	job.Open, job.Clock, job.Wall = session.Opened(job.Open), session.Clock(), session.Wall(job.Wall)
	o.Now = func() time.Time { return replayedDate }
	result := collect.Collect(t.Context(), job, o)
	if _, err := r.Finish(true); err != nil {
		t.Fatal(err)
	}
	return result
}

// replayed makes the run again from the recording.
func replayed(t *testing.T, dir string, job collect.Job, o collect.Options) (collect.Result, *tape.Player) {
	t.Helper()
	r, err := tape.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Play(r.Runs[0])
	job.Open, job.Clock, job.Wall, job.Died = p.Open, p.Clock(), p.Wall(), p.Died()
	o.Now = func() time.Time { return replayedDate }
	return collect.Collect(t.Context(), job, o), p
}

// record returns the stored form of a run.
func record(t *testing.T, r run.Run) string {
	t.Helper()
	r, err := r.Named()
	if err != nil {
		t.Fatal(err)
	}
	data, err := run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantSame checks that two results have the same record, byte for byte.
func wantSame(t *testing.T, was, now collect.Result) {
	t.Helper()
	want, got := record(t, was.Run), record(t, now.Run)
	if got == want {
		return
	}
	at := strings.Index(want, `"started"`) // behind the id, which follows from all the rest
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(at-80, 0)
	t.Errorf("the record differs at byte %d: %.400q, want %.400q", at, got[from:], want[from:])
}

// A run replayed from a recording equals the recorded run, whatever was measured and whatever went
// wrong: with followed traces, joules, the app's own benchmark, lost connections and repetitions.
func TestAReplayGivesTheSameRecord(t *testing.T) {
	t.Parallel()
	energy := func(j *collect.Job) {
		j.Energy = &config.Energy{Source: config.EnergyAuto, Methods: true, SampleHz: 500}
	}
	startup := func(j *collect.Job) {
		j.Scenario.Workload = config.Workload{Startup: &config.Startup{Mode: config.StartCold}}
		j.App.TestAPK = ""
	}
	for name, c := range map[string]struct {
		profile, fault string
		change         func(*collect.Job)
	}{
		"dumps of old tables":  {profile: "nexus-4-android-4.3"},
		"dumps":                {profile: "pixel-5-android-11"},
		"timeline":             {profile: "pixel-7-android-14"},
		"energy":               {profile: "pixel-7-android-14", change: energy},
		"energy of an old one": {profile: "nexus-5x-android-6.0.0", change: energy},
		"start":                {profile: "pixel-7-android-14", change: startup},
		"crash":                {profile: "pixel-7-android-14", fault: "crash after open-message repetition 2"},
		"anr":                  {profile: "pixel-5-android-11", fault: "anr after open-message repetition 2"},
		"drop":                 {profile: "pixel-5-android-11", fault: "drop after open-message repetition 2"},
		"reboot":               {profile: "pixel-7-android-14", fault: "reboot after open-message repetition 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := simulator.Options{}
			if c.fault != "" {
				fault, err := simapp.ParseFault(c.fault)
				if err != nil {
					t.Fatal(err)
				}
				o.Faults = []simapp.Fault{fault}
			}
			_, job := simulated(t, c.profile, o)
			job.Evidence.Keep, job.Scenario.Repetitions = config.KeepAnomalies, 2
			if c.change != nil {
				c.change(&job)
			}
			dir := filepath.Join(t.TempDir(), "recording")
			kept := collect.Options{Evidence: evidence.At(filepath.Join(t.TempDir(), "evidence"), evidence.Default)}
			was := recorded(t, dir, job, kept)
			if len(was.Run.Iterations) == 0 || c.fault == "" && was.Err != nil {
				t.Fatalf("recorded %d iterations, %v", len(was.Run.Iterations), was.Err)
			}
			now, p := replayed(t, dir, job, kept)
			if a := p.Account(); p.Err() != nil || !a.Exact() {
				t.Errorf("the replay asked %+v, %v", a, p.Err())
			}
			wantSame(t, was, now)
			if c.fault != "" && len(was.Run.Warnings) == 0 {
				t.Error("the fault did not strike: the record tells of nothing")
			}
		})
	}
}

// A changed recording is detected where it matters: another pid is queried next, and no answer to
// that was recorded.
func TestReplayFailsOnAChangedAnswer(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	dir := filepath.Join(t.TempDir(), "recording")
	wantComplete(t, recorded(t, dir, job, collect.Options{}), 3)
	path := filepath.Join(dir, tape.ExchangesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alive := regexp.MustCompile(`"command":"test -d /proc/(\d+)"`).FindSubmatch(text)
	if alive == nil {
		t.Fatal("nobody asks whether Perfetto lives")
	}
	changed := strings.Replace(string(text), `"text":"`+string(alive[1])+`\n"`, `"text":"99999\n"`, 1)
	if changed == string(text) {
		t.Fatal("no answer was changed")
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	now, p := replayed(t, dir, job, collect.Options{})
	want := `no answer to "test -d /proc/99999"; the nearest that it has is "test -d /proc/` + string(alive[1]) + `"`
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), want) || !loss.IsInfrastructure(now.Err) {
		t.Errorf("the replay ended with %v and the run with %v, want %s", p.Err(), now.Err, want)
	}
}
