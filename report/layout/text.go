package layout

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// TextOptions say what the terminal can show; the caller knows it.
type TextOptions struct {
	Color   bool // ANSI colours; nothing is told by colour alone
	Width   int  // columns; 0 is 100, and less than 40 is taken as 40
	Verbose bool // every rule, every run with its reason, context and warnings
}

// How many entries a text report shows where it is not verbose.
const (
	textRows     = 20
	textRules    = 10
	textRuns     = 10
	textWarnings = 5
)

// Text writes the report for a terminal or a log.
func Text(w io.Writer, in Input, o TextOptions) error {
	if o.Width == 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, 40)
	t := &text{o: o, in: in, story: tell(in)}
	t.head()
	if err := t.table(); err != nil {
		return fmt.Errorf("lay out the table of findings: %w", err)
	}
	if err := t.energy(t.Energy); err != nil {
		return fmt.Errorf("lay out the tables of energy: %w", err)
	}
	t.rules()
	t.runs()
	t.foot()
	if _, err := w.Write(t.b.Bytes()); err != nil {
		return fmt.Errorf("write the text report: %w", err)
	}
	return nil
}

type text struct {
	story
	b  bytes.Buffer
	o  TextOptions
	in Input
}

func (t *text) head() {
	lines := wrap(t.Word+": "+t.oneLine(), t.o.Width)
	lines[0] = t.paint(outcomeColor(t.Outcome), t.Word) + strings.TrimPrefix(lines[0], t.Word)
	for _, line := range lines {
		t.line(line)
	}
	t.line("")
	width := 0
	for _, f := range t.Facts {
		width = max(width, len(f.Label))
	}
	t.labelled("Checked", width, t.checked())
	for _, n := range t.in.Notes {
		t.labelled("Note", width, words.Sentence(n))
	}
	for _, f := range t.Facts {
		t.labelled(f.Label, width, f.Text)
	}
}

func (t *text) checked() string {
	if t.Title == "" {
		return t.Counts
	}
	return t.Title + "; " + t.Counts
}

// labelled writes a label and its text, wrapped beside it or, on a narrow
// terminal, below it.
func (t *text) labelled(label string, width int, text string) {
	indent := max(width, len("Checked")) + 2
	if t.o.Width < 60 {
		indent = 2
		t.line(t.paint(bold, label))
	}
	for i, line := range wrap(text, t.o.Width-indent) {
		if i == 0 && t.o.Width >= 60 {
			t.line(t.paint(bold, label) + strings.Repeat(" ", indent-len(label)) + line)
			continue
		}
		t.line(strings.Repeat(" ", indent) + line)
	}
}

func (t *text) rules() {
	if len(t.Rules) < 2 {
		return // the only one is among the facts
	}
	t.heading("Rules")
	shown := len(t.Rules)
	if !t.o.Verbose {
		shown = min(shown, textRules)
	}
	for _, r := range t.Rules[:shown] {
		t.item(r.sentence())
	}
	if n := len(t.Rules) - shown; n > 0 {
		t.item(fmt.Sprintf("and %d more", n))
	}
}

// runs lists every run where asked, otherwise those of which nothing can be
// said: the others are in the table.
func (t *text) runs() {
	runs := t.in.Verdict.Runs
	if !t.o.Verbose {
		runs = doubtful(runs)
	}
	if len(runs) == 0 {
		return
	}
	t.heading("Runs")
	shown := runs
	if !t.o.Verbose {
		shown = runs[:min(len(runs), textRuns)]
	}
	for _, r := range shown {
		title := runTitle(r, t.in.Verdict)
		if id := words.Name(r.ID); title != id {
			title += ", run " + id
		}
		t.item(fmt.Sprintf("%s: %s: %s", t.paint(outcomeColor(r.Verdict), outcomeWord(r.Verdict)), title, reasonOf(r)))
		if t.o.Verbose {
			t.item("  " + referenceOf(r))
		}
		for _, warning := range r.Warnings[:min(len(r.Warnings), textRuns)] {
			t.item("  warning: " + words.Sentence(warning.String()))
		}
	}
	if n := len(runs) - len(shown); n > 0 {
		t.item(fmt.Sprintf("and %d more", n))
	}
}

