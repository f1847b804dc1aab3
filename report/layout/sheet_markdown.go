package layout

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// Markdown writes the sheet as a GitHub comment or job summary of at most limit
// bytes; 0 is MaxComment, and less than 512 is an error. What does not fit is
// left out whole rows and tables at a time, and the text says so.
func (s Sheet) Markdown(w io.Writer, limit int) error {
	switch {
	case limit == 0:
		limit = MaxComment
	case limit < minComment:
		return fmt.Errorf("write the Markdown report: the limit is %d bytes, want %d or more (0 is %d)", limit, minComment, MaxComment)
	}
	if _, err := io.WriteString(w, s.composed(limit)); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

func (s Sheet) composed(limit int) string {
	foot := ""
	if s.footer != "" {
		foot = "\n<sub>" + markdown(s.footer) + "</sub>\n"
	}
	head := s.markdownHead()
	room := limit - len(foot) - len(leftOut)
	if len(head) > room {
		return "### " + symbol(s.outcome) + " " + markdown(outcomeWord(s.outcome)) + "\n" + leftOut
	}
	var b strings.Builder
	b.WriteString(head)
	cut := false
	for _, bl := range s.blocks() {
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

func (s Sheet) markdownHead() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s: %s\n\n", symbol(s.outcome), markdown(outcomeWord(s.outcome)), markdown(s.lead))
	for _, n := range s.notes {
		fmt.Fprintf(&b, "> %s\n\n", markdown(n))
	}
	for _, f := range s.facts {
		fmt.Fprintf(&b, "- **%s:** %s\n", markdown(f.Label), markdown(f.Text))
	}
	if s.hint != "" {
		fmt.Fprintf(&b, "- **Next:** %s\n", markdown(s.hint))
	}
	return b.String()
}

func (s Sheet) blocks() []block {
	var open, folded []block
	for _, t := range s.tables {
		switch {
		case len(t.rows) == 0:
		case t.folded:
			folded = append(folded, t.block())
		default:
			open = append(open, t.block())
		}
	}
	out := slices.Concat(open, s.energy.blocks(), folded)
	if len(s.warnings) > 0 {
		b := block{head: fold("Warnings"), tail: unfold}
		for _, w := range s.warnings {
			b.lines = append(b.lines, "- "+markdown(w)+"\n")
		}
		out = append(out, b)
	}
	return out
}

func (t sheetTable) block() block {
	b := block{head: "\n#### " + markdown(t.title) + "\n\n", total: t.total}
	if t.folded {
		b.head, b.tail = fold(t.title), unfold
	}
	if t.note != "" {
		b.head += markdown(t.note) + "\n\n"
	}
	b.head += "| " + strings.Join(t.columns, " | ") + " |\n|:--|" + strings.Repeat("--:|", len(t.columns)-2) + ":--|\n"
	for _, r := range t.rows {
		cells := make([]string, len(r.cells))
		for i, c := range r.cells {
			cells[i] = markdown(c)
		}
		if last := len(cells) - 1; r.direction == gate.ToRegression {
			cells[last] = "**" + cells[last] + "**"
		}
		b.lines = append(b.lines, row(cells...))
	}
	return b
}
