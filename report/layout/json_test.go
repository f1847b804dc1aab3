package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
)

func TestJSONRoundTrip(t *testing.T) {
	for name, in := range map[string]Input{"regression": regression(), "pass": pass(), "inconclusive": inconclusive(), "invalid": invalid()} {
		var b bytes.Buffer
		if err := asJSON(&b, Verdict(in)); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.HasSuffix(text, "}\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: the output does not end with one newline", name)
		}
		got, err := read(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := in.Verdict
		want.Format = "apkgate.verdict/1"
		if diff := cmp.Diff(want, got.Verdict, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(gate.Comparison{}, "Prior")); diff != "" {
			t.Errorf("%s: what was read is not what was written:\n%s", name, diff)
		}
	}
}

// The number of causes survives saving and showing a report again.
func TestNumberOfCausesRoundTrip(t *testing.T) {
	const all = diagnose.MaxCauses + 200
	of := diagnose.Cause{Kind: "test.sun", Direction: gate.ToRegression, Metric: "frames.count", Sentence: diagnose.Say("the sun shines")}
	in, builds := pass(), ComparisonInput{Verdict: abVerdict(2), Causes: slices.Repeat([]diagnose.Cause{of}, all)}
	in.Causes = builds.Causes
	for i := range builds.Verdict.Scenarios[0].Comparisons {
		builds.Verdict.Scenarios[0].Comparisons[i].Contexts = nil
	}
	for range 3 {
		var one, two bytes.Buffer
		if err := errors.Join(asJSON(&one, Verdict(in)), asJSON(&two, Comparison(builds))); err != nil {
			t.Fatal(err)
		}
		v, err := saved.Read(&one)
		if err != nil {
			t.Fatal(err)
		}
		c, err := saved.Read(&two)
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Verdict.Causes) != diagnose.MaxCauses || v.Verdict.CausesTotal != all || c.Comparison.CausesTotal != all {
			t.Fatalf("%d causes are saved of %d, and of two builds of %d; want %d of %d", len(v.Verdict.Causes), v.Verdict.CausesTotal, c.Comparison.CausesTotal, diagnose.MaxCauses, all)
		}
		in, builds = OfVerdict(*v.Verdict), OfComparison(*c.Comparison)
	}
}

func TestJSONRejectsInfinity(t *testing.T) {
	in := pass()
	in.Verdict.Runs[0].Comparisons[0].Upper = math.Inf(1)
	if err := asJSON(&bytes.Buffer{}, Verdict(in)); err == nil {
		t.Error("an infinite fence was written")
	}
}

// curtailed returns a change with the first few of each of its lists.
func curtailed(c hotspots.Change) hotspots.Change {
	methods := *c.Methods
	methods.List, methods.Calls = methods.List[:2], methods.Calls[:2]
	c.Methods, c.Components, c.Wakelocks = &methods, c.Components[:min(2, len(c.Components))], c.Wakelocks[:min(2, len(c.Wakelocks))]
	return c
}

