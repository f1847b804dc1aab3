package layout

import (
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// Limits in bytes on what Markdown writes.
const (
	// MaxComment is what GitHub takes as one comment (65,536 characters, each at
	// least a byte).
	MaxComment = 65_536
	// minComment has room for the verdict alone.
	minComment = 512
)

// How many entries a comment shows before it folds the rest.
const (
	openRows    = 12
	openRules   = 5
	foldedRows  = 200
	foldedRules = 100
	foldedRuns  = 100
	graphRules  = 20
)

// Markdown writes the report as a GitHub comment or job summary of at most
// limit bytes; 0 is MaxComment, and less than 512 is an error. What does not
// fit is left out whole rows and sections at a time, and the text says so.
func Markdown(w io.Writer, in Input, limit int) error {
	switch {
	case limit == 0:
		limit = MaxComment
	case limit < minComment:
		return fmt.Errorf("write the Markdown report: the limit is %d bytes, want %d or more (0 is %d)", limit, minComment, MaxComment)
	}
	if _, err := io.WriteString(w, compose(in, limit)); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

// block is a part of the report that stands or falls as one: its lines can be
// left out from the end, its frame can't.
type block struct {
	head  string
	lines []string
	total int // lines there would be; those beyond len(lines) are counted as left out
	tail  string
}

const leftOut = "\n*Parts of this report are left out to keep it within the size of a comment. The HTML and the JSON report have everything.*\n"

// compose fills the limit block by block, the most important first.
func compose(in Input, limit int) string {
	s := tell(in)
	foot := s.markdownFooter(in)
	var b strings.Builder
	room := limit - len(foot) - len(leftOut)
	head := s.markdownHead(in)
	if len(head) > room {
		return s.bare(limit)
	}
	b.WriteString(head)
	cut := false
	for _, bl := range s.blocks(in) {
		text, whole := bl.fit(room - b.Len())
		b.WriteString(text)
		cut = cut || !whole
	}
	if cut {
		b.WriteString(leftOut)
	}
	b.WriteString(foot)
	return b.String()
}

// bare is the report where hardly anything fits.
func (s story) bare(limit int) string {
	head := "### " + markdown(s.Word) + "\n\n"
	if text := markdown(s.Counts) + "\n"; len(head)+len(text)+len(leftOut) <= limit {
		head += text
	}
	return head + leftOut
}

// fit is the block in at most room bytes, and whether it is all there.
func (bl block) fit(room int) (text string, whole bool) {
	const note = 40 // bytes for the line that counts what is left out
	size := len(bl.head) + len(bl.tail) + note
	n := 0
	for n < len(bl.lines) && size+len(bl.lines[n]) <= room {
		size += len(bl.lines[n])
		n++
	}
	if size > room || (n == 0 && len(bl.lines) > 0) {
		return "", false
	}
	text = bl.head + strings.Join(bl.lines[:n], "")
	if rest := max(bl.total, len(bl.lines)) - n; rest > 0 {
		text += fmt.Sprintf("\n*and %d more*\n", rest)
	}
	return text + bl.tail, n == len(bl.lines)
}

func (s story) markdownHead(in Input) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s: %s\n\n", symbol(s.Outcome), markdown(s.Word), markdown(s.oneLine()))
	for _, n := range in.Notes[:min(len(in.Notes), 5)] {
		fmt.Fprintf(&b, "> %s\n\n", markdown(words.Sentence(n)))
	}
	checked := s.Counts
	if s.Title != "" {
		checked = s.Title + "; " + checked
	}
	fmt.Fprintf(&b, "- **Checked:** %s\n", markdown(checked))
	for _, f := range s.Facts {
		if f.Label == ruleFact {
			continue // the section on rules follows
		}
		fmt.Fprintf(&b, "- **%s:** %s\n", f.Label, markdown(f.Text))
	}
	return b.String()
}

// symbol lets a reader find the verdict in a long conversation; the word beside
// it says the same.
func symbol(o gate.Outcome) string {
	switch o {
	case gate.Pass, gate.Improvement:
		return "✅"
	case gate.Regression:
		return "❌"
	case gate.Inconclusive:
		return "❔"
	}
	return "⚠️"
}

func (s story) blocks(in Input) []block {
	var out []block
	rows := flat(s.Findings)
	var first, rest []finding
	if len(rows) > 0 {
		first, rest = short(rows)
		if len(first) > openRows {
			first, rest = first[:openRows], append(first[openRows:], rest...)
		}
		out = append(out, findingsBlock(first, "\n", ""))
	}
	out = append(out, s.Energy.blocks()...)
	out = append(out, s.ruleBlocks()...)
	if len(rest) > 0 {
		b := findingsBlock(rest[:min(len(rest), foldedRows)], fold(words.Count(len(rest), "more deviation", "more deviations")), unfold)
		b.total = len(rest)
		out = append(out, b)
	}
	if len(in.Verdict.Runs) > 0 {
		out = append(out, runsBlock(in.Verdict))
	}
	if w := warningsBlock(in.Verdict); len(w.lines) > 0 {
		out = append(out, w)
	}
	return out
}

// fold opens a folded part; the blank line lets Markdown go on inside it.
func fold(summary string) string {
	return "\n<details><summary>" + markdown(summary) + "</summary>\n\n"
}

const unfold = "\n</details>\n"

func findingsBlock(rows []finding, head, tail string) block {
	b := block{tail: tail, head: head +
		"| What | Expected | This run | Change | Interval | Runs | Status |\n|:--|--:|--:|--:|--:|--:|:--|\n"}
	for _, f := range rows {
		what := markdown(f.what())
		if f.AfterEffectOf != "" {
			what = "└ " + what
		}
		c := f.middle()
		b.lines = append(b.lines, row(what, markdown(f.expected()), markdown(f.amountOf(c.Value)),
			markdown(change(c)), markdown(interval(c)), f.fraction(), f.markdownStatus()))
	}
	return b
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func (f finding) markdownStatus() string {
	text := markdown(words.Clip(f.status(), 60))
	if f.Direction == gate.ToRegression && f.AfterEffectOf == "" {
		return "**" + text + "**"
	}
	return text
}

func (s story) ruleBlocks() []block {
	if len(s.Rules) == 0 {
		return nil
	}
	sentences := make([]string, 0, len(s.Rules))
	for _, r := range s.Rules[:min(len(s.Rules), openRules+foldedRules)] {
		sentences = append(sentences, "- "+markdown(r.sentence())+"\n")
	}
	open := min(len(sentences), openRules)
	out := []block{{head: "\n#### Where it happens\n\n", lines: sentences[:open]}}
	if rest := sentences[open:]; len(rest) > 0 {
		n := len(s.Rules) - open
		out = append(out, block{head: fold(words.Count(n, "more rule", "more rules")), lines: rest, total: n, tail: unfold})
	}
	graph := ruleGraph(drawn(s.Rules, graphRules))
	return append(out, block{head: fold("The rules as a graph") + graph, tail: unfold})
}

// ruleGraph draws the rules in Mermaid's language: context items, the share of
// runs that each rule holds for, and what it leads to (paper, Figure 9).
func ruleGraph(rules []pattern) string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart LR\n")
	ids := map[string]string{}
	node := func(kind, text string) string {
		id, known := ids[kind+text]
		if !known {
			id = fmt.Sprintf("%s%d", kind, len(ids))
			ids[kind+text] = id
			fmt.Fprintf(&b, "  %s[\"%s\"]\n", id, mermaid(text))
		}
		return id
	}
	for i, r := range rules {
		then := node("t", words.Clip(r.node(), 60))
		fmt.Fprintf(&b, "  r%d((\"%s\"))\n", i, mermaid(words.Percent(r.Support)))
		all := items(r.Rule)
		for _, item := range all[:min(len(all), maxItems)] {
			fmt.Fprintf(&b, "  %s --> r%d\n", node("c", words.Clip(item, 60)), i)
		}
		fmt.Fprintf(&b, "  r%d --> %s\n", i, then)
	}
	b.WriteString("```\n")
	return b.String()
}

func runsBlock(v gate.Verdict) block {
	runs := v.Runs
	b := block{head: fold("Runs") + "| Run | Device | Verdict | Why | Compared with |\n|:--|:--|:--|:--|:--|\n", tail: unfold, total: len(runs)}
	for _, r := range runs[:min(len(runs), foldedRuns)] {
		why := words.Clip(reasonOf(r), 200)
		if r.Hint != "" {
			why = strings.TrimSuffix(why, ".") + "; " + words.Clip(words.Sentence(r.Hint), 200)
		}
		n := max(r.ReferenceTotal, len(r.Reference))
		b.lines = append(b.lines, row(markdown(words.Brief(r.ID)), markdown(words.Clip(runTitle(r, v), 100)),
			markdown(outcomeWord(r.Verdict)), markdown(why), words.Count(n, "run", "runs")))
	}
	return b
}

func warningsBlock(v gate.Verdict) block {
	b := block{head: fold("Warnings"), tail: unfold}
	for _, w := range v.Warnings {
		b.lines = append(b.lines, "- "+markdown(words.Clip(words.Sentence(w.String()), 300))+"\n")
	}
	for _, r := range v.Runs {
		for _, w := range r.Warnings {
			b.lines = append(b.lines, "- "+markdown(words.Brief(r.ID)+": "+words.Clip(words.Sentence(w.String()), 300))+"\n")
		}
	}
	b.total = len(b.lines)
	b.lines = b.lines[:min(len(b.lines), foldedRows)]
	return b
}

func (s story) markdownFooter(in Input) string {
	f := footer(in)
	if f == "" {
		return ""
	}
	return "\n<sub>" + markdown(f) + "</sub>\n"
}
