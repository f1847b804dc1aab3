package measure_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/exit"
)

// pullRequests are pull requests on one simulated phone with chosen noise, and a history of nights.
type pullRequests struct {
	t   *testing.T
	dir string
}

const aPhone = "pixel-7-android-14"

// A phone's noise: from session to session, from repetition to repetition, and how much of the
// simulator's own noise there is.
const (
	quiet    = "session 0.5% repetition 1% phone x0.2"
	ordinary = "session 3% repetition 2% phone x1"
	wild     = "session 3% repetition 80% phone x1"
)

// openPullRequests are pull requests on a phone of that noise, with its nights accepted.
func openPullRequests(t *testing.T, noise string) *pullRequests {
	t.Helper()
	p := newPullRequests(t, noise)
	clitest.WriteFile(t, p.path("history.db"), historyOf(t, noise))
	return p
}

func newPullRequests(t *testing.T, noise string) *pullRequests {
	t.Helper()
	p := &pullRequests{t: t, dir: clitest.SimulatedBuilds(t, aPhone)}
	text := clitest.ReadFile(t, p.path("demo-good.apk"))
	text = regexp.MustCompile(`(?m)^noise .*`).ReplaceAllString(text, "noise "+noise+" frame 14% tail 0.4%x3")
	clitest.WriteFile(t, p.path("base.apk"), text)
	clitest.WriteFile(t, p.path("worse.apk"), strings.NewReplacer("cost 7ms", "cost 7.7ms", "startup 380ms", "startup 418ms").Replace(text))
	return p
}

// nights are how many nights a history has.
const nights = 9

// histories are those of nights by their noise, measured once for all tests.
var histories sync.Map

// historyOf is a history of nights of that noise.
func historyOf(t *testing.T, noise string) string {
	t.Helper()
	measured, _ := histories.LoadOrStore(noise, sync.OnceValue(func() string {
		p := newPullRequests(t, noise)
		p.accept(nights)
		return clitest.ReadFile(t, p.path("history.db"))
	}))
	return measured.(func() string)()
}

// accept measures the base build in so many nights.
func (p *pullRequests) accept(nights int) {
	p.t.Helper()
	for night := 1; night <= nights; night++ {
		if got := p.run("base", night, "--accept"); got.Status != exit.StatusPass {
			p.t.Fatalf("night %d: %+v", night, got)
		}
	}
}

func (p *pullRequests) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pullRequests) run(build string, session int, more ...string) clitest.Result {
	p.t.Helper()
	args := append([]string{"run", "--config", p.path("apkgate.yml"), "--apk", p.path(build + ".apk"), "--session", fmt.Sprint("s", session), "--commit", fmt.Sprint("c", session)}, more...)
	return clitest.InSession(p.t, session, args...)
}

// open measures a pull request with the build, in a session of its own.
func (p *pullRequests) open(build string, session int, more ...string) (gate.RunVerdict, clitest.Result) {
	p.t.Helper()
	got := p.run(build, session, append([]string{"--json", p.path("verdict.json")}, more...)...)
	var v gate.Verdict
	text, err := os.ReadFile(p.path("verdict.json"))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || len(v.Runs) == 0 {
		p.t.Fatalf("%v\n%+v", err, got)
	}
	return v.Runs[0], got
}

func (p *pullRequests) base() []string { return []string{"--base", p.path("base.apk")} }

