package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
)

func TestJSONRoundTrip(t *testing.T) {
	for name, in := range map[string]Input{"regression": regression(), "pass": pass(), "inconclusive": inconclusive(), "invalid": invalid()} {
		var b bytes.Buffer
		if err := JSON(&b, in); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.HasSuffix(text, "}\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: the output does not end with one newline", name)
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := in.Verdict
		want.Format = "apkgate.verdict/1"
		if diff := cmp.Diff(want, got.Verdict, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: what was read is not what was written:\n%s", name, diff)
		}
	}
}

// A reader of the format meets a list wherever the format has one, never null.
func TestJSONHasNoNull(t *testing.T) {
	var b bytes.Buffer
	v := gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{ID: "R", Verdict: gate.Pass}}}
	if err := JSON(&b, Input{Verdict: v}); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	r := doc["runs"].([]any)[0].(map[string]any)
	for _, field := range []string{"labels", "reference", "deviations", "comparisons", "warnings"} {
		if _, ok := r[field].([]any); !ok {
			t.Errorf("runs[0].%s is %v, want a list", field, r[field])
		}
	}
	for _, field := range []string{"rules", "warnings"} {
		if _, ok := doc[field].([]any); !ok {
			t.Errorf("%s is %v, want a list", field, doc[field])
		}
	}
	if v.Runs[0].Labels != nil {
		t.Error("the caller's verdict was changed")
	}
}

func TestJSONRefusesWhatItCannotHold(t *testing.T) {
	in := pass()
	in.Verdict.Runs[0].Comparisons[0].Upper = math.Inf(1)
	if err := JSON(&bytes.Buffer{}, in); err == nil {
		t.Error("an infinite fence was written")
	}
}

