package collect_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// inOrderABBA is a session whose first six rounds of these tests' job are drawn base, head; head,
// base; and so on.
const inOrderABBA = "s16"

// interleaved measures base.apk and head.apk alternately on a scripted phone.
func interleaved(t *testing.T, p *phone, rounds int) (base, head collect.Result) {
	t.Helper()
	return inTurns(t, p, rounds, collect.Turns{})
}

// inTurns is interleaved with limits.
func inTurns(t *testing.T, p *phone, rounds int, turns collect.Turns) (base, head collect.Result) {
	t.Helper()
	p.installed = map[string]bool{testPkg: true}
	b, h := p.job("fake"), p.job("fake")
	b.App.APK, h.App.APK = "base.apk", "head.apk"
	b.Scenario.Repetitions, b.Scenario.WarmUp = rounds, 1
	b.Session, h.Session = inOrderABBA, inOrderABBA
	base, head = collect.Interleave(t.Context(), collect.Pair{Base: b, Head: h, Turns: turns}, collect.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	for _, r := range []collect.Result{base, head} {
		if _, err := run.Encode(r.Run); err != nil {
			t.Errorf("the record is not valid: %v", err)
		}
	}
	return base, head
}

// turns is the sequence of installed builds and workloads on the phone.
func (p *phone) turns() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var seen []string
	for _, c := range p.commands {
		switch {
		case strings.HasPrefix(c, "install "):
			seen = append(seen, strings.TrimSuffix(strings.TrimPrefix(c, "install "), ".apk"))
		case strings.HasPrefix(c, "am instrument"):
			seen = append(seen, "·")
		}
	}
	return strings.Join(seen, " ")
}

func TestInterleaveFollowsTheDraw(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	base, head := interleaved(t, p, 4)
	wantComplete(t, base, 4)
	wantComplete(t, head, 4)
	// One warm-up after each installation, then one or two repetitions. (TestHeadFirst tests the
	// draw.)
	if got, want := p.turns(), "base · · head · · · base · · · head · · · base · ·"; got != want {
		t.Errorf("the phone saw %s\nwant %s", got, want)
	}
	if !maps.Equal(base.Run.Context, head.Run.Context) || base.Run.Context["model"] == "" {
		t.Errorf("the contexts differ: %v and %v", base.Run.Context, head.Run.Context)
	}
	if off := p.did("uninstall " + pkg); off != 5 || !p.idle() { // each build starts from nothing, and none stays
		t.Errorf("the phone is not left as it was: of 5 builds %d were taken off", off)
	}
}

// Two repetitions a turn share an installation and a warm-up, and the runs say so.
func TestInterleaveWithTwoRepetitionsATurn(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	base, head := inTurns(t, p, 4, collect.Turns{Repetitions: 2, More: func(collect.Progress) int { return 2 }})
	wantComplete(t, base, 4)
	wantComplete(t, head, 4)
	if got, want := p.turns(), "base · · · head · · · · · base · · ·"; got != want || base.Run.Turn != 2 || head.Run.Turn != 2 {
		t.Errorf("the phone saw %s in turns of %d and %d\nwant %s in turns of 2", got, base.Run.Turn, head.Run.Turn, want)
	}
}

// If no round of a job is wanted, the device is left alone.
func TestInterleaveOfAnUnwantedJob(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	base, head := inTurns(t, p, 4, collect.Turns{More: func(collect.Progress) int { return 0 }})
	if !errors.Is(base.Err, collect.ErrNoTime) || !errors.Is(head.Err, collect.ErrNoTime) || p.turns() != "" {
		t.Errorf("%v, %v; the phone saw %q", base.Err, head.Err, p.turns())
	}
}

