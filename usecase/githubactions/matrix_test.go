package githubactions_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// leg is the job of one leg of run runID's matrix, on a runner of its own.
func (g *github) leg(runID int64, attempt int, sha, leg string) *job {
	g.t.Helper()
	j := g.job(runID, attempt, sha)
	j.env["RUNNER_TEMP"] = g.t.TempDir()
	j.Leg = leg
	return j
}

// rows are the lines of the comment's table.
func rows(body string) []string {
	var out []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| leg |") {
			out = append(out, strings.TrimSpace(line))
		}
		if strings.HasPrefix(line, "<details") {
			break // the tables of the reports follow
		}
	}
	return out
}

func TestLegsOfAMatrixAreRowsOfOneComment(t *testing.T) {
	for name, order := range map[string][]string{"the regression first": {"api-level 29", "api-level 34"}, "the regression last": {"api-level 34", "api-level 29"}} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			of := map[string]layout.Input{"api-level 29": worse(1), "api-level 34": fine()}
			for _, leg := range order {
				g.leg(100, 1, commit("a"), leg).publish(t, of[leg])
			}
			body := g.only(t).Body
			wantIn(t, "the comment", body, "### ❌ Regression: api-level 29: ", "2 legs: 1 regression, 1 pass", "<details open><summary>❌ api-level 29</summary>", "<details><summary>✅ api-level 34</summary>", "run=100", "artifacts of this run")
			got := rows(body)
			if len(got) != 2 || !strings.HasPrefix(got[0], "| api-level 29 | ❌ Regression | ") || !strings.HasPrefix(got[1], "| api-level 34 | ✅ Pass | ") {
				t.Errorf("the rows are %q", got)
			}
			conclusions := map[string]string{}
			for _, c := range g.Checks() {
				conclusions[c.Name] = c.Conclusion
			}
			if len(conclusions) != 2 || conclusions["apkgate (api-level 29)"] != "failure" || conclusions["apkgate (api-level 34)"] != "success" {
				t.Errorf("the check runs are %v", conclusions)
			}
			if c := g.Checks(); c[0].ExternalID == c[1].ExternalID {
				t.Errorf("both check runs have the external id %q", c[0].ExternalID)
			}
		})
	}
}

// lockstep wakes its jobs when all of them sleep or have ended, so that they read, write and read
// again at the same time.
type lockstep struct {
	mu                sync.Mutex
	cond              *sync.Cond
	busy, asleep, gen int
}

func newLockstep(jobs int) *lockstep {
	l := &lockstep{busy: jobs}
	l.cond = sync.NewCond(&l.mu)
	return l
}

func (l *lockstep) nap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	gen := l.gen
	l.busy--
	l.asleep++
	l.wake()
	for l.gen == gen {
		l.cond.Wait()
	}
}

func (l *lockstep) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	l.wake()
}

func (l *lockstep) wake() {
	if l.busy == 0 {
		l.busy, l.asleep = l.asleep, 0
		l.gen++
		l.cond.Broadcast()
	}
}

func TestConcurrentLegsEachHaveARow(t *testing.T) {
	const legs = 8
	for name, before := range map[string]bool{"the first comment": false, "over an older commit's": true} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			if before {
				g.job(99, 1, commit("b")).publish(t, fine())
			}
			step := newLockstep(legs)
			g.clock.nap = step.nap
			var jobs []*job
			for i := range legs {
				j := g.leg(100, 1, commit("a"), fmt.Sprintf("leg %d", i))
				j.Check = false
				jobs = append(jobs, j)
			}
			var wg sync.WaitGroup
			for i, j := range jobs {
				in := fine()
				if i == 3 {
					in = worse(1)
				}
				wg.Go(func() {
					defer step.done()
					j.publish(t, in)
				})
			}
			wg.Wait()
			body := g.only(t).Body
			if got := rows(body); len(got) != legs || !strings.HasPrefix(got[0], "| leg 3 | ❌ Regression") {
				t.Errorf("%d rows for %d legs, or the regression is not the first: %q", len(got), legs, got)
			}
			for _, j := range jobs {
				if strings.Contains(j.log.String(), "::warning") {
					t.Errorf("a leg warns:\n%s", j.log)
				}
			}
		})
	}
}

