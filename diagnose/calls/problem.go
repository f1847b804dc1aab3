package calls

import (
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Problem is a problem that a team knows by its signature: methods that call each other in that
// order, and how long the last one takes (the paper, sections 4.2.2 and 7).
type Problem struct {
	Name string
	// Calls are the methods, each called by the one before, directly or not. A "*" is any text.
	Calls []string
	// OverMS is how long the last one takes at least in one repetition of an event, with all that it
	// calls; 0 for any time.
	OverMS float64
	// AnyThread is set where other threads than the main one are looked at, too.
	AnyThread bool
	// Text says what the team knows of it, Link where there is more; both may be "".
	Text, Link string
}

// match is a problem in an event.
type match struct {
	event       string
	ms          float64 // the longest of a repetition
	worst       int     // that repetition, from 1
	repetitions int     // that have it
}

// Match returns a cause for each of the known problems that the traces of a run have: of each
// regression of the event that the main thread's calls can explain, or without one, where something
// went wrong in the event, of its frozen frames.
func Match(r run.Run, problems []Problem, found []diagnose.Finding) []diagnose.Cause {
	if r.MethodTraces == nil {
		return nil
	}
	var out []diagnose.Cause
	for _, p := range problems {
		for _, m := range p.matches(r) {
			for _, f := range explainedBy(r, m, found) {
				c := p.cause(r, m)
				c.Event, c.Metric = f.Event, f.Metric
				out = append(out, c)
			}
		}
	}
	return out
}

// explainedBy returns the findings that a match explains.
func explainedBy(r run.Run, m match, found []diagnose.Finding) (out []diagnose.Finding) {
	for _, f := range found {
		if event := eventOf(r.MethodTraces, f); f.Direction == gate.ToRegression && explains(f.Metric) && (event == "" || event == m.event) && len(out) < contrast.MaxEach {
			out = append(out, f)
		}
	}
	wrong := slices.ContainsFunc(r.MethodTraces.Windows, func(w run.TraceWindow) bool { return w.Why != "" && w.Event == m.event })
	if len(out) == 0 && wrong {
		out = append(out, diagnose.Finding{Event: m.event, Metric: "frames.frozen"})
	}
	return out
}

// matches returns the events whose calls have the problem's signature.
func (p Problem) matches(r run.Run) (out []match) {
	if len(p.Calls) == 0 {
		return nil
	}
	tree := r.MethodTraces.Tree
	progress := make([]int, len(tree)) // how many of the methods are on the stack
	events, mine := make([]string, len(tree)), make([]bool, len(tree))
	taken := map[string]*[run.MaxApart]float64{}
	for i, c := range tree {
		events[i], mine[i] = c.Event, p.AnyThread || diagnose.IsMain(c.Thread, r.App.Package)
		before := 0
		if c.Parent >= 0 {
			events[i], mine[i], before = events[c.Parent], mine[c.Parent], progress[c.Parent]
		}
		progress[i] = before
		if !mine[i] || before == len(p.Calls) || !like(p.Calls[before], c.Name) {
			continue
		}
		if progress[i]++; progress[i] == len(p.Calls) { // the outermost one
			sum := taken[events[i]]
			if sum == nil {
				sum = new([run.MaxApart]float64)
				taken[events[i]] = sum
			}
			for slot, ms := range c.RepetitionsMS {
				sum[slot] += ms
			}
		}
	}
	for event, sum := range taken {
		m := match{event: event}
		together := [run.MaxApart]int{}
		for _, col := range columnsOf(r.MethodTraces, event, ofHead) {
			together[col.slot] = len(col.repetitions)
		}
		for slot, ms := range sum {
			ms /= float64(max(together[slot], 1))
			if ms > 0 && ms >= p.OverMS {
				m.repetitions++
				if ms > m.ms {
					m.ms, m.worst = ms, slot+1
				}
			}
		}
		if m.repetitions > 0 {
			out = append(out, m)
		}
	}
	byMost(out, func(m match) float64 { return m.ms }, func(m match) string { return m.event })
	return out[:min(len(out), contrast.MaxFindings)]
}

// like reports whether a name is like a pattern, in which "*" is any text.
func like(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	last := len(parts) - 1
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	rest := name[len(parts[0]):]
	for _, part := range parts[1:last] {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

// cause returns a match in words: the team's own, and what was seen.
func (p Problem) cause(r run.Run, m match) diagnose.Cause {
	what := say("the known problem ", diagnose.Named(p.Name))
	out := say(what, ": ", diagnose.Coded(p.Calls[len(p.Calls)-1]), " takes ", ms(m.ms))
	if len(p.Calls) > 1 {
		out = say(out, ", called by ", diagnose.Coded(p.Calls[0]))
	}
	if n := len(r.Iterations); n > 1 {
		out = say(out, ", seen in ", diagnose.Amount{Value: float64(m.repetitions)}, " of ", diagnose.Amount{Value: float64(n)}, " repetitions")
	}
	if p.Text != "" {
		out = say(out, "; the team's note: ", diagnose.Part{Name: strings.TrimSuffix(p.Text, "."), Most: run.MaxText})
	}
	value := math.Round(m.ms*1000) / 1000
	return diagnose.Cause{
		Run: r.ID, Scenario: r.Scenario, Kind: KnownKind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: p.Name},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Sure: diagnose.Seen}, Title: what, Sentence: out, See: p.Link,
		Evidence: links(r.MethodTraces, m.event, m.worst),
	}
}