// More sees the measurements so far, and ends them when they suffice.
func TestInterleaveUntilMoreIsSatisfied(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	var asked []string
	base, head := inTurns(t, p, 40, collect.Turns{More: func(so collect.Progress) int {
		for _, r := range []run.Run{so.Base, so.Head} {
			if n := len(r.Iterations); n > 0 && (r.Context["frames_by"] == "" || r.Iterations[n-1].Metrics["frames.duration_ms"] < 10) {
				t.Errorf("after %d rounds the run has context %v and %v", n, r.Context, r.Iterations[n-1].Metrics)
			}
		}
		asked = append(asked, fmt.Sprintf("%d %d", len(so.Base.Iterations), len(so.Head.Iterations)))
		return []int{2, 3, 3}[len(asked)-1]
	}})
	wantComplete(t, base, 3)
	wantComplete(t, head, 3)
	if want := []string{"0 0", "2 2", "3 3"}; !slices.Equal(asked, want) {
		t.Errorf("asked after %q rounds of base and head, want %q", asked, want)
	}
	if len(base.Run.Warnings) > 1 || len(head.Run.Warnings) > 1 { // for the unknown size of the build
		t.Errorf("asking left warnings: %v %v", base.Run.Warnings, head.Run.Warnings)
	}
}

// A round that would not end in time is not started, and a started one is completed.
func TestTurnsEndInTime(t *testing.T) {
	t.Parallel()
	whole := newPhone(30)
	inTurns(t, whole, 6, collect.Turns{})
	needs := whole.now - 1000*time.Second // for six rounds
	p := newPhone(30)
	within := needs / 2
	base, head := inTurns(t, p, 6, collect.Turns{Within: within})
	n := len(base.Run.Iterations)
	if n < 1 || n > 5 || p.now-1000*time.Second > within+within/4 { // a round may take longer than those before
		t.Errorf("%d rounds of 6 in half of the time, which took %v of %v", n, p.now-1000*time.Second, within)
	}
	wantComplete(t, base, n)
	wantComplete(t, head, n)
}

func TestNoTimeForTurns(t *testing.T) {
	t.Parallel()
	for _, within := range []time.Duration{-1, time.Millisecond} {
		p := newPhone(30)
		base, head := inTurns(t, p, 6, collect.Turns{Within: within})
		for _, r := range []collect.Result{base, head} {
			if !errors.Is(r.Err, collect.ErrNoTime) || errors.Is(r.Err, collect.ErrOtherBuild) || r.Run.Status != run.Failed {
				t.Errorf("within %v: %s, %v", within, r.Run.Status, r.Err)
			}
		}
		if !p.idle() || within < 0 && p.turns() != "" {
			t.Errorf("within %v: the phone saw %q", within, p.turns())
		}
	}
}

// Where more is asked for, the first job has all of the time, and the next what that leaves;
// else each has its share.
func TestJobsOfADeviceShareTheTime(t *testing.T) {
	t.Parallel()
	whole := newPhone(30)
	inTurns(t, whole, 8, collect.Turns{})
	needs := whole.now - 1000*time.Second
	p := newPhone(30)
	var bases, heads []collect.Job
	for range 3 {
		b := p.job("fake")
		b.App.APK, b.Scenario.Repetitions, b.Scenario.WarmUp, b.Session = "base.apk", 8, 1, inOrderABBA
		h := b
		h.App.APK = "head.apk"
		bases, heads = append(bases, b), append(heads, h)
	}
	lab := fleet.Lab{Jobs: bases, Stations: stationsOf(bases)}
	got, _ := lab.Interleave(t.Context(), heads, fleet.Turns{More: func(job int, _ collect.Progress) int { return []int{8, 1, 8}[job] }, Within: 3 * needs / 2})
	var rounds []int
	for _, r := range got {
		rounds = append(rounds, len(r.Run.Iterations))
	}
	if rounds[0] != 8 || rounds[1] != 1 || rounds[2] < 1 || rounds[2] > 7 {
		t.Errorf("rounds %v, want all of the first's, and of the last what there was time for", rounds)
	}
	before := p.now
	if lab.Interleave(t.Context(), heads, fleet.Turns{Within: needs}); p.now-before > needs+needs/4 { // a round may take longer than those before
		t.Errorf("it took %v of %v", p.now-before, needs)
	}
}

