package layout

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/sarif"
	"github.com/apkgate/apkgate/report/wording"
)

// sarifOf returns what a reader of SARIF sees of a report.
func sarifOf(t *testing.T, in Input, places document.Places) (rules, results []map[string]any, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := asSARIF(&b, Verdict(in), places); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []map[string]any
				}
			}
			Results []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	// SARIF 2.1.0: version and runs (3.13), tool.driver.name (3.19.8); results is [] where nothing
	// was found (3.14.23), so that alerts are closed.
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "apkgate" {
		t.Errorf("the head is %q %q with %d runs", log.Schema, log.Version, len(log.Runs))
	}
	if log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Rules == nil {
		t.Error("results or rules are missing, want lists")
	}
	return log.Runs[0].Tool.Driver.Rules, log.Runs[0].Results, b.String()
}

// dig walks into nested JSON.
func dig(v any, path ...any) any {
	for _, step := range path {
		switch at := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[at]
		case int:
			l, _ := v.([]any)
			if at >= len(l) {
				return nil
			}
			v = l[at]
		}
	}
	return v
}

// The fixture has three worse metrics of the whole run, one event that is worse with an
// after-effect, and an improvement: four findings of three metrics.
func TestSARIFHasAResultForEachFinding(t *testing.T) {
	rules, results, _ := sarifOf(t, regression(), document.Places{"open-message": {Path: "my app/Test.kt", Line: 41}})
	if len(rules) != 3 || len(results) != 4 {
		t.Fatalf("%d rules and %d results, want 3 and 4", len(rules), len(results))
	}
	prints := map[string]bool{}
	for _, r := range results {
		index, _ := r["ruleIndex"].(float64)
		if r["ruleId"] != rules[int(index)]["id"] {
			t.Errorf("result of rule %v points at rule %v", r["ruleId"], rules[int(index)]["id"])
		}
		at := dig(r, "locations", 0, "physicalLocation")
		if dig(at, "artifactLocation", "uri") != "my%20app/Test.kt" || dig(at, "region", "startLine") != 41.0 {
			t.Errorf("the location is %v", at)
		}
		if r["level"] != "error" || dig(r, "message", "text") == "" {
			t.Errorf("level %v, message %v", r["level"], dig(r, "message", "text"))
		}
		prints[dig(r, "partialFingerprints", "apkgateFinding/v1").(string)] = true
	}
	if len(prints) != 4 {
		t.Errorf("%d fingerprints for 4 findings", len(prints))
	}
}

func TestSARIFFingerprintsIgnoreNumbers(t *testing.T) {
	prints := func(in Input) []string {
		var out []string
		for _, p := range Verdict(in).Problems {
			out = append(out, p.Title+p.Fingerprint)
		}
		slices.Sort(out)
		return out
	}
	before, later := regression(), regression()
	for i := range later.Verdict.Runs {
		later.Verdict.Runs[i].ID += "-again"
		for k := range later.Verdict.Runs[i].Deviations {
			later.Verdict.Runs[i].Deviations[k].Value *= 0.9
		}
	}
	if !slices.Equal(prints(before), prints(later)) {
		t.Error("the same problem has another fingerprint in the next run")
	}
	later.Verdict.Runs[0].App.Package = "org.example.other"
	if slices.Equal(prints(before), prints(later)) {
		t.Error("another app's problem has the same fingerprint")
	}
}

func TestSARIFOfOtherOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		in     Input
		levels []string
	}{
		"pass": {pass(), nil}, "improvement": {improvement(), nil}, "invalid": {invalid(), []string{"error"}}, "inconclusive": {inconclusive(), []string{"warning"}},
	} {
		_, results, _ := sarifOf(t, c.in, nil)
		var levels []string
		for _, r := range results {
			levels = append(levels, r["level"].(string))
			if at := dig(r, "locations", 0, "physicalLocation", "artifactLocation", "uri"); at != "apkgate.yml" {
				t.Errorf("%s: a result without a known place is at %v, want the file that scenarios are in", name, at)
			}
		}
		if !slices.Equal(levels, c.levels) {
			t.Errorf("%s: results of levels %q, want %q", name, levels, c.levels)
		}
	}
}

// An invalid run is a finding too: a file without results means that all is well.
func TestSARIFOfAnInvalidRun(t *testing.T) {
	rules, results, _ := sarifOf(t, invalid(), document.Places{"open-message": {Path: "Test.kt", Line: 4}})
	if len(rules) != 1 || len(results) != 1 || rules[0]["id"] != "apkgate.invalid" || results[0]["ruleId"] != "apkgate.invalid" {
		t.Fatalf("the rules are %v and the results %v", rules, results)
	}
	if text := dig(results[0], "message", "text").(string); !strings.Contains(text, "open-message: invalid") || !strings.Contains(text, "4 of 10 repetitions have no frames") {
		t.Errorf("the message is %q", text)
	}
	v := abVerdict(0)
	v.Scenarios[0].Verdict, v.Scenarios[0].Reason = gate.Invalid, "the app crashed in repetition 1"
	var b bytes.Buffer
	if err := asSARIF(&b, Comparison(ComparisonInput{Verdict: v}), nil); err != nil || !strings.Contains(b.String(), "the app crashed in repetition 1") {
		t.Errorf("of a comparison: %v\n%s", err, b.String())
	}
}

