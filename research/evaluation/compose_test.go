package evaluation_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The versions of Compose in the order in which they came out. All but the
// first are checked.
var versions = []string{
	"1.0.3", "1.0.4", "1.0.5", "1.1.0-beta01", "1.1.0-beta02", "1.1.0-beta03", "1.1.0-beta04", "1.1.0",
}

// The phones by their model; the BE2029 alone has every version.
const (
	pixel2XL  = "Pixel 2 XL"
	be2029    = "BE2029"
	galaxyS10 = "SM-G973F"
	mi6       = "MI 6"
)

// command runs apkgate as a user would.
func command(t *testing.T, args ...string) (stdout string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
	}
	status = cli.Main(c, args)
	if status > 1 {
		t.Fatalf("apkgate %s ends with %d: %s", strings.Join(args, " "), status, errs.String())
	}
	return out.String(), status
}

// verdicts checks each version's runs together against those accepted before, and then accepts them
// if accept holds for the version. They are keyed by version.
func verdicts(t *testing.T, accept func(version string) bool, flags ...string) map[string]gate.Verdict {
	t.Helper()
	folder := corpustest.Path(t, "macrobenchmark", "compose_versions")
	store := filepath.Join(t.TempDir(), "history.db")
	out := map[string]gate.Verdict{}
	for i, version := range versions {
		files, err := filepath.Glob(filepath.Join(folder, "compose_"+version+"_*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of version %s in %s: %v", version, folder, err)
		}
		if i > 0 {
			out[version] = check(t, store, version, files, flags)
		}
		if accept(version) {
			command(t, append([]string{"baseline", "import", "--store", store, "--app-version", version}, files...)...)
		}
	}
	return out
}

func check(t *testing.T, store, version string, files, flags []string) (v gate.Verdict) {
	t.Helper()
	args := append([]string{"check", "--store", store, "--app-version", version, "--format", "json"}, flags...)
	for _, f := range files {
		args = append(args, "--run", f)
	}
	text, _ := command(t, args...)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Runs) != len(files) {
		t.Fatalf("%d verdicts on %d runs", len(v.Runs), len(files))
	}
	return v
}

func all(string) bool { return true }

// releases keeps the betas out of the history.
func releases(version string) bool { return !strings.Contains(version, "beta") }

// worst returns the gravest result for one cell on one phone.
func worst(v gate.Verdict, model, event, metric string) gate.Comparison {
	for _, r := range v.Runs {
		for _, d := range r.Deviations {
			if r.Context["model"] == model && d.Event == event && d.Metric == metric {
				return d
			}
		}
	}
	return gate.Comparison{Direction: gate.None}
}

// doubted reports whether a deviation would make a person look.
func doubted(d gate.Comparison) bool {
	return d.Direction == gate.ToRegression || d.Direction == gate.Suspect
}

const frameTime = "frames.duration_ms"

// Moving particles by their offset took longer from 1.0.4 on, on each of four phones, in both
// repetitions, and stayed so. The changes are of the means over both repetitions, computed from the
// files separately.
func TestParticlesAt104(t *testing.T) {
	v := verdicts(t, all)["1.0.4"]
	if v.Verdict == gate.Pass || v.Verdict == gate.Improvement {
		t.Errorf("the verdict on 1.0.4 is %s, want at least a doubt", v.Verdict)
	}
	for model, change := range map[string]float64{pixel2XL: 0.279, be2029: 0.622, galaxyS10: 0.434, mi6: 0.139} {
		d := worst(v, model, "particlesLayoutOffset", frameTime)
		if !doubted(d) || math.Abs(d.Change-change) > 0.002 {
			t.Errorf("%s: %s, change %+.3f; want at least suspect, %+.3f", model, d.Direction, d.Change, change)
		}
	}
}

// On the BE2029 both repetitions of 1.0.4 have 77 and 78 frames where the other
// versions have 436: the animation was cut short by some seven seconds.
func TestABrokenMeasurementIsDoubted(t *testing.T) {
	v := verdicts(t, all)["1.0.4"]
	for _, r := range v.Runs {
		const want = "77.5 where the fewest were 436 (after particlesLayoutLayer)"
		told := slices.ContainsFunc(r.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, want) })
		if there := r.Context["model"] == be2029; told != there || there && (r.Verdict == gate.Pass || r.Verdict == gate.Improvement) {
			t.Errorf("%s: %s, warnings %v; want a doubt on the %s alone: %s", r.Context["model"], r.Verdict, r.Warnings, be2029, want)
		}
	}
}

// On the BE2029 a frame of transitionAnimation takes 11 to 16 ms in the four
// betas, 7.7 to 8.6 ms in the versions before and 7.8 ms in the one after. The
// changes are against the geometric mean of 1.0.3 to 1.0.5.
func TestTransitionInTheBetas(t *testing.T) {
	byVersion := verdicts(t, releases, "--grain", "fine")
	for version, change := range map[string]float64{"1.1.0-beta01": 0.915, "1.1.0-beta02": 0.558, "1.1.0-beta03": 0.625, "1.1.0-beta04": 0.363} {
		d := worst(byVersion[version], be2029, "transitionAnimation", frameTime)
		if !doubted(d) || math.Abs(d.Change-change) > 0.002 {
			t.Errorf("%s: %s, change %+.3f; want at least suspect, %+.3f", version, d.Direction, d.Change, change)
		}
		if got := byVersion[version].Verdict; got == gate.Pass || got == gate.Improvement {
			t.Errorf("%s: %s, want at least a doubt", version, got)
		}
	}
	if d := worst(byVersion["1.1.0"], be2029, "transitionAnimation", frameTime); d.Direction != gate.None {
		t.Errorf("1.1.0: %s, change %+.3f; want nothing", d.Direction, d.Change)
	}
}

// 1.0.5 differs from 1.0.4, and 1.1.0 from both, by no more than these phones' own repetitions do,
// and nothing fails there.
func TestUnchangedVersionsDoNotFail(t *testing.T) {
	for _, grain := range []string{"coarse", "fine", "both"} {
		byVersion := verdicts(t, releases, "--grain", grain)
		for _, version := range []string{"1.0.5", "1.1.0"} {
			for _, r := range byVersion[version].Runs {
				if r.Verdict == gate.Regression {
					t.Errorf("%s, %s, %s: %s", version, grain, r.Context["model"], r.Reason)
				}
			}
		}
	}
}

// The published technique can't flag anything on fewer than five earlier runs
// of the nearest cluster: with the new value inside, its own fence reaches it.
// Only the last three versions on the BE2029 have five, and there too all
// values lie inside, by quartiles of type 6 worked out apart.
func TestDuneFlagsNothing(t *testing.T) {
	for version, v := range verdicts(t, all, "--preset", "dune") {
		for _, r := range v.Runs {
			if r.Verdict != gate.Pass || len(r.Deviations) > 0 {
				t.Errorf("%s on %s: %s, %d deviations; want none: %s", version, r.Context["model"], r.Verdict, len(r.Deviations), r.Reason)
			}
		}
	}
}
