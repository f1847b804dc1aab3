package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
)

func TestParse(t *testing.T) {
	for body, want := range map[string]string{
		"/apkgate accept the new list costs that":          "accept|the new list costs that",
		"/apkgate accept  one\t line \r\nand not the next": "accept|one line",
		"/apkgate why":          "why|",
		"/apkgate retry please": "retry|please",
		"/apkgate accept":       "accept||no reason",
		"/apkgate accept   \nreason on the next line":       "accept||no reason",
		"/apkgate acept typo":                               "||no such command",
		"/apkgate":                                          "||no such command",
		"/apkgates accept x":                                "none",
		"> /apkgate accept quoted":                          "none",
		"I would /apkgate accept this":                      "none",
		"```\n/apkgate accept in a block\n```":              "none",
		" /apkgate accept indented":                         "none",
		"Looks good\n/apkgate accept on the second line":    "none",
		"/apkgate accept a\u2028b <b>@team</b> [x](y) `c`":  "accept|a b <b>@team</b> [x](y) `c`",
		"/apkgate accept " + strings.Repeat("long ", 1_000): "accept|" + strings.Repeat("long ", 59) + "long…",
	} {
		verb, reason, problem, ok := Parse(body)
		got := fmt.Sprintf("%s|%s", verb, reason)
		if !ok {
			got = "none"
		}
		said, problems := want, ""
		if parts := strings.SplitN(want, "|", 3); len(parts) == 3 {
			said, problems = parts[0]+"|"+parts[1], parts[2]
		}
		if got != said || (problem == "") != (problems == "") || !strings.Contains(problem, problems) {
			t.Errorf("%.60q is %q, %q, want %q", body, got, problem, want)
		}
	}
}

func TestTrailer(t *testing.T) {
	for message, want := range map[string]string{
		"Load pictures eagerly\n\nApkgate-accept: worth it\n":                                   "worth it",
		"Load pictures\r\n\r\nSigned-off-by: A <a@b>\r\napkgate-ACCEPT:  worth  it \r\n":        "worth it",
		"Apkgate-accept: in the subject":                                                        "",
		"Load\n\nApkgate-accept:\n":                                                             "",
		"Load\n\nApkgate-accept: in an earlier paragraph\n\nSigned-off-by: A <a@b>":             "",
		"Load\n\nAs said, Apkgate-accept: within a line":                                        "",
		"Revert \"Load\"\n\n> Apkgate-accept: quoted":                                           "",
		"Load\n\nApkgate-accept: " + strings.Repeat("x", 400):                                   strings.Repeat("x", MaxReason-1) + "…",
		"Squash (#7)\n\n* one\n\n* two\n\nApkgate-accept: a\nCo-authored-by: B <b@example.com>": "a",
	} {
		if got, ok := Trailer(message); got != want || ok != (want != "") {
			t.Errorf("%.80q is %q, %v, want %q", message, got, ok, want)
		}
	}
}

// worse is a run of a scenario in which the numbers are worse by so much of 100.
func worse(scenario string, by map[string]float64) gate.Verdict {
	r := gate.RunVerdict{Scenario: scenario, Verdict: gate.Regression}
	for name, percent := range by {
		event, metric, _ := strings.Cut(name, "/")
		r.Deviations = append(r.Deviations, gate.Comparison{Event: event, Metric: metric, Direction: gate.ToRegression, Value: 10 + percent/10, Expected: 10, Change: percent / 100})
	}
	return gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{r}}
}

func accepted(v gate.Verdict) Record {
	found, _ := Of(v, nil)
	return Record{Findings: found, Accepted: &Accepted{By: "ann", Reason: "worth it"}}
}

