package experiments

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/usecase/interleaved"
	clilab "github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// session is a lab's measurements of one session.
type session []collect.Result

// runs returns those of the session.
func (s session) runs() (out []run.Run) {
	for _, r := range s {
		out = append(out, r.Run)
	}
	return out
}

// pull is a build that was measured on phones, and the base build for rounds.
type pull struct {
	subject
	base, head string // what each is made of
	phones     []profile.Profile
	network    string
	measured   session // of the head, a run on each phone
	minutes    int     // of rounds; 0 is the default
}

// besideBase is what `apkgate run --base` says of the build by default: the history's verdict,
// and where that leaves something open that of rounds of both builds alternately.
func (x pull) besideBase(t *testing.T, before []run.Run, change ...func(*gate.Policy)) gate.Verdict {
	t.Helper()
	cfg := &config.Config{
		App: config.App{Package: x.pkg, APK: apkOf(t, x.subject, x.head)}, Networks: []string{x.network},
		Scenarios: []config.Scenario{x.played(1)}, Rounds: config.Default().Rounds,
	}
	if x.minutes > 0 {
		cfg.Rounds.Minutes = x.minutes
	}
	for _, p := range x.phones {
		cfg.Devices = append(cfg.Devices, config.Device{Simulated: p.Name})
	}
	var m clilab.Measured
	for i, r := range x.measured {
		m.Runs, m.Places, m.Took = append(m.Runs, r.Run), append(m.Places, i), append(m.Took, r.Took)
	}
	base, policy := interleaved.Base{APK: apkOf(t, x.subject, x.base)}, gate.Policy{}
	first := check(t, readings[0], m.Runs, before, append(slices.Clone(change), func(p *gate.Policy) {
		p.Budget = interleaved.BudgetOf(cfg, base, m, nil)
		policy = *p
	})...)
	told := &strings.Builder{}
	settler := interleaved.Settler{
		Console: terminal.Console{Stdout: io.Discard, Stderr: told, Now: time.Now, Getenv: func(string) string { return "" }},
		Config:  cfg, Set: settings.Settings{Policy: policy}, Flags: clilab.CollectFlags{Session: "pull request"}, Base: base,
	}
	in, err := settler.Settle(t.Context(), layout.Input{Verdict: first}, m)
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	for _, r := range in.Verdict.Runs {
		if r.Rounds != nil {
			t.Logf("%s, %s, %s: %s in %d rounds: %s", x.app, r.Context["model"], x.network, r.Verdict, r.Rounds.Measured, r.Reason)
		}
	}
	return in.Verdict
}

// everything reports whether all of an experiment is repeated, or only some of it.
func everything() bool { return os.Getenv("APKGATE_EVALUATION") == "full" }

