package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// tracedE2 is a run of five repetitions of E2, each of which binds so many rows of 20 ms.
func tracedE2(id string, rows int) run.Run {
	r := run.Run{ID: id, App: run.App{Package: "com.example.mail"}, Scenario: "open-message", Status: run.Complete, Iterations: make([]run.Iteration, 5)}
	frame := run.TracedCall{Parent: -1, Name: "android.view.Choreographer.doFrame", Thread: "main", Event: "E2"}
	bind := run.TracedCall{Parent: 0, Name: "com.example.mail.Row.bind"}
	r.MethodTraces = &run.MethodTraces{Source: "art", Clock: run.WallClock}
	for rep := range 5 {
		took := 20*float64(rows) + float64(rep%2)
		frame.Repetitions, frame.RepetitionsMS = append(frame.Repetitions, 1), append(frame.RepetitionsMS, took+5)
		bind.Repetitions, bind.RepetitionsMS = append(bind.Repetitions, rows), append(bind.RepetitionsMS, took)
		r.MethodTraces.Windows = append(r.MethodTraces.Windows, run.TraceWindow{Repetition: rep + 1, Event: "E2", ToMS: 3000})
	}
	r.MethodTraces.Tree = []run.TracedCall{frame, bind}
	return r
}

// A method that the main thread calls more often, and a known problem with its page, are told in the
// same words by every format, each once beside its section.
func TestTracedMethodsInEveryFormat(t *testing.T) {
	found := []diagnose.Finding{{Metric: "frames.count", Direction: gate.ToRegression}, {Event: "E2", Metric: "frames.count", Direction: gate.ToRegression}}
	head := tracedE2("H", 60)
	causes := calls.Explain(head, []run.Run{tracedE2("B", 3)}, found)
	causes = append(causes, calls.Match(head, []calls.Problem{{Name: "all rows", Calls: []string{"com.example.mail.Row.bind"}, OverMS: 500, Text: "Only those that are seen.", Link: "https://example.com/wiki?rows=all&x=1"}}, found)...)
	input := underTheMoon(causes...)
	input.Energy = nil
	const (
		oftener = "com.example.mail.Row.bind is called 60 times per repetition (before: 3), which takes 1140 ms more: 100 % of what the main thread takes longer"
		problem = "the known problem all rows: com.example.mail.Row.bind takes 1201 ms, seen in 5 of 5 repetitions; the team's note: Only those that are seen"
	)
	facts := slices.DeleteFunc(layout.Verdict(input).Facts, func(f document.Fact) bool {
		return !strings.Contains(strings.ReplaceAll(f.Text, "\u00a0", " "), oftener)
	})
	if len(facts) != 1 {
		t.Errorf("what explains the run and its event stands in %d facts: %v", len(facts), facts)
	}
	for format, c := range map[string]struct {
		section, link string
		pictured      string
	}{
		"text":     {"What the main thread did", "The known problem all rows: https://example.com/wiki?rows=all&x=1", "Methods of the main thread after E2"},
		"markdown": {"<summary>What the main thread did", "[The known problem all rows](https://example.com/wiki?rows=all&x=1)", "Methods of the main thread after E2"},
		"html":     {">Calls</h2>", `<a href="https://example.com/wiki?rows=all&amp;x=1">The known problem all rows</a>`, "<figcaption>What the main thread does after E2, by call"},
	} {
		out := strings.NewReplacer("&#8203;", "", "&#39;", "'", "&#34;", `"`).Replace(in(t, input)[format])
		_, section, ok := strings.Cut(out, c.section)
		if !ok {
			t.Errorf("%s has no %q:\n%s", format, c.section, out)
			continue
		}
		for _, want := range []string{oftener, problem, c.link, c.pictured} {
			if n := strings.Count(section, want); n != 1 {
				t.Errorf("%s: %q stands %d times in the section, want once:\n%s", format, want, n, section)
			}
		}
	}
	if out := in(t, input)["json"]; !strings.Contains(out, `"see": "https://example.com/wiki?rows=all\u0026x=1"`) && !strings.Contains(out, `"see": "https://example.com/wiki?rows=all&x=1"`) {
		t.Errorf("the JSON has no address of the known problem")
	}
}