// If one build can't be installed, earlier measurements are kept.
func TestInterleaveEndsAtABrokenBuild(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	b, h := p.job("fake"), p.job("fake")
	b.App.APK, h.App.APK, b.Session = "base.apk", "huge.apk", inOrderABBA
	base, head := collect.Interleave(t.Context(), collect.Pair{Base: b, Head: h}, collect.Options{})
	if len(base.Run.Iterations) != 1 || !errors.Is(base.Err, collect.ErrOtherBuild) || errors.Is(head.Err, collect.ErrOtherBuild) || !strings.Contains(head.Err.Error(), "INSUFFICIENT_STORAGE") {
		t.Errorf("base with %d iterations: %v; head: %v", len(base.Run.Iterations), base.Err, head.Err)
	}
	if !p.idle() || p.installed[pkg] {
		t.Error("the phone is not left as it was")
	}
}

func TestInterleaveRepeatsALostRound(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(workload int) fault { return fault{gone: workload == 5} } // the head's second
	base, head := interleaved(t, p, 3)
	wantComplete(t, base, 3)
	wantComplete(t, head, 3)
	if !warnedOf(head.Run, "repetition 2 is lost") || warnedOf(base.Run, "is lost") {
		t.Errorf("warnings of the base %v, of the head %v", base.Run.Warnings, head.Run.Warnings)
	}
}

func TestInterleaveEndsAtACrashingBuild(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	p.fail = func(workload int) fault { return fault{crash: workload > 2} } // from the head's warm-up on
	base, head := interleaved(t, p, 3)
	if base.Run.Status != run.Partial || head.Run.Status != run.Failed || head.Err == nil || loss.IsInfrastructure(head.Err) {
		t.Errorf("base %s, head %s: %v", base.Run.Status, head.Run.Status, head.Err)
	}
	if errors.Is(head.Err, collect.ErrOtherBuild) || !errors.Is(base.Err, collect.ErrOtherBuild) {
		t.Errorf("whose failure it is gets lost: %v, %v", base.Err, head.Err)
	}
	if !strings.HasSuffix(p.turns(), "head · · · ·") { // the warm-up, the first repetition and two retries
		t.Errorf("the phone saw %s", p.turns())
	}
}

func TestInterleavingNeedsTwoFiles(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	_, head := collect.Interleave(t.Context(), collect.Pair{Base: p.job("fake"), Head: p.job("fake")}, collect.Options{})
	if head.Err == nil || !strings.Contains(head.Err.Error(), "APK") {
		t.Errorf("error %v", head.Err)
	}
}

// Two simulated builds on a simulated phone, through the real adb client: an installed app is
// replaced, and each run is of its own build.
func TestInterleaveOnASimulatedPhone(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-5-android-11", "nexus-5x-android-6.0.0"} {
		s, good := simulated(t, profile, simulator.Options{})
		text, err := simapp.Open("demo-good")
		if err == nil {
			err = s.Phone.Install(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		worse := good
		if text, err = simapp.Open("demo-worse"); err != nil {
			t.Fatal(err)
		}
		worse.App.APK = filepath.Join(t.TempDir(), "demo-worse.apk")
		if err := os.WriteFile(worse.App.APK, text, 0o600); err != nil {
			t.Fatal(err)
		}
		lab := fleet.Lab{Jobs: []collect.Job{good}, Stations: stationsOf([]collect.Job{good})}
		var finished []string
		lab.Finished = func(_ int, r collect.Result) { finished = append(finished, r.Run.App.Version) }
		bases, heads := lab.Interleave(t.Context(), []collect.Job{worse}, fleet.Turns{})
		base, head := bases[0], heads[0]
		wantComplete(t, base, 3)
		wantComplete(t, head, 3)
		if !slices.Equal(finished, []string{"1.4.0", "1.5.0"}) {
			t.Errorf("%s: finished %v", profile, finished)
		}
		if !warnedOf(base.Run, "it was removed with its data") && !warnedOf(head.Run, "it was removed with its data") {
			t.Errorf("%s: nothing is said of the app that was there: %v, %v", profile, base.Run.Warnings, head.Run.Warnings)
		}
		for i := range base.Run.Iterations {
			b, h := base.Run.Iterations[i].Events[3].Metrics["frames.duration_ms"], head.Run.Iterations[i].Events[3].Metrics["frames.duration_ms"]
			if h < 1.2*b {
				t.Errorf("%s, round %d: after open-message %.1f ms and %.1f ms, want the worse build to take longer", profile, i+1, b, h)
			}
		}
	}
}