// withoutLag returns the build without what makes it slow on Android 5 and later.
func withoutLag(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "slow ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// lagging returns the build that is as slow on any Android as it is on Android 5.
func lagging(text string) string { return strings.ReplaceAll(text, "slow sdk>=5.0 ", "slow always ") }

// degraded returns the app that lags on the upgraded phones, with a base build.
func (m measured) degraded(t *testing.T, base func(string) string) pull {
	t.Helper()
	text := build(t, m.subject)
	return pull{subject: m.subject, base: base(text), head: text, phones: lab(t, "upgraded-lab"), network: "wifi", measured: m.upgraded}
}

// A and B beside the build without the lag: all of the degraded runs are flagged, and the rules
// are those of the history alone. It returns the cells of the table. By day one of the apps is
// measured so.
func besideBaseAAndB(t *testing.T, apps []measured) (a, b string) {
	t.Helper()
	if !nightly() {
		apps = apps[:1]
	}
	flagged, of := 0, 0
	for _, app := range apps {
		v := app.degraded(t, withoutLag).besideBase(t, app.history.runs(), coarse)
		for _, r := range v.Runs {
			if r.Verdict == gate.Regression && r.Labels[0] == gate.LabelWorse {
				flagged++
			}
		}
		of += len(v.Runs)
		var counts []string
		for _, support := range []float64{0.01, 0.03, 0.07} {
			p, _ := gate.PolicyOf(gate.PresetDefault)
			atSupport(support)(&p)
			explain.FindRules(&v, p)
			if got, want := rulesOf(v), rulesAt(support); !slices.Equal(got, want) {
				t.Errorf("beside the base, %s at support %g: %q, want %q", app.app, support, got, want)
			}
			counts = append(counts, fmt.Sprint(len(rulesOf(v))))
		}
		b = strings.Join(counts, " / ")
	}
	if flagged != of || of != 5*len(apps) {
		t.Errorf("beside the base %d of %d degraded runs are flagged, want all, 5 an app", flagged, of)
	}
	return fmt.Sprintf(" %d of 10 |", 10*flagged/of), " " + b + " |"
}

// Beside the very same build nothing is worse: what got slow is the phones' Android.
func besideTheSameBuild(t *testing.T, apps []measured) {
	same := func(text string) string { return text }
	for _, app := range apps {
		for _, r := range app.degraded(t, same).besideBase(t, app.history.runs(), coarse).Runs {
			if r.Verdict != gate.Pass && r.Verdict != gate.Inconclusive {
				t.Errorf("%s on %s beside the same build: %s, %s", app.app, r.Context["model"], r.Verdict, r.Reason)
			}
		}
	}
}

// C beside the build that lags: a swapped run is that of a better build on the same phone. Of the
// forty some are tried, or all; the cell is of forty.
func besideBaseC(t *testing.T, app measured) string {
	t.Helper()
	const all = 40
	every, phones, text := 27, lab(t, "device-lab"), build(t, app.subject)
	switch {
	case everything():
		every = 1
	case nightly():
		every = 13
	}
	better, tried := 0, 0
	for i := 0; i < all; i += every { // two networks a phone
		x := pull{
			subject: app.subject, base: lagging(text), head: text, phones: phones[i/2 : i/2+1],
			network: []string{"wifi", "3g"}[i%2], measured: app.history[i : i+1],
		}
		tried++
		if x.besideBase(t, app.upgraded.runs(), coarse).Verdict == gate.Improvement {
			better++
		}
	}
	if better < tried {
		t.Errorf("%s: beside the base %d of %d swapped runs are optimizations, want all", app.app, better, tried)
	}
	return fmt.Sprintf(" %d of %d |", all*better/tried, all)
}

// D by default beside the released build, where phones have a history of their own: of one phone
// the 45 minutes are enough for the rounds that prove what its questions need. Of five, which
// have five times as many, they aren't, and what the history alone says stays.
func TestExperimentDBesideTheBase(t *testing.T) {
	if testing.Short() {
		t.Skip("rounds of a scenario of 102 s")
	}
	s := measuredSessions(t)
	if !everything() {
		s = s.of(1)
	}
	phones, before := s.phones, s.before()
	released, mutation := build(t, player), build(t, mutated)
	x := pull{subject: mutated, base: released, head: mutation, network: "wifi", phones: phones, measured: s.mutated}
	var precision, recall float64
	for i := range phones {
		one := x
		one.phones, one.measured = x.phones[i:i+1], x.measured[i:i+1]
		v := one.besideBase(t, before, bothGrains)
		if v.Verdict != gate.Regression {
			t.Errorf("%s by itself: %s, %s", phones[i].Name, v.Verdict, v.Runs[0].Reason)
		}
		p, r := score(v)
		precision, recall = precision+p/float64(len(phones)), recall+r/float64(len(phones))
	}
	t.Logf("each by itself: precision %.2f, recall %.2f", precision, recall)
	same := pull{subject: player, base: released, head: released, network: "wifi", phones: phones, measured: s.unchanged}
	if v := same.besideBase(t, before, bothGrains); v.Verdict == gate.Regression {
		t.Errorf("the unchanged build is called a regression: %s", worst(v))
	}
	if !everything() {
		return
	}
	documented(t, fmt.Sprintf("| each of the five by itself, beside the base | %.2f / %.2f |", precision, recall), 0.1)
	precision, recall = score(x.besideBase(t, before, bothGrains))
	documented(t, fmt.Sprintf("| all five, beside the base | %.2f / %.2f |", precision, recall), 0.1)
	x.minutes = 90
	precision, recall = score(x.besideBase(t, before, bothGrains))
	documented(t, fmt.Sprintf("| all five, beside the base, `rounds.minutes: 90` | %.2f / %.2f |", precision, recall), 0.1)
}
