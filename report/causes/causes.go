// Package causes lays out what explains a finding, whatever the kind of cause: explanations and
// causes of package diagnose become the facts, sections, figures and problems of a document.
//
// It owns how a phrase becomes text and where a cause is shown: with the finding that it explains,
// main causes first. It knows no kind of cause, so that a new one needs nothing here; only a new
// kind of figure does. It decides nothing and escapes for no language: its text is plain and fits
// on one line, as all text of a document.
package causes

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Story is what explains an answer.
type Story struct {
	Sections []diagnose.Section
	// Title names the run of an explanation where there are several; Where names what a cause
	// explains: "E2: frames rendered".
	Title func(diagnose.Explanation) string
	Where func(diagnose.Cause) string
	// Open returns the command that opens a kept file at a cause, "" for none; nil where no file is
	// kept.
	Open func(diagnose.Link) string
}

// About moves what explains an event, or "" for the whole run, of a scenario to the front: sections,
// their runs, and causes in these. The answer's first finding is explained first, also where a cause
// of another one explains a greater share of its change.
func (s *Story) About(scenario, event string) {
	about := func(c diagnose.Cause) bool {
		return c.Scenario == scenario && (event == "" || c.Event == "" || c.Event == event)
	}
	explains := func(e diagnose.Explanation) bool { return slices.ContainsFunc(e.Causes, about) }
	for _, section := range s.Sections {
		front(section.Runs, explains)
		for _, e := range section.Runs {
			front(e.Causes, about)
		}
	}
	front(s.Sections, func(section diagnose.Section) bool { return slices.ContainsFunc(section.Runs, explains) })
}