// doubtful are the runs of which nothing certain can be said.
func doubtful(runs []gate.RunVerdict) []gate.RunVerdict {
	var out []gate.RunVerdict
	for _, r := range runs {
		if isDoubtful(r) {
			out = append(out, r)
		}
	}
	return out
}

func isDoubtful(r gate.RunVerdict) bool {
	return r.Verdict == gate.Invalid || r.Verdict == gate.Inconclusive
}

// runTitle names a run by its device, and by its scenario where there are several.
func runTitle(r gate.RunVerdict, v gate.Verdict) string {
	if severalScenarios(v) {
		return words.Name(r.Scenario) + " on " + device(r)
	}
	return device(r)
}

func reasonOf(r gate.RunVerdict) string {
	if r.Reason == "" {
		return "no reason is recorded"
	}
	return words.Sentence(r.Reason)
}

// referenceOf says what a run was compared with: "40 accepted runs, most alike
// D4 (similarity 2.24, weight 5.1 %)".
func referenceOf(r gate.RunVerdict) string {
	n := max(r.ReferenceTotal, len(r.Reference))
	text := "compared with " + words.Count(n, "accepted run", "accepted runs")
	if len(r.Reference) > 0 {
		first := r.Reference[0]
		text += fmt.Sprintf(", most alike %s (similarity %.2f, weight %s)", words.Name(first.ID), first.Similarity, words.Percent(first.Weight))
	}
	return text
}

func (t *text) foot() {
	warnings := t.warnings()
	for i, warning := range warnings {
		if i == 0 {
			t.heading("Warnings")
		}
		if i == textWarnings && !t.o.Verbose {
			t.item(fmt.Sprintf("and %d more", len(warnings)-i))
			break
		}
		t.item(warning)
	}
	if f := footer(t.in); f != "" {
		t.line("")
		for _, line := range wrap(f, t.o.Width) {
			t.line(line)
		}
	}
}

// warnings are those of the verdict and of the runs that are not listed with
// theirs, each once, with how many runs have it: a pass may hang on a doubt too.
func (t *text) warnings() []string {
	var out []string
	for _, w := range t.in.Verdict.Warnings {
		out = append(out, words.Sentence(w.String()))
	}
	if t.o.Verbose {
		return out // every run is listed
	}
	var texts []string
	runs := map[string]int{}
	for _, r := range t.in.Verdict.Runs {
		if isDoubtful(r) {
			continue
		}
		for i, w := range r.Warnings {
			if slices.Contains(r.Warnings[:i], w) {
				continue
			}
			text := words.Sentence(w.String())
			if runs[text] == 0 {
				texts = append(texts, text)
			}
			runs[text]++
		}
	}
	for _, text := range texts {
		out = append(out, words.Count(runs[text], "run", "runs")+": "+text)
	}
	return out
}

// footer says what was compared with what, and by which rules.
func footer(in Input) string {
	var parts []string
	if c := words.Name(in.Meta.HeadCommit); c != "" {
		text := "commit " + words.Commit(c)
		if b := words.Name(in.Meta.BaseCommit); b != "" {
			text += " against " + words.Commit(b)
		}
		parts = append(parts, text)
	}
	if r := words.Name(in.Meta.Repository); r != "" {
		parts = append(parts, r)
	}
	if p := words.Name(in.Verdict.Preset); p != "" {
		parts = append(parts, "preset "+p)
	}
	if v := words.Name(in.Meta.Version); v != "" {
		parts = append(parts, v)
	}
	return strings.Join(parts, " · ")
}
