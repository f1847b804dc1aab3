package collect_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/run"
)

// interleaved measures base.apk and head.apk in turns on a scripted phone.
func interleaved(t *testing.T, p *phone, rounds int) (base, head collect.Result) {
	t.Helper()
	p.installed = map[string]bool{testPkg: true}
	b, h := p.job("fake"), p.job("fake")
	b.App.APK, h.App.APK = "base.apk", "head.apk"
	b.Scenario.Repetitions, b.Scenario.WarmUp = rounds, 1
	b.Session, h.Session = "s", "s"
	base, head = collect.Interleave(t.Context(), collect.Pair{Base: b, Head: h}, collect.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	for _, r := range []collect.Result{base, head} {
		if _, err := run.Encode(r.Run); err != nil {
			t.Errorf("the record is not valid: %v", err)
		}
	}
	return base, head
}

// turns is what the phone saw: which build was installed, and each workload.
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

func TestBuildsTakeTurnsABBA(t *testing.T) {
	t.Parallel()
	p := newPhone(30)
	base, head := interleaved(t, p, 4)
	wantComplete(t, base, 4)
	wantComplete(t, head, 4)
	// One warm-up after each installation, then one or two repetitions.
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

func TestALostRoundIsMadeAgain(t *testing.T) {
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

func TestABuildThatAlwaysCrashesEndsBoth(t *testing.T) {
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

// Two simulated builds on a simulated phone, through the real adb client: what is
// already on it makes room, and each run is of its own build.
func TestInterleaveOnASimulatedPhone(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-5-android-11", "nexus-5x-android-6.0.0"} {
		s, good := simulated(t, profile, simlab.Options{})
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
		lab := collect.Lab{Jobs: []collect.Job{good}}
		var finished []string
		lab.Finished = func(r collect.Result) { finished = append(finished, r.Run.App.Version) }
		bases, heads := lab.Interleave(t.Context(), []collect.Job{worse})
		base, head := bases[0], heads[0]
		wantComplete(t, base, 3)
		wantComplete(t, head, 3)
		if !slices.Equal(finished, []string{"1.4.0", "1.5.0"}) {
			t.Errorf("%s: finished %v", profile, finished)
		}
		if !warnedOf(base.Run, "it was removed with its data") {
			t.Errorf("%s: nothing is said of the app that was there: %v", profile, base.Run.Warnings)
		}
		for i := range base.Run.Iterations {
			b, h := base.Run.Iterations[i].Events[3].Metrics["frames.duration_ms"], head.Run.Iterations[i].Events[3].Metrics["frames.duration_ms"]
			if h < 1.2*b {
				t.Errorf("%s, round %d: after open-message %.1f ms and %.1f ms, want the worse build to take longer", profile, i+1, b, h)
			}
		}
	}
}