// While a leg's edit is delayed, another leg writes its row: the first one reads again before it
// writes.
func TestDelayedLegKeepsTheOthersRow(t *testing.T) {
	g := newGitHub(t)
	g.leg(99, 1, commit("a"), "slow").publish(t, fine())
	g.Fail(githubtest.Fault{Method: "PATCH", Path: "/issues/comments/", Status: 502, Times: 1})
	g.clock.nap = sync.OnceFunc(func() {
		g.clock.nap = nil
		other := g.leg(100, 1, commit("a"), "quick")
		other.Check = false
		other.publish(t, worse(1))
	})
	slow := g.leg(100, 1, commit("a"), "slow")
	slow.Check = false
	slow.publish(t, fine())
	if got := rows(g.only(t).Body); len(got) != 2 || !strings.Contains(got[0], "| quick | ❌ Regression") || !strings.Contains(got[1], "| slow |") {
		t.Errorf("the rows are %q, want those of both legs", got)
	}
}

func TestRowIsReplacedOnlyByItsLeg(t *testing.T) {
	g := newGitHub(t)
	g.leg(100, 1, commit("a"), "one").publish(t, worse(1))
	g.leg(100, 1, commit("a"), "two").publish(t, worse(1))
	g.leg(100, 2, commit("a"), "two").publish(t, fine()) // failed jobs run again
	late := g.leg(100, 1, commit("a"), "two")
	late.publish(t, worse(2))
	got := rows(g.only(t).Body)
	if len(got) != 2 || !strings.Contains(got[0], "| one | ❌") || !strings.Contains(got[1], "| two | ✅") {
		t.Errorf("the rows are %q, want one's regression and two's pass of the second attempt", got)
	}
	wantIn(t, "the late attempt's log", late.log.String(), "The comment is left as it is")

	g.move(commit("b"))
	g.leg(101, 1, commit("b"), "one").publish(t, fine())
	old := g.leg(100, 3, commit("a"), "two")
	old.publish(t, worse(1))
	got = rows(g.only(t).Body)
	if len(got) != 1 || !strings.Contains(got[0], "| one | ✅") {
		t.Errorf("the rows are %q, want the new commit's alone", got)
	}
}

// A leg that never comes keeps the comment from being a pass, and is named; of a count alone it is
// counted. Legs stand in the order of their numbers, and no headline is cut within an interval.
func TestLegThatNeverCameIsMissed(t *testing.T) {
	for input, absent := range map[string]string{"api 2\napi 10\napi 34": ": api 34", `["api 2", "api 10", {"api": 34}]`: ": api 34", "3": ""} {
		g := newGitHub(t)
		legs, err := matrixcomment.ReadLegs(input)
		if err != nil {
			t.Fatal(err)
		}
		post := func(leg string, in layout.Input) string {
			j := g.leg(100, 1, commit("a"), leg)
			j.Legs = legs
			j.publish(t, in)
			return g.only(t).Body
		}
		post("api 10", fine())
		body := post("api 2", fine())
		wantIn(t, "the comment without a leg", body, "### ⚠️ Invalid: 1 of 3 legs has no verdict yet"+absent+"\n", "2 of 3 legs: 2 pass, 1 without a verdict yet", "its job ended without one: then its log says why")
		if got := rows(body); len(got) < 2 || !strings.HasPrefix(got[0], "| api 2 |") || !strings.HasPrefix(got[1], "| api 10 |") {
			t.Errorf("the rows are %q, want api 2 before api 10", got)
		}
		wantIn(t, "the whole comment", post("api 34", fine()), "### ✅ Pass: api 2: ", "3 legs: 3 pass")
		wantIn(t, "the comment of the next commit", func() string {
			g.move(commit("b"))
			j := g.leg(101, 1, commit("b"), "api 2")
			j.publish(t, worse(1))
			return g.only(t).Body
		}(), "### ❌ Regression: api 2: ", "1 leg: 1 regression")
	}
	for _, input := range []string{"0", "101", "<b>", "[1", strings.Repeat("x\n", 1) + strings.Repeat("a", 101)} {
		if got, err := matrixcomment.ReadLegs(input); err == nil {
			t.Errorf("%q is taken for the legs %v", input, got)
		}
	}
}

