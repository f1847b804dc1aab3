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
)

// Render writes a document in at most o.Limit bytes; 0 is MaxComment, and less than 512 is an
// error.
func Render(w io.Writer, d document.Document, o document.Options) error {
	limit, err := limited(o.Limit)
	if err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	if _, err := io.WriteString(w, compose(d, limit)); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

func compose(d document.Document, limit int) string {
	foot := ""
	if d.Footer != "" {
		foot = "\n<sub>" + Escape(d.Footer) + "</sub>\n"
	}
	head := headOf(d)
	if !fits(head, foot, limit) {
		return bare(d, limit)
	}
	return cut(head, blocks(d), foot, limit)
}

// bare returns the report for a very small limit.
func bare(d document.Document, limit int) string {
	head := "### " + Symbol(d.Answer.Outcome) + " " + Escape(d.Answer.Word) + "\n"
	if text := "\n" + Escape(d.Checked) + "\n"; d.Checked != "" && len(head)+len(text)+len(leftOut) <= limit {
		head += text
	}
	return head + leftOut
}

func headOf(d document.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s: %s\n\n", Symbol(d.Answer.Outcome), Escape(d.Answer.Word), Escape(d.Answer.Line()))
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "> %s\n\n", Escape(n))
	}
	if d.Checked != "" {
		checked := d.Checked
		if d.Title != "" {
			checked = d.Title + "; " + checked
		}
		fmt.Fprintf(&b, "- **Checked:** %s\n", Escape(checked))
	}
	b.WriteString(facts(d.Facts, false))
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

// facts returns the facts that are details, or those that are not, in lines of a list. One whose
// section follows is left out.
func facts(all []document.Fact, details bool) string {
	var b strings.Builder
	for _, f := range all {
		if f.Of != "" || f.Detail != details {
			continue
		}
		text := Escape(f.Text)
		if f.Command != "" {
			text = strings.TrimSpace(text + " " + code(f.Command))
		}
		fmt.Fprintf(&b, "- **%s:** %s\n", Escape(f.Label), text)
	}
	return b.String()
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
