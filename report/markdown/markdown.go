// Package markdown renders a document as a GitHub comment or the summary of a job.
//
// It owns what fits into a comment (size.go), what is folded, and the escaping of GitHub's Markdown
// and Mermaid. The answer comes first and is complete; the rest is left out by whole rows and
// sections, which the comment says; a name opens no tag, link, formula or cell, and mentions
// nobody. It knows documents, and not what they are about.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Render writes a document in at most o.Limit bytes; 0 is MaxComment, and less than 512 is an
// error.
func Render(w io.Writer, d document.Document, o document.Options) error {
	limit, err := limited(o.Limit)
	if err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	if _, err := io.WriteString(w, compose(d, limit, o.Picture)); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

func compose(d document.Document, limit int, picture string) string {
	foot := ""
	if d.Footer != "" {
		foot = "\n<sub>" + Escape(d.Footer) + "</sub>\n"
	}
	head := headOf(d)
	if !fits(head, foot, limit) {
		return bare(d, limit)
	}
	return cut(head, blocks(d, picture), foot, limit)
}

// bare returns the report for a very small limit.
func bare(d document.Document, limit int) string {
	head := "### " + Symbol(d.Answer.Outcome) + " " + Escape(d.Answer.Word) + "\n"
	if text := "\n" + Escape(d.Checked) + "\n"; d.Checked != "" && len(head)+len(text)+len(leftOut) <= limit {
		head += text
	}
	return head + leftOut
}

// headOf returns what is unfolded of every document: the answer, its facts, what it is about, and a
// line for each check.
func headOf(d document.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s: %s\n\n", Symbol(d.Answer.Outcome), Escape(d.Answer.Word), Escape(d.Answer.Line()))
	shown, _ := firstFacts(d)
	b.WriteString(facts(shown))
	about := strings.TrimPrefix(d.Title+"; "+d.Checked, "; ")
	if d.Checked == "" {
		about = ""
	}
	for i, line := range append([]string{about}, d.Notes...) {
		if line != "" && i == 0 {
			fmt.Fprintf(&b, "\n**Checked:** %s\n", Escape(line))
		} else if line != "" {
			fmt.Fprintf(&b, "\n> %s\n", Escape(line))
		}
	}
	for i, c := range d.Checks {
		if i == 0 {
			b.WriteString("\n")
		}
		if i == maxChecks {
			fmt.Fprintf(&b, "*and %d more*\n", len(d.Checks)-i)
			break
		}
		text := c.Title
		if c.Text != "" {
			text += ": " + c.Text
		}
		fmt.Fprintf(&b, "%s %s  \n", Symbol(c.Outcome), Escape(text))
	}
	return b.String()
}

// maxChecks limits the checks of a comment, each with a line.
const maxChecks = 12

// firstFacts returns the facts that are unfolded, and those that are folded: details, and of a
// document with a first screen all but the first one on why. One whose section follows is in
// neither.
func firstFacts(d document.Document) (shown, folded []document.Fact) {
	why := false
	for _, f := range d.Facts {
		again := f.Answers == document.Proof || f.Answers == document.Why && why
		switch {
		case f.Of != "":
		case f.Detail, d.Screen > 0 && again:
			folded = append(folded, f)
		default:
			why = why || f.Answers == document.Why
			shown = append(shown, f)
		}
	}
	return shown, folded
}

// facts returns facts as lines of a list; those that say what to do next share the last one.
func facts(all []document.Fact) string {
	var b strings.Builder
	var next []document.Fact
	line := func(label, text string) { fmt.Fprintf(&b, "- **%s:** %s\n", Escape(label), text) }
	for _, f := range all {
		if f.Answers == document.Next {
			next = append(next, f)
			continue
		}
		line(f.Label, said(f))
	}
	switch len(next) {
	case 0:
	case 1:
		line(next[0].Label, said(next[0]))
	default:
		steps := make([]string, len(next))
		for i, f := range next {
			steps[i] = Escape(wording.LowerFirst(f.Label)) + ": " + said(f)
		}
		line("Next", strings.Join(steps, " · "))
	}
	return b.String()
}

// said returns a fact's text, its command to be copied.
func said(f document.Fact) string {
	text := Escape(f.Text)
	if isAddress(f.Link) {
		text = "[" + text + "](" + f.Link + ")"
	}
	if f.Command != "" {
		text = strings.TrimSpace(text + " " + code(f.Command))
	}
	return text
}

// Symbol returns a symbol that makes an answer easy to find in a long conversation; the word next
// to it says the same.
func Symbol(o document.Outcome) string {
	switch o.Known() {
	case document.Pass, document.Improvement:
		return "✅"
	case document.Regression:
		return "❌"
	case document.Inconclusive:
		return "❔"
	}
	return "⚠️"
}