// What was accepted is that a metric of a scenario gets worse by about so much, and nothing else.
func TestUncovered(t *testing.T) {
	const frames = "frames.duration_ms"
	was := accepted(worse("search", map[string]float64{"/" + frames: 14, "scroll/" + frames: 20}))
	for name, c := range map[string]struct {
		now  gate.Verdict
		left int
	}{
		"the same":                 {worse("search", map[string]float64{"/" + frames: 14}), 0},
		"a little more, by chance": {worse("search", map[string]float64{"/" + frames: 29}), 0},
		"half as much again":       {worse("search", map[string]float64{"/" + frames: 31}), 1},
		"its tail":                 {worse("search", map[string]float64{"/" + frames + ".p95": 18}), 0},
		"after another event":      {worse("search", map[string]float64{"fling/" + frames: 18}), 0},
		"another metric":           {worse("search", map[string]float64{"/" + frames: 14, "/cpu.time_ms": 12}), 1},
		"another scenario":         {worse("inbox", map[string]float64{"/" + frames: 14}), 1},
		"for no listed reason":     {worse("search", nil), 1},
	} {
		if left := Uncovered(c.now, nil, []Record{was}); len(left) != c.left {
			t.Errorf("%s: not covered are %q, want %d", name, left, c.left)
		}
	}
	both := []Record{was, accepted(worse("search", map[string]float64{"/" + frames: 10}))}
	if left := Uncovered(worse("search", map[string]float64{"/" + frames: 40}), nil, both); len(left) != 0 { // 30 and 15
		t.Errorf("of two changes together not covered are %q", left)
	}
	if left := Uncovered(worse("search", map[string]float64{"/" + frames: 14}), nil, nil); len(left) != 1 {
		t.Errorf("without a decision not covered are %q", left)
	}
	cut := worse("search", map[string]float64{"/" + frames: 14})
	cut.Runs[0].DeviationsTotal = 5
	if left := Uncovered(cut, nil, []Record{was}); len(left) != 1 {
		t.Errorf("of a list that is cut not covered are %q", left)
	}
}

// New ANRs have no share: a count is compared with a count.
func TestUncoveredCounts(t *testing.T) {
	anrs := func(n float64) gate.Verdict {
		c := gate.Comparison{Metric: "anr.count", Direction: gate.ToRegression, Value: n}
		return gate.Verdict{Runs: []gate.RunVerdict{{Scenario: "search", Verdict: gate.Regression, Deviations: []gate.Comparison{c}}}}
	}
	if left := Uncovered(anrs(0.4), nil, []Record{accepted(anrs(0.3))}); len(left) != 0 {
		t.Errorf("not covered are %q", left)
	}
	if left := Uncovered(anrs(2), nil, []Record{accepted(anrs(0.3))}); len(left) != 1 {
		t.Errorf("not covered are %q, want the ANRs", left)
	}
}

func TestRecordText(t *testing.T) {
	r := accepted(worse("search --> <!-- @team", map[string]float64{"/frames.duration_ms": 14}))
	r.Config, r.Head, r.Pull, r.Outcome = "apkgate.yml", strings.Repeat("a", 40), 7, gate.Regression
	r.Accepted.At = time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC)
	r.Accepted.Reason = "--> </details> @team"
	text, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(text, "-->") != 1 || strings.Contains(text, "\n") || strings.Contains(text, "</details>") {
		t.Errorf("the hidden line can be left: %s", text)
	}
	back, ok := Read("before\n" + text + "\nafter")
	if !ok || back.Accepted == nil || back.Accepted.Reason != r.Accepted.Reason || len(back.Findings) != 1 || back.Findings[0] != r.Findings[0] {
		t.Errorf("it is read as %+v, %v", back, ok)
	}
	if want := "accepted by ann in pull request 7 at aaaaaaaaaa on 27 November 2026: --> </details> @team (search --> <!-- @team: frames.duration_ms 14 % worse)"; back.Note() != want {
		t.Errorf("the note is %q, want %q", back.Note(), want)
	}
	for range 5_000 {
		r.Findings = append(r.Findings, Finding{Scenario: strings.Repeat("s", 400), Metric: "m"})
	}
	if text, err = r.Text(); err != nil || len(text) > 65_000 {
		t.Fatalf("a long record has %d bytes, %v", len(text), err)
	}
	if back, ok = Read(text); !ok || len(back.Findings)+back.More != 5_001 {
		t.Errorf("%d findings and %d more, want 5001", len(back.Findings), back.More)
	}
}

func FuzzRead(f *testing.F) {
	text, _ := accepted(worse("search", map[string]float64{"/frames.duration_ms": 14})).Text()
	f.Add(text)
	f.Add("<!-- apkgate:judged {\"format\":\"apkgate.judged/1\",\"accepted\":{}} -->")
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := Read(text); ok {
			if _, err := r.Text(); err != nil {
				t.Error(err)
			}
		}
	})
}