func TestReadErrors(t *testing.T) {
	for source, want := range map[string]string{
		``:                               "the file is empty",
		`{`:                              "not valid JSON",
		`{"format":"apkgate.run/1"}`:     `format is "apkgate.run/1", want "apkgate.verdict/1"`,
		`{"format":"apkgate.verdict/2"}`: `want "apkgate.verdict/1"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","level":1.5}`:                                                                     "level is 1.5",
		`{"format":"apkgate.verdict/1","verdict":"fine"}`:                                                                                 `verdict is "fine", want one of`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"x"}]}`:                                                        `runs[0].verdict is "x"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"pass","comparisons":[{"direction":"up"}]}]}`:                  `runs[0].comparisons[0].direction is "up"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"pass","comparisons":[{"direction":"none","value":"high"}]}]}`: "is a JSON string, want float64",
		`{"format":"apkgate.verdict/1","verdict":"pass"} {}`:                                                                              "not valid JSON at byte 49",
		strings.Repeat("[", 100_000): "more than 64 deep",
	} {
		_, err := Read(strings.NewReader(source))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s gives the error %v, want one with %q", source, err, want)
		}
	}
}

// curtailed is a change with the first few of each of its lists.
func curtailed(c hotspots.Change) hotspots.Change {
	methods := *c.Methods
	methods.List, methods.Calls = methods.List[:2], methods.Calls[:2]
	c.Methods, c.Components, c.Wakelocks = &methods, c.Components[:min(2, len(c.Components))], c.Wakelocks[:min(2, len(c.Wakelocks))]
	return c
}

// A fuzzer learns little from long texts, of which it tries but a few a second.
func FuzzRead(f *testing.F) {
	hungry := hungrier()
	for _, in := range []Input{
		inconclusive(), invalid(),
		{Verdict: hungry.Verdict, Energy: []hotspots.Change{curtailed(hungry.Energy[0])}},
		{Verdict: invalid().Verdict, Energy: []hotspots.Change{curtailed(hostileEnergy()[0])}},
	} {
		var long, short bytes.Buffer
		if err := JSON(&long, in); err != nil {
			f.Fatal(err)
		}
		if err := json.Compact(&short, long.Bytes()); err != nil {
			f.Fatal(err)
		}
		f.Add(short.Bytes())
	}
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"regression","runs":[{"verdict":"regression","deviations":[{"direction":"regression","value":1e308,"expected":-1e308,"change":1e300,"n":1}]}],"rules":[{"confidence":1e-300,"count":9}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8<<10 {
			return
		}
		in, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var text, markdown, html bytes.Buffer
		if err := Text(&text, in, TextOptions{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&markdown, in, 4096); err != nil || markdown.Len() > 4096 {
			t.Fatalf("%d bytes, error %v", markdown.Len(), err)
		}
		if err := HTML(&html, in); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(html.String(), "NaN") && !bytes.Contains(data, []byte("NaN")) {
			t.Fatal("a picture has a place that is not a number")
		}
	})
}

// A verdict without runs, metrics or a known outcome is shown, not a panic.
func TestNothingToShow(t *testing.T) {
	for name, in := range map[string]Input{
		"nothing":       {},
		"no runs":       {Verdict: gate.Verdict{Verdict: gate.Regression}},
		"empty pass":    {Verdict: gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{}}}},
		"empty numbers": {Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{{Deviations: []gate.Comparison{{}, {Direction: gate.ToRegression}}}}, Rules: []gate.Rule{{}}}},
	} {
		var text, markdown, html bytes.Buffer
		for _, err := range []error{Text(&text, in, TextOptions{Verbose: true}), Markdown(&markdown, in, 0), HTML(&html, in)} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if text.Len() == 0 || markdown.Len() == 0 || !strings.Contains(html.String(), "</html>") {
			t.Errorf("%s: a report is empty", name)
		}
	}
}

// Verdicts used to write 0 at both ends where there was no interval.
func TestReadOlderVerdictsWithoutIntervals(t *testing.T) {
	old := `{"format":"apkgate.verdict/1","verdict":"pass","preset":"default","rules":[],"warnings":[],"runs":[{"id":"a","verdict":"pass",` +
		`"comparisons":[{"metric":"frames.count","direction":"none","n":5,"change_low":0,"change_high":0},` +
		`{"metric":"cpu.time_ms","direction":"none","n":5,"change_low":0,"change_high":0.1}]}]}`
	in, err := Read(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	if cs := in.Verdict.Runs[0].Comparisons; hasInterval(cs[0]) || !hasInterval(cs[1]) {
		t.Errorf("intervals: %v and %v, want the second alone", hasInterval(cs[0]), hasInterval(cs[1]))
	}
}

// What report can show again, it shows as it was; what it can't, or what would lead
// it astray, it refuses.
func TestReadSaved(t *testing.T) {
	comparison, drift := abVerdict(2), Refresh{
		Verdict: gate.Regression, Accepted: []string{"a"}, Refused: []Refusal{{ID: "b", Verdict: gate.Regression, Reason: "worse"}},
		Drift: []drift.Line{{Scenario: "s", Metric: "frames.count", Direction: gate.ToRegression, Creep: &drift.Shift{Change: 0.1}}},
	}
	for i := range comparison.Scenarios[0].Comparisons { // of the fixture, one names no context that there is
		c := &comparison.Scenarios[0].Comparisons[i]
		c.Contexts = c.Contexts[:1]
	}
	var ab, refresh, verdict bytes.Buffer
	if err := errors.Join(ABJSON(&ab, ABInput{Verdict: comparison}), RefreshJSON(&refresh, drift), JSON(&verdict, pass())); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSaved(&ab); err != nil || s.Comparison == nil || cmp.Diff(comparison, s.Comparison.Verdict, cmpopts.EquateEmpty()) != "" {
		t.Errorf("a comparison: %v", err)
	}
	drift.Format = RefreshFormat
	if s, err := ReadSaved(&refresh); err != nil || s.Refresh == nil || cmp.Diff(drift, s.Refresh.Refresh, cmpopts.EquateEmpty()) != "" {
		t.Errorf("a refresh: %v", err)
	}
	if s, err := ReadSaved(&verdict); err != nil || s.Verdict == nil || s.Verdict.Verdict.Verdict != gate.Pass {
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
		if _, err := ReadSaved(strings.NewReader(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s gives the error %v, want one with %q", source, err, want)
		}
	}
}

// A saved verdict is held once while it is read, and what would become gigabytes is
// refused before it is decoded.
func TestReadingTakesTheMemoryOfTheFile(t *testing.T) {
	const size = 64 << 20
	open := `{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"comparisons":[`
	path := filepath.Join(t.TempDir(), "verdict.json")
	if err := os.WriteFile(path, []byte(open+strings.Repeat("{},", (size-len(open))/3)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ReadSaved(f)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "elements") {
		t.Errorf("the error is %v, want one that names the elements", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > size+1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", took, size)
	}
}
