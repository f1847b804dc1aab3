// Package matrixcomment represents a comment on a pull request as its rows: one for each leg of a job
// matrix, all on one commit.
//
// It owns how rows are written in Markdown and parsed again, which of two is newer, and what is
// left out of a full comment. Anybody may have written what it parses. It posts nothing, which
// belongs to package githubactions.
package matrixcomment

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/markdown"
)

// Board is a comment as its rows, all on one commit.
type Board struct {
	Config string
	Head   string
	Rows   []Row
	Legs   Legs // all that the matrix has
}

// MaxLegs limits the rows of one comment, so that their headlines and links always fit.
const MaxLegs = 100

// Read parses a comment; ok is false if it has no stamp.
func Read(body string) (b Board, ok bool) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	stamp, ok := readStamp(body)
	if !ok {
		return b, false
	}
	b = Board{Config: stamp.Config, Head: stamp.Head, Legs: stamp.legs}
	_, text, _ := strings.Cut(body, "\n")
	if !strings.Contains(text, "\n"+rowOpens) {
		b.Rows = []Row{{Run: stamp.Run, Head: stamp.Head, Outcome: stamp.Outcome, Job: stamp.Job, Text: strings.TrimSpace(text), sum: stamp.sum}}
		return b, true
	}
	parts := strings.Split(text, "\n"+rowOpens)
	for _, part := range parts[1:min(len(parts), MaxLegs+1)] {
		line, rest, _ := strings.Cut(part, "\n")
		if row, ok := readMark(rowOpens+line, stamp.Head); ok {
			row.Text = unfold(rest)
			b.Rows = append(b.Rows, row)
		}
	}
	return b, true
}

// stamp returns the comment's hidden first line: that of its newest row.
func (b Board) stamp() Stamp {
	s := Stamp{Config: b.Config, Head: b.Head, legs: b.Legs}
	newest := slices.MaxFunc(b.Rows, Row.newer)
	s.Run, s.Outcome, s.Job, s.sum = newest.Run, newest.Outcome, newest.Job, newest.sum
	return s
}

// With returns the board with the row added, or the row that is kept instead if that is of a newer
// run. Rows of another commit are removed, unless they are newer than the row: head is the pull
// request's head commit, "" if unknown.
func (b Board) With(r Row, head string) (merged Board, stays *Stamp) {
	mine := Stamp{Config: b.Config, Run: r.Run, Head: r.Head}
	if len(b.Rows) > 0 && b.Head != r.Head {
		if theirs := b.stamp(); theirs.compare(mine, head) > 0 {
			return b, &theirs
		}
		b.Rows, b.Legs = nil, Legs{}
	}
	merged = Board{Config: b.Config, Head: r.Head, Legs: b.Legs}
	if r.Legs.Count > 0 {
		merged.Legs = r.Legs
	}
	for _, other := range b.Rows {
		switch {
		case !other.same(r):
			merged.Rows = append(merged.Rows, other)
		case other.newer(r) > 0, r.Outcome == "" && other.Outcome != "":
			return b, &Stamp{Config: b.Config, Run: other.Run, Head: other.Head}
		}
	}
	merged.Rows = append(merged.Rows, r)
	return merged, nil
}

// Joined returns the rows of several comments of one configuration, which concurrent jobs have
// created: of the newest of them and all on its commit.
func Joined(boards []Board, head string) Board {
	all := boards[0]
	for _, b := range boards[1:] {
		for _, row := range b.Rows {
			row.Legs = b.Legs
			if merged, stays := all.With(row, head); stays == nil {
				all = merged
			}
		}
	}
	return all
}

// Says reports whether a comment has the same content as another, row for row.
func (b Board) Says(other Board) bool {
	if len(b.Rows) != len(other.Rows) || b.Legs.encoded() != other.Legs.encoded() {
		return false
	}
	for _, row := range other.Rows {
		if !slices.ContainsFunc(b.Rows, row.says) {
			return false
		}
	}
	return true
}

// Namesakes reports whether another job of the same run has the row's name.
func (b Board) Namesakes(r Row) bool {
	return slices.ContainsFunc(b.Rows, func(s Row) bool { return s.Leg == r.Leg && s.Run == r.Run && !s.same(r) })
}

// Body returns the comment, of at most markdown.MaxComment bytes. A single row without a name is
// just the report. Of several the gravest comes first: its outcome is the headline, and its report
// is shortened last.
func (b Board) Body() (string, error) {
	if len(b.Rows) == 1 && b.Rows[0].Leg == "" && b.Legs.Count < 2 {
		return b.stamp().String() + "\n" + b.Rows[0].headed(), nil
	}
	if len(b.Rows) > MaxLegs {
		return "", fmt.Errorf("a comment holds at most %d legs of a matrix, and this is one more", MaxLegs)
	}
	rows := slices.Clone(b.Rows)
	slices.SortStableFunc(rows, func(r, s Row) int {
		if order := grave(s.Outcome) - grave(r.Outcome); order != 0 {
			return order
		}
		return natural(r.title(), s.title())
	})
	if len(rows) > fewLegs {
		for i := range rows {
			rows[i].Headline = clause(rows[i].Headline, maxHeadline)
		}
	}
	head := b.stamp().String() + "\n" + b.overview(rows)
	room := markdown.MaxComment - len(head)
	for i := range rows { // the comment's own heading is that of the first report, if that is open
		rows[i].Text = rows[i].headed()
		if i == 0 && rows[i].opens() && b.leads(rows) {
			rows[i].Text = rows[i].beheaded()
		}
	}
	for i, r := range rows {
		room -= len(r.folded(noRoom, i == 0))
	}
	var out strings.Builder
	out.WriteString(head)
	for i, r := range rows {
		text := noRoom
		if extra := len(r.Text) - len(noRoom); extra <= room {
			text = r.Text
			room -= extra
		}
		out.WriteString(r.folded(text, i == 0))
	}
	return out.String(), nil
}