// The comment's heading is that of the report that is open: it is not repeated in the table nor in the
// report. A report that is no longer the gravest has its heading again.
func TestHeadingStandsOnce(t *testing.T) {
	g := newGitHub(t)
	in := fine()
	in.Verdict = in.Verdict.WithLoss("1 of 2 runs is missing: the phone is gone")
	g.leg(100, 1, commit("a"), "a").publish(t, in)
	g.leg(100, 1, commit("a"), "b").publish(t, worse(1))
	body := g.only(t).Body
	if n := strings.Count(body, "### ❌ Regression"); n != 1 {
		t.Errorf("the heading of the gravest leg stands %d times:\n%s", n, body)
	}
	wantIn(t, "the comment", body, "### ❌ Regression: b: ", "| b | ❌ Regression | as above |", "<summary>❌ b</summary>\n\n- **Blocks:**", "<summary>⚠️ a</summary>\n\n### ⚠️ Invalid: 1 of 2 runs is missing")
	g.leg(100, 1, commit("a"), "c").publish(t, fine()) // which changes nothing in the others
	after := g.only(t).Body
	wantIn(t, "the comment", after, "<summary>❌ b</summary>\n\n- **Blocks:**", "<summary>⚠️ a</summary>\n\n### ⚠️ Invalid: 1 of 2 runs is missing", "<summary>✅ c</summary>\n\n### ✅ Pass")
}

// A headline is cut between the parts of a sentence.
func TestHeadlineOfARowIsCutBetweenClauses(t *testing.T) {
	row := matrixcomment.Row{Outcome: gate.Regression, Headline: "Regression: in read-mail after scroll, the time per frame is 146 % higher; " + strings.Repeat("99 % interval of the median run +134…+157 %, ", 8)}
	got := row.Signed().Headline
	if !strings.HasSuffix(got, "+134…+157 % …") && !strings.HasSuffix(got, "higher …") {
		t.Errorf("the headline is cut to %q", got)
	}
}

// A leg that lost a device is no pass among the others.
func TestLegThatLostADevice(t *testing.T) {
	g := newGitHub(t)
	g.leg(100, 1, commit("a"), "whole").publish(t, fine())
	j := g.leg(100, 1, commit("a"), "lost")
	in := fine()
	in.Verdict = in.Verdict.WithLoss("1 of 2 runs is missing: the phone is gone")
	if err := j.Publish(t.Context(), content(in)); err != nil {
		t.Fatal(err)
	}
	body := g.only(t).Body
	wantIn(t, "the comment", body, "### ⚠️ Invalid: lost: 1 of 2 runs is missing: the phone is gone; the rest passes")
	if got := rows(body); len(got) != 2 || got[0] != "| lost | ⚠️ Invalid | as above |" {
		t.Errorf("the rows are %q, want the leg that lost a device first, and not as a pass", got)
	}
}

// A check run that was started without an answer is distinguished from a later one of the same
// name.
func TestStartCheckFindsItsOwnAmongNamesakes(t *testing.T) {
	g := newGitHub(t)
	g.Fail(githubtest.Fault{Method: "POST", Path: "/check-runs", Status: 502, Times: 1, Late: true})
	g.clock.nap = sync.OnceFunc(func() {
		g.clock.nap = nil
		g.leg(100, 1, commit("a"), "").publish(t, fine())
	})
	g.leg(100, 1, commit("a"), "").publish(t, worse(1))
	checks := g.Checks()
	if len(checks) != 2 || checks[0].Conclusion != "failure" || checks[1].Conclusion != "success" {
		t.Errorf("the check runs are %+v, want one of each job", checks)
	}
}

// Two jobs of one run without a name for their legs: nothing is lost, and a warning says what to
// do.
func TestJobsWithOneName(t *testing.T) {
	g := newGitHub(t)
	g.leg(100, 1, commit("a"), "").publish(t, worse(1))
	second := g.leg(100, 1, commit("a"), "")
	second.publish(t, fine())
	body := g.only(t).Body
	if got := rows(body); len(got) != 2 || !strings.Contains(got[0], "❌ Regression") {
		t.Errorf("the rows are %q, want both, the regression first", got)
	}
	wantIn(t, "the comment", body, "### ❌ Regression: job ", "frames rendered")
	if w := second.warnings(); len(w) != 1 || !strings.Contains(w[0], "input leg") {
		t.Errorf("the warnings are %q, want one that names the input", w)
	}
	again := g.job(100, 1, commit("a"))
	again.env["RUNNER_TEMP"] = second.env["RUNNER_TEMP"] // another step of the second job
	again.publish(t, fine())
	if got := rows(g.only(t).Body); len(got) != 2 {
		t.Errorf("the rows are %q, want one for each job", got)
	}
}

