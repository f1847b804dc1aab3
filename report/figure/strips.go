package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
)

// mostStrips is the maximum number of steps of a frame in the text form.
const mostStrips = 10

// Text returns the figure in lines of at most that many columns: for each frame its longest steps
// in the order of time, each with a bar that shows its time, solid where the thread ran.
func (t Threads) Text(width int) []string {
	bar := 24
	switch {
	case width < 60:
		bar = 0
	case width < 80:
		bar = 10
	}
	var out []string
	for i, f := range t.frames {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, inColumns(f.heading(), width))
		shown, left := f.longest(mostStrips)
		for _, k := range shown {
			s := f.Steps[k]
			line := fmt.Sprintf("%s %9s  ", s.strip(t.from, t.to, bar), milliseconds(s.lasts()))
			text := f.who(s) + " " + s.text()
			if twwidth.Width(line+text) > width {
				text = lane{thread: s.lane().thread}.name() + " " + s.text() // the figure on a page has the processes too
			}
			out = append(out, inColumns(line+text, width))
		}
		if left > 0 {
			out = append(out, inColumns(strings.Repeat(" ", bar+12)+prose.Count(left, "shorter step", "shorter steps")+" left out", width))
		}
	}
	return out
}

// longest returns the indexes of the longest steps, in the order of time.
func (f threadsFrame) longest(most int) (places []int, left int) {
	places = make([]int, len(f.Steps))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		if f.Steps[a].lasts() > f.Steps[b].lasts() {
			return -1
		}
		return 1
	})
	left = max(len(places)-most, 0)
	places = places[:len(places)-left]
	slices.Sort(places)
	return places, left
}

// strip returns the position of a step between two times as a bar of so many columns: at least one
// is filled.
func (s Step) strip(from, to float64, columns int) string {
	at := func(ms float64) int { return int((ms - from) / (to - from) * float64(columns)) }
	first := max(min(at(s.FromMS), columns-1), 0)
	last := min(max(at(s.ToMS), first+1), columns)
	mark := "░"
	if s.Kind == "running" {
		mark = "█"
	}
	return strings.Repeat("·", first) + strings.Repeat(mark, last-first) + strings.Repeat("·", columns-last)
}

// Text returns the chain in lines of at most that many columns, 0 for any: each thread, below it
// what it waits for, and so on to the one that blocks the others.
func (w Waits) Text(width int) []string {
	var out []string
	for i, t := range w.threads {
		name, state := w.title(i)
		line := name
		if process := wording.Name(t.Process); process != "" {
			line += " of " + process
		}
		if state != "" {
			line += " (" + state + ")"
		}
		out = append(out, inColumns(line, width))
		if at := wording.Name(t.At); at != "" {
			out = append(out, inColumns("  at "+at, width))
		}
		if wait := waitsFor(t); wait != "" {
			out = append(out, inColumns("  "+wait+w.leads(i), width))
		}
	}
	return out
}

// inColumns cuts a line to so many columns of a terminal, 0 for any.
func inColumns(s string, width int) string {
	for n := width; width > 0 && n > 0 && twwidth.Width(s) > width; n-- {
		s = prose.Clip(s, n)
	}
	return s
}