// A pull request that changes nothing takes one session of five repetitions, or a few additional
// rounds; none fails. One that is a tenth worse escalates by itself, stops early and fails. That
// does not depend on the simulator's noise.
func TestRunOnAnOrdinaryPhone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		noise            string
		sessions, atOnce int // of unchanged builds, and how many of them at least take one session
	}{{quiet, 4, 1}, {ordinary, 3, 0}, {"session 0.5% repetition 3% phone x0.1", 3, 0}, {"session 1% repetition 2% phone x0.5", 3, 0}}
	switch {
	case os.Getenv("APKGATE_FULL") != "":
	case testing.Short():
		tests = tests[:1]
	default: // each night all are tried
		tests = tests[:2]
		tests[1].sessions = 1
	}
	for _, test := range tests {
		t.Run(test.noise, func(t *testing.T) {
			t.Parallel()
			p := openPullRequests(t, test.noise)
			atOnce := 0
			for session := range test.sessions {
				r, got := p.open("base", 21+session, p.base()...)
				if got.Status != exit.StatusPass || r.Verdict != gate.Pass {
					t.Errorf("session %d, unchanged: exit status %d, %s: %s", session, got.Status, r.Verdict, r.Reason)
				}
				if r.Rounds == nil && strings.Contains(got.Stderr, "run 1 of 1: "+aPhone+", read-mail, 5 repetitions\n") {
					atOnce++
				}
			}
			if atOnce < test.atOnce {
				t.Errorf("%d of %d unchanged builds took one session, want %d or more", atOnce, test.sessions, test.atOnce)
			}
			r, got := p.open("worse", 31, p.base()...)
			if got.Status != exit.StatusRegression || r.Rounds == nil || r.Rounds.Stopped != gate.StoppedSettled || r.Rounds.Measured > r.Rounds.Most {
				t.Errorf("a tenth worse: exit status %d, %s after %+v", got.Status, r.Reason, r.Rounds)
			}
			if !strings.Contains(got.Stderr, "measuring base and head alternately on 1 device, 45m at most") {
				t.Errorf("it escalates without a word:\n%s", got.Stderr)
			}
		})
	}
}

// On a phone whose repetitions vary by 80 % the rounds settle nothing: the verdict says so, and
// what would settle it, and fails nothing.
func TestRunOnANoisyPhone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures all rounds")
	}
	p := openPullRequests(t, wild)
	clitest.WriteFile(t, p.path("apkgate.yml"), clitest.ReadFile(t, p.path("apkgate.yml"))+"rounds: {max: 30}\n")
	r, got := p.open("base", 21, p.base()...)
	if got.Status != exit.StatusPass || r.Verdict != gate.Inconclusive || r.Rounds == nil || r.Rounds.Stopped != gate.StoppedBudget {
		t.Errorf("exit status %d, %s after %+v: %s", got.Status, r.Verdict, r.Rounds, r.Reason)
	}
	if !strings.Contains(r.Hint, "rounds") && !strings.Contains(r.Hint, "calmer device") {
		t.Errorf("it does not say what would settle it: %q", r.Hint)
	}
	if got := p.run("base", 22, append(p.base(), "--fail-on", "inconclusive")...); got.Status != exit.StatusRegression && got.Status != exit.StatusPass {
		t.Errorf("exit status %d where a doubt fails", got.Status)
	}
}

// Without a base build nothing is measured alternately; one session alone fails nothing, and the
// command that would settle it is printed.
func TestRunWithoutABase(t *testing.T) {
	t.Parallel()
	p := openPullRequests(t, quiet)
	r, got := p.open("worse", 31)
	if r.Rounds != nil || strings.Contains(got.Stderr, "alternately on") {
		t.Errorf("rounds without a base build: %+v", r.Rounds)
	}
	switch r.Verdict {
	case gate.Inconclusive:
		if !strings.Contains(r.Hint, "apkgate run --base") {
			t.Errorf("the hint is %q, want the command that settles it", r.Hint)
		}
	case gate.Regression:
		if !strings.Contains(got.Stderr, "measuring again in another session") {
			t.Errorf("it failed after one session:\n%s", got.Stderr)
		}
	default:
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

// A refresh keeps the build that it accepts, and a pull request is measured alternately with it
// automatically.
func TestRunUsesTheKeptBuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures rounds")
	}
	p := newPullRequests(t, quiet)
	config := clitest.ReadFile(t, p.path("apkgate.yml"))
	clitest.WriteFile(t, p.path("apkgate.yml"), config+"evidence: {apk: true}\n")
	for night := 1; night <= 5; night++ {
		got := clitest.InSession(t, night, "baseline", "refresh", "--config", p.path("apkgate.yml"), "--store", p.path("history.db"), "--apk", p.path("base.apk"), "--commit", fmt.Sprint("c", night))
		if got.Status != exit.StatusPass {
			t.Fatalf("night %d: %+v", night, got)
		}
	}
	r, got := p.open("worse", 31)
	if got.Status != exit.StatusRegression || r.Rounds == nil || r.Rounds.Base.Source.Commit != "c5" {
		t.Errorf("exit status %d, %s after %+v\n%s", got.Status, r.Reason, r.Rounds, got.Stderr)
	}
}