func TestManyLegsFit(t *testing.T) {
	g := newGitHub(t)
	for i := range 12 {
		j := g.leg(100, 1, commit("a"), fmt.Sprintf("leg %d", i))
		j.Check = false
		in := worse(200)
		if i != 4 {
			in.Verdict.Verdict, in.Verdict.Runs[0].Verdict = "inconclusive", "inconclusive"
		}
		j.publish(t, in)
	}
	body := g.only(t).Body
	if len(body) > markdown.MaxComment {
		t.Errorf("the comment has %d bytes, at most %d are allowed", len(body), markdown.MaxComment)
	}
	if got := rows(body); len(got) != 12 || !strings.HasPrefix(got[0], "| leg 4 | ❌ Regression") {
		t.Errorf("the rows are %q", got)
	}
	wantIn(t, "the comment", body, "tap-0001", "There is no room for this report")
	if n, m := strings.Count(body, "<details"), strings.Count(body, "</details>"); n != m {
		t.Errorf("%d details are opened and %d closed", n, m)
	}
}

func TestLegName(t *testing.T) {
	for input, want := range map[string]string{
		"": "", "null": "", "{}": "", "api 34": "api 34",
		`{"arch":"x86_64","api-level":34}`:    "api-level 34, arch x86_64",
		`{"os":["a","b"],"on":true}`:          "on true, os -a-,-b-",
		`{"x":"<b>@all` + "`" + `$(reboot)"}`: "x -b-all-reboot-",
	} {
		if got, err := matrixcomment.LegName(input); err != nil || got != want {
			t.Errorf("%s is named %q (%v), want %q", input, got, err, want)
		}
	}
	for _, input := range []string{"<b>", "-x", "a\nb", strings.Repeat("a", 101), "{", `[1]`} {
		if got, err := matrixcomment.LegName(input); err == nil {
			t.Errorf("%q is taken for the name %q", input, got)
		}
	}
	long := strings.Repeat("v", 200)
	a, errA := matrixcomment.LegName(`{"a":"` + long + `1"}`)
	b, errB := matrixcomment.LegName(`{"a":"` + long + `2"}`)
	if errA != nil || errB != nil || a == b || len(a) > 100 {
		t.Errorf("long matrices are named %q and %q", a, b)
	}
}

// A comment of an earlier version is still ours.
func TestCommentOfAnEarlierVersion(t *testing.T) {
	g := newGitHub(t)
	g.AddComment(7, "github-actions[bot]", "<!-- apkgate:v1 config=apkgate.yml run=99 number=99 attempt=1 head="+commit("b")+" sum=0123456789abcdef -->\n### ✅ Pass\n")
	g.job(100, 1, commit("a")).publish(t, worse(1))
	wantIn(t, "the comment", g.only(t).Body, "❌ Regression", "run=100")
}

func TestAnnotationsAreNotDoubled(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{
		"an update that took effect":  {Method: "PATCH", Path: "/check-runs/", Status: 502, Times: 1, Late: true},
		"an update that did not":      {Method: "PATCH", Path: "/check-runs/", Status: 502, Times: 1},
		"a connection that broke off": {Method: "PATCH", Path: "/check-runs/", Times: 1, Late: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			g.Fail(fault)
			j := g.job(100, 1, commit("a"))
			j.publish(t, worse(70)) // in two requests
			c := g.Checks()[0]
			if len(c.Annotations) != 70 || c.Conclusion != "failure" {
				t.Errorf("%d annotations and the conclusion %q, want 70 and failure", len(c.Annotations), c.Conclusion)
			}
			titles := map[string]bool{}
			for _, a := range c.Annotations {
				titles[a.Title] = true
			}
			if len(titles) != 70 || slices.ContainsFunc(j.warnings(), func(w string) bool { return true }) {
				t.Errorf("%d different annotations, warnings %q", len(titles), j.warnings())
			}
		})
	}
}