// noRoom replaces a report that does not fit.
const noRoom = "*There is no room for this report with the others: it is in the job's summary and in its artifact.*"

// overview returns the headline over all rows, sorted by gravity, and the table of them. A leg
// without a row keeps the headline from being a pass.
func (b Board) overview(rows []Row) string {
	var out strings.Builder
	counts := map[gate.Outcome]int{}
	for _, r := range rows {
		counts[r.Outcome]++
	}
	var parts []string
	for _, r := range rows {
		if n := counts[r.Outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(word(r.Outcome))))
			counts[r.Outcome] = 0
		}
	}
	count, names := b.Legs.missing(rows)
	outcome, lead := rows[0].Outcome, rows[0].title()+": "+rows[0].lead()
	leads := b.leads(rows)
	of := prose.Count(len(rows), "leg", "legs")
	if count > 0 {
		of = fmt.Sprintf("%d of %d legs", len(rows), len(rows)+count)
		parts = append(parts, fmt.Sprintf("%d without a verdict yet", count))
		absent := strings.TrimSuffix(fmt.Sprintf("%d of %d legs %s no verdict yet: %s", count, len(rows)+count, prose.Plural(count, "has", "have"), prose.Few(names, 5)), ": ")
		if grave(outcome) < grave(gate.Invalid) {
			outcome, lead = gate.Invalid, absent
		} else {
			lead += "; " + absent
		}
	}
	fmt.Fprintf(&out, "### %s %s: %s\n\n%s: %s\n\n", Symbol(outcome), word(outcome), markdown.Escape(lead), of, strings.Join(parts, ", "))
	if count > 0 {
		out.WriteString("A leg without a verdict is still being measured, or its job ended without one: then its log says why.\n\n")
	}
	out.WriteString("| leg | verdict | |\n|---|---|---|\n")
	for i, r := range rows {
		text := markdown.Escape(r.lead())
		if i == 0 && leads {
			text = "as above"
		}
		fmt.Fprintf(&out, "| %s | %s %s | %s |\n", markdown.Escape(r.title()), Symbol(r.Outcome), word(r.Outcome), text)
	}
	for _, name := range names {
		fmt.Fprintf(&out, "| %s | %s | no verdict yet |\n", markdown.Escape(name), Symbol(""))
	}
	return out.String()
}

// leads reports whether the comment's headline is that of the first row, and not that a leg is missing.
func (b Board) leads(rows []Row) bool {
	count, _ := b.Legs.missing(rows)
	return count == 0 || grave(rows[0].Outcome) >= grave(gate.Invalid)
}

// headingOpens begins the heading of a report.
const headingOpens = "### "

// heading returns where the heading of a row's report begins and ends; both are 0 if it has none. Who
// accepted it stands above it.
func (r Row) heading() (from, to int) {
	at := 0
	for line := range strings.Lines(r.Text) {
		switch {
		case strings.HasPrefix(line, headingOpens):
			return at, at + len(line)
		case !strings.HasPrefix(line, ">") && strings.TrimSpace(line) != "":
			return 0, 0
		}
		at += len(line)
	}
	return 0, 0
}

// headed returns a row's report with a heading, which the first one of a comment is without.
func (r Row) headed() string {
	if _, to := r.heading(); to > 0 {
		return r.Text
	}
	return headingOpens + Symbol(r.Outcome) + " " + word(r.Outcome) + ": " + markdown.Escape(r.lead()) + "\n\n" + r.Text
}

// beheaded returns a row's report without its heading.
func (r Row) beheaded() string {
	from, to := r.heading()
	return r.Text[:from] + strings.TrimLeft(r.Text[to:], "\n")
}

// lead returns a row's headline without its outcome, which is next to it.
func (r Row) lead() string { return strings.TrimPrefix(r.Headline, word(r.Outcome)+": ") }

// title returns the name of a row; jobs of one run without a name are distinguished by their marks.
func (r Row) title() string {
	switch {
	case r.Leg != "":
		return r.Leg
	case r.Job != "":
		return "job " + r.Job
	}
	return "job"
}

const (
	foldOpens   = "<details>"
	unfoldOpens = "<details open>"
	foldCloses  = "</details>"
)

// folded returns a row as it is written in a comment of several. The report of the first one, the
// gravest, is open where it is what needs attention.
func (r Row) folded(text string, first bool) string {
	opens := foldOpens
	if first && r.opens() {
		opens = unfoldOpens
	}
	return "\n" + r.mark() + "\n" + opens + "<summary>" + Symbol(r.Outcome) + " " + html.EscapeString(r.title()) + "</summary>\n\n" + text + "\n\n" + foldCloses + "\n"
}

// opens reports whether a row's report is open if it is the gravest: where it is what needs attention.
func (r Row) opens() bool { return grave(r.Outcome) >= grave("") }

// unfold returns the text of a row.
func unfold(part string) string {
	_, text, _ := strings.Cut(part, "</summary>")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), foldCloses))
}

// Symbol returns an outcome's symbol.
func Symbol(o gate.Outcome) string {
	if o == "" {
		return "⚪"
	}
	return markdown.Symbol(document.Outcome(o))
}

func word(o gate.Outcome) string {
	if o == "" {
		return "No verdict"
	}
	return layout.OutcomeWord(o)
}