// A message may contain no link, and no placeholder (SARIF 2.1.0, 3.11.5, 3.11.6).
func TestSARIFOfHostileNames(t *testing.T) {
	link := regexp.MustCompile(`(^|[^\\])\[[^\]]*[^\\]\]\(`)
	_, results, text := sarifOf(t, hostile(), document.Places{"": {Path: "apkgate.yml"}})
	if len(results) == 0 {
		t.Fatal("no results")
	}
	for _, r := range results {
		message := dig(r, "message", "text").(string)
		if link.MatchString(message) || strings.ContainsAny(message, "\n\r\x1b\u202e") {
			t.Errorf("the message is %q", message)
		}
		if dig(r, "locations", 0, "physicalLocation", "region", "startLine") != 1.0 {
			t.Errorf("the location is %v", r["locations"])
		}
	}
	if strings.Contains(text, "<script") {
		t.Error("the file holds a script's tag as it is")
	}
}

// A comparison of two builds: base 0.95, head 0.9 of the frames are smooth in each of three events.
func TestSARIFOfAComparison(t *testing.T) {
	var b bytes.Buffer
	v := abVerdict(3)
	v.Scenarios[0].Scenario = "scroll"
	v.Scenarios[0].Comparisons[1].Direction = gate.Suspect
	v.Scenarios[0].Comparisons[2].Direction = gate.ToImprovement
	if err := asSARIF(&b, Comparison(ComparisonInput{Verdict: v}), document.Places{"scroll": {Path: "Scroll.kt", Line: 7}}); err != nil {
		t.Fatal(err)
	}
	var log sarif.Log
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if len(results) != 2 || results[0].Level != "error" || results[1].Level != "warning" {
		t.Fatalf("the results are %+v, want an error and a warning; what is better has none", results)
	}
	text := strings.ReplaceAll(results[0].Message.Text, wording.NBSP, " ")
	for _, want := range []string{"scroll after ", "base 95.0 %", "head 90.0 %", "−5 points", "95 % interval"} {
		if !strings.Contains(text, want) {
			t.Errorf("the message lacks %q: %s", want, text)
		}
	}
	if at := results[0].Locations[0].PhysicalLocation; at.ArtifactLocation.URI != "Scroll.kt" || at.Region.StartLine != 7 {
		t.Errorf("the location is %+v", at)
	}
}

// Each of the 5,001 events is worse in one of the ten runs.
func TestSARIFIsLimited(t *testing.T) {
	if _, results, _ := sarifOf(t, huge(10, 5001), nil); len(results) != 5000 {
		t.Errorf("%d results, want the 5,000 that GitHub shows", len(results))
	}
}

// The invalid runs of a scenario are one problem, with each of their reasons once, up to 1,000
// bytes, and one more.
func TestProblemsOfInvalidRuns(t *testing.T) {
	var v gate.Verdict
	for _, reason := range []string{"the app crashed", "a test failed", "the app crashed", strings.Repeat("x", 500), strings.Repeat("y", 500), strings.Repeat("z", 500)} {
		v.Runs = append(v.Runs, gate.RunVerdict{Scenario: "open", Verdict: gate.Invalid, Reason: reason})
	}
	v.Runs = append(v.Runs, gate.RunVerdict{Scenario: "open", Verdict: gate.Pass, Reason: "nothing deviates"})
	got := invalidProblems(v)
	if want := "the app crashed; a test failed; " + strings.Repeat("x", 500) + "; " + strings.Repeat("y", 500); len(got) != 1 || got[0].Text != want {
		t.Errorf("%+v, want one problem that says %q", got, want)
	}
}

// A problem has the causes of the runs that deviate, and not those of another run of the same
// scenario.
func TestProblemsHaveCausesOfTheirRuns(t *testing.T) {
	var in Input
	for _, id := range []string{"A", "B"} {
		d := gate.ToRegression
		if id == "B" {
			d = gate.None
		}
		in.Verdict.Runs = append(in.Verdict.Runs, runVerdict(id, gate.Regression, nil, compared("", ms, 10, 1, 20, d)))
		in.Causes = append(in.Causes, diagnose.Cause{
			Run: id, Scenario: "open-message", Metric: ms, Kind: "sky.rain", Direction: gate.ToRegression, Subject: diagnose.Subject{Name: id}, Sentence: diagnose.Say("it rained on " + id),
		})
	}
	got := Verdict(in).Problems
	if len(got) == 0 || len(got[0].Causes) != 1 || !strings.Contains(got[0].Causes[0], "rained on A") {
		t.Errorf("%+v, want a problem with the cause of A", got)
	}
}