// Long texts teach a fuzzer little, and it tries only a few a second.
func FuzzRead(f *testing.F) {
	hungry := hungrier()
	for _, in := range []Input{
		inconclusive(), invalid(),
		{Verdict: hungry.Verdict, Energy: []hotspots.Change{curtailed(hungry.Energy[0])}},
		{Verdict: invalid().Verdict, Energy: []hotspots.Change{curtailed(hostileEnergy()[0])}},
	} {
		var long, short bytes.Buffer
		if err := asJSON(&long, Verdict(in)); err != nil {
			f.Fatal(err)
		}
		if err := json.Compact(&short, long.Bytes()); err != nil {
			f.Fatal(err)
		}
		f.Add(short.Bytes())
	}
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"regression","runs":[{"verdict":"regression","deviations":[{"direction":"regression","value":1e308,"expected":-1e308,"change":1e300,"n":1}]}],"rules":[{"confidence":1e-300,"count":9}]}`))
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"pass","causes":[{"run":"a","event":"E2","metric":"frames.count","kind":"test.moon","direction":"regression","subject":{"name":"m"},` +
		`"explains":{"value":1e100,"share":0.5,"sure":"clear"},"sentence":[{"text":"a"},{"name":"b","as":"code","most":9},{"amount":{"value":1e-300,"unit":"ms","signed":true}},{"range":{"low":-1e99,"high":2,"unit":"s"}}],` +
		`"tables":[{"title":"t","main":true,"columns":[{"title":"a"},{"title":"b","spare":1},{"title":"c"}],"rows":[{"cells":[[],[{"amount":{"value":0.001,"unit":"%"}}],[]],"direction":"none"}]}],` +
		`"picture":{"kind":"flame","flame":{"unit":"J","of":"x","beside":true,"calls":[{"parent":-1,"name":"a","base":0,"head":1e106},{"parent":0,"name":"b","base":1,"head":1e-9}]}}},` +
		`{"kind":"x.y","direction":"improvement","picture":{"kind":"bars","bars":{"list":[{"name":"a","head":{"value":1,"low":2,"high":0.5}}]}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8<<10 {
			return
		}
		in, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var text, markdown, html bytes.Buffer
		if err := asText(&text, Verdict(in), document.Options{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if err := asMarkdown(&markdown, Verdict(in), 4096); err != nil || markdown.Len() > 4096 {
			t.Fatalf("%d bytes, error %v", markdown.Len(), err)
		}
		if err := asHTML(&html, Verdict(in)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(html.String(), "NaN") && !bytes.Contains(data, []byte("NaN")) {
			t.Fatal("a picture has a place that is not a number")
		}
	})
}

// A verdict without runs, metrics or a known outcome is shown without a panic.
func TestNothingToShow(t *testing.T) {
	for name, in := range map[string]Input{
		"nothing":       {},
		"no runs":       {Verdict: gate.Verdict{Verdict: gate.Regression}},
		"empty pass":    {Verdict: gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{}}}},
		"empty numbers": {Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{{Deviations: []gate.Comparison{{}, {Direction: gate.ToRegression}}}}, Rules: []gate.Rule{{}}}},
	} {
		var text, markdown, html bytes.Buffer
		for _, err := range []error{asText(&text, Verdict(in), document.Options{Verbose: true}), asMarkdown(&markdown, Verdict(in), 0), asHTML(&html, Verdict(in))} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if text.Len() == 0 || markdown.Len() == 0 || !strings.Contains(html.String(), "</html>") {
			t.Errorf("%s: a report is empty", name)
		}
	}
}

// What report can show again, it shows unchanged; it rejects everything else, and anything
// misleading.
func TestReadSaved(t *testing.T) {
	comparison, drift := abVerdict(2), saved.Refresh{
		Verdict: gate.Regression, Accepted: []string{"a"}, Refused: []saved.Refusal{{ID: "b", Verdict: gate.Regression, Reason: "worse"}},
		Drift: []drift.Line{{Scenario: "s", Metric: "frames.count", Direction: gate.ToRegression, Creep: &drift.Shift{Change: 0.1}}},
	}
	for i := range comparison.Scenarios[0].Comparisons { // one of the fixture names a context that does not exist
		c := &comparison.Scenarios[0].Comparisons[i]
		c.Contexts = c.Contexts[:1]
	}
	var ab, refresh, verdict bytes.Buffer
	if err := errors.Join(asJSON(&ab, Comparison(ComparisonInput{Verdict: comparison})), asJSON(&refresh, Refresh(RefreshInput{Refresh: drift})), asJSON(&verdict, Verdict(pass()))); err != nil {
		t.Fatal(err)
	}
	if s, err := saved.Read(&ab); err != nil || s.Comparison == nil || cmp.Diff(comparison, s.Comparison.Verdict, cmpopts.EquateEmpty()) != "" {
		t.Errorf("a comparison: %v", err)
	}
	drift.Format = saved.RefreshFormat
	if s, err := saved.Read(&refresh); err != nil || s.Refresh == nil || cmp.Diff(drift, *s.Refresh, cmpopts.EquateEmpty()) != "" {
		t.Errorf("a refresh: %v", err)
	}
	if s, err := saved.Read(&verdict); err != nil || s.Verdict == nil || s.Verdict.Verdict.Verdict != gate.Pass {
		t.Errorf("a verdict: %v", err)
	}
	for source, want := range map[string]string{
		``:                             "the file is empty",
		`{"format":"apkgate.run/1"}`:   `format is "apkgate.run/1", want one of ["apkgate.verdict/1" "apkgate.compare/1" "apkgate.refresh/1"]`,
		`[` + strings.Repeat("[", 1e5): "more than 64 deep",
		`{"format":"apkgate.compare/1","verdict":"fine"}`: `verdict is "fine"`,
		`{"format":"apkgate.compare/1","verdict":"pass","scenarios":[{"verdict":"pass","comparisons":[{"direction":"none","together":"none","contexts":[{"direction":"none","context":0}]}]}]}`:                  "scenarios[0].comparisons[0].contexts[0].context is 0, want the place of one of 0 contexts",
		`{"format":"apkgate.compare/1","verdict":"pass","scenarios":[{"verdict":"pass","contexts":[{}],"comparisons":[{"direction":"none","together":"none","contexts":[{"direction":"none","context":-1}]}]}]}`: "context is -1",
		`{"format":"apkgate.refresh/1","verdict":"regression","drift":[{"direction":"regression"}]}`:                                                                                                             "drift[0].creep is missing",
		`{"format":"apkgate.refresh/1","verdict":"pass","drift":[{"direction":"up"}]}`:                                                                                                                           `drift[0].direction is "up"`,
	} {
		if _, err := saved.Read(strings.NewReader(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s gives the error %v, want one with %q", source, err, want)
		}
	}
}