// front moves what is wanted before the rest.
func front[T any](all []T, wanted func(T) bool) {
	slices.SortStableFunc(all, func(a, b T) int {
		switch x, y := wanted(a), wanted(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
}

// title names an explanation's run, "" where it is the only one.
func (s Story) title(section diagnose.Section, e diagnose.Explanation) string {
	if len(section.Runs) < 2 {
		return ""
	}
	return s.Title(e)
}

// Facts returns each section in a line, with its main explanation. What several families explain
// has the cause that explains most, once; the others' are in their sections.
func (s Story) Facts() []document.Fact {
	var out []document.Fact
	add := func(label, text string, to document.Question) {
		if text != "" {
			out = append(out, document.Fact{Label: label, Text: text, Answers: to})
		}
	}
	main := s.main()
	for i, section := range s.Sections {
		first := section.Runs[0]
		fact := text(first.Fact)
		if n := len(section.Runs) - 1; n > 0 && fact != "" {
			fact = s.Title(first) + ": " + fact + "; " + prose.Count(n, "more run has", "more runs have") + " " + section.Has + " too"
		}
		add(section.Label, fact, document.Proof)
		if len(first.Causes) == 0 || first.Lines != nil {
			add(section.Line, text(first.Lead), document.Why)
		}
		for _, c := range main[i] {
			add(section.Line, s.at(c, text(c.Sentence)), document.Why)
		}
	}
	return out
}

// main returns the causes of each section for the facts: the lead of its first run and those of
// further events, as far as no other section's explains more of the same.
func (s Story) main() [][]diagnose.Cause {
	all := make([][]diagnose.Cause, len(s.Sections))
	for i, section := range s.Sections {
		if first := section.Runs[0]; first.Lines == nil && len(first.Causes) > 0 {
			all[i] = withOthers(narrowed(first.Causes), first.Causes)
		}
	}
	var kept []diagnose.Cause
	inOrder := slices.Concat(all...)
	diagnose.Order(inOrder)
	for _, c := range inOrder {
		if !slices.ContainsFunc(kept, func(k diagnose.Cause) bool { return sameFinding(k, c) && family(k) != family(c) }) {
			kept = append(kept, c)
		}
	}
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(c diagnose.Cause) bool {
			return !slices.ContainsFunc(kept, func(k diagnose.Cause) bool { return sameFinding(k, c) && blameOf(k) == blameOf(c) })
		})
	}
	return all
}

func family(c diagnose.Cause) string { return diagnose.KindOf(c.Kind).Family.Name }

// narrowed returns the first of some causes, with the event where it is of the whole run and blames
// what only one event is explained by.
func narrowed(all []diagnose.Cause) diagnose.Cause {
	first := all[0]
	if first.Event != "" {
		return first
	}
	one := first
	for _, c := range all[1:] {
		switch {
		case c.Event == "" || c.Metric != first.Metric || blameOf(c) != blameOf(first):
		case one.Event != "":
			return first
		default:
			one = c
		}
	}
	return one
}

// sameFinding reports whether two causes explain the same; the whole run is made up of its events.
func sameFinding(a, b diagnose.Cause) bool {
	return a.Scenario == b.Scenario && a.Metric == b.Metric && (a.Event == b.Event || a.Event == "" || b.Event == "")
}

// mostFacts limits the causes of one section among the facts.
const mostFacts = 2

// withOthers returns a cause and the main causes of further events that blame something else: those
// that explain a share, if the first one does.
func withOthers(first diagnose.Cause, all []diagnose.Cause) []diagnose.Cause {
	out, events := []diagnose.Cause{first}, []string{"", first.Event} // the whole run is made up of its events
	for _, c := range all {
		if len(out) < mostFacts && !slices.Contains(events, c.Event) && blameOf(c) != blameOf(first) && (c.Explains.Share != nil || first.Explains.Share == nil) {
			out, events = append(out, c), append(events, c.Event)
		}
	}
	return out
}

// at returns a text on a cause, prefixed with its place; without a place it is a sentence.
func (s Story) at(c diagnose.Cause, text string) string {
	if where := s.Where(c); where != "" {
		return where + ": " + text
	}
	return wording.UpperFirst(text)
}

// Limits on the causes of a report.
const (
	mostLines  = 12 // of one explanation, and as many doubts and tables
	pageRuns   = 8  // with figures
	textRuns   = 10
	pageRows   = 30
	openRows   = 10  // unfolded rows of a table on a page
	mainRows   = 100 // of the main table
	foldedRows = 25  // of that in a comment
)

// Groups returns the sections of a document, one for each family of causes.
func (s Story) Groups() []document.Section {
	var out []document.Section
	for i, section := range s.Sections {
		g := &document.Groups{
			Noun:  document.Noun{One: "run has " + section.Has, Many: "runs have " + section.Has},
			Rooms: document.Rooms{Terminal: document.Room{Open: 1, Most: textRuns}, Comment: document.Room{Open: 1, Most: 1}, Page: document.Room{Most: pageRuns}},
		}
		for k, e := range section.Runs {
			g.Open = g.Open || e.Open
			g.Groups = append(g.Groups, s.group(e, s.title(section, e), id(i, k)))
		}
		out = append(out, document.Section{
			ID:    section.Name,
			Title: document.Titles{Terminal: section.Title, Comment: section.Title, Page: section.Label},
			Body:  g,
		})
	}
	return out
}

// group returns one explanation with its evidence. Only a page's figures need their names, and a
// page draws few runs.
func (s Story) group(e diagnose.Explanation, title, id string) document.Group {
	doubts := e.Doubts
	if e.Lines == nil { // a doubt about one cause is in its line
		ofAll := shared(e.Causes)
		doubts = slices.DeleteFunc(slices.Clone(doubts), func(d diagnose.Phrase) bool {
			return !hasDoubt(ofAll, d) && slices.ContainsFunc(e.Causes, func(c diagnose.Cause) bool { return hasDoubt(c.Doubts, d) })
		})
	}
	g := document.Group{Title: title, Fact: s.fact(e), Lines: s.lines(e), Doubts: texts(doubts[:min(len(doubts), mostLines)])}
	for _, c := range e.Causes {
		more := document.Item{Text: wording.UpperFirst(text(c.Title)), Links: document.Links{Page: c.See, Comment: c.See}}
		if diagnose.Address(c.See) && !slices.Contains(g.More, more) && len(g.More) < mostLines {
			g.More = append(g.More, more)
		}
	}
	for _, aside := range e.Asides {
		g.Small = joined(g.Small, text(aside))
	}
	for _, t := range e.Tables[:min(len(e.Tables), mostLines)] {
		g.Tables = append(g.Tables, tableSection(t))
	}
	pictures := drawable(e.Pictures)
	g.Figures = figures(pictures[:min(len(pictures), mostPictures)], id)
	for _, left := range []string{
		more(len(doubts)-mostLines, "more doubt", "more doubts"),
		more(len(e.Tables)-mostLines, "more table", "more tables"),
		more(len(pictures)-mostPictures, "more picture", "more pictures"),
	} {
		g.Small = joined(g.Small, left)
	}
	return g
}

// fact returns the explanation in a line, which for causes only is their number.
func (s Story) fact(e diagnose.Explanation) string {
	if len(e.Fact) == 0 {
		return prose.Count(len(e.Causes), "cause", "causes")
	}
	return text(e.Fact)
}

// shared returns the doubts about all of several causes; a doubt about one is in its line.
func shared(all []diagnose.Cause) (out []diagnose.Phrase) {
	if len(all) < 2 {
		return nil
	}
	for _, d := range all[0].Doubts {
		if !slices.ContainsFunc(all[1:], func(c diagnose.Cause) bool { return !hasDoubt(c.Doubts, d) }) {
			out = append(out, d)
		}
	}
	return out
}

func hasDoubt(all []diagnose.Phrase, d diagnose.Phrase) bool {
	return slices.ContainsFunc(all, d.Same)
}

// lines returns the explanation's own lines, or else its causes' sentences, each with its own
// doubts. What explains several findings is described in full at the first of them.
func (s Story) lines(e diagnose.Explanation) []string {
	if e.Lines != nil {
		return texts(e.Lines)
	}
	var out []string
	told := map[blame][]string{} // what each explains too
	for _, c := range e.Causes {
		told[blameOf(c)] = append(told[blameOf(c)], s.Where(c))
	}
	left, ofAll := 0, shared(e.Causes)
	for _, c := range e.Causes {
		also := told[blameOf(c)]
		switch {
		case also == nil: // described already
		case len(out) == mostLines:
			left++
		default:
			c.Doubts = slices.DeleteFunc(slices.Clone(c.Doubts), func(d diagnose.Phrase) bool { return hasDoubt(ofAll, d) })
			out = append(out, s.line(c, also[1:]))
		}
		told[blameOf(c)] = nil
	}
	if left > 0 {
		out = append(out, more(left, "more cause", "more causes"))
	}
	return out
}

// blame identifies causes that blame the same.
type blame struct {
	kind    string
	subject diagnose.Subject
}

func blameOf(c diagnose.Cause) blame { return blame{c.Kind, c.Subject} }

// line returns a cause in full, with what else it explains, and how to open it.
func (s Story) line(c diagnose.Cause, also []string) string {
	text, look := s.sentence(c), s.look(c)
	if look != "" {
		text = s.described(c) // the command names the file
	}
	out := s.at(c, text) + "."
	for _, d := range texts(c.Doubts[:min(len(c.Doubts), mostLines)]) {
		out += " " + d
	}
	if len(also) > 0 {
		out += " The same explains " + prose.Few(also, 3) + "."
	}
	return out + look
}

// look says how to open a cause in the first file that shows it and can be opened.
func (s Story) look(c diagnose.Cause) string {
	if s.Open == nil {
		return ""
	}
	for _, l := range c.Evidence {
		if command := s.Open(l); command != "" {
			return " To look at it: " + wording.Sentence(command)
		}
	}
	return ""
}

// described returns a cause's sentence, and its basis.
func (s Story) described(c diagnose.Cause) string {
	out := text(c.Sentence)
	if basis := text(c.Basis); basis != "" {
		out += "; " + basis
	}
	return out
}

// sentence returns a cause in full, with where its evidence is.
func (s Story) sentence(c diagnose.Cause) string {
	out := s.described(c)
	for i, l := range c.Evidence {
		if i == 3 {
			break
		}
		out += "; evidence " + wording.Name(l.Digest[:min(len(l.Digest), 12)])
		if l.ToMS > 0 {
			out += " from " + wording.Quantity(l.FromMS, "ms", false) + " to " + wording.Quantity(l.ToMS, "ms", false)
		}
	}
	return out
}

// atFinding is how many causes are shown with a finding.
const atFinding = 3

// Of returns the sentences of the main causes of a finding, each cause once: of an event's metric
// in a scenario, where of is nil or returns true for the run.
func (s Story) Of(scenario, event, metric string, of func(run string) bool) []string {
	var found []diagnose.Cause
	for _, section := range s.Sections {
		for _, e := range section.Runs {
			for _, c := range e.Causes {
				if c.Scenario == scenario && c.Event == event && c.Metric == metric && (of == nil || of(c.Run)) {
					found = append(found, c)
				}
			}
		}
	}
	diagnose.Order(found)
	var out []string
	var told []diagnose.Subject
	for _, c := range found {
		if len(out) == atFinding {
			break
		}
		if !slices.Contains(told, c.Subject) {
			told = append(told, c.Subject)
			out = append(out, s.sentence(c))
		}
	}
	return out
}

// more counts what is left out, "" for nothing.
func more(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return "And " + prose.Count(n, one, many) + "; the JSON report has everything."
}

func joined(a, b string) string { return strings.TrimSpace(a + " " + b) }
