// Package causes lays out what explains a finding, whatever kind of cause it is:
// explanations and causes of package diagnose become the facts, sections, pictures
// and problems of a document.
//
// It owns how a phrase becomes text and where a cause stands: next to the finding
// that it explains, that which explains most first. It knows no kind of cause, so
// that a new one is nothing here; what draws a new kind of picture is the one thing
// to add. It decides nothing and escapes for no language: its text is plain and fit
// for one line, as all text of a document is.
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
	// Title names the run of an explanation where there are several; Where names what
	// a cause explains: "E2: frames rendered".
	Title func(diagnose.Explanation) string
	Where func(diagnose.Cause) string
	// Open is the command that opens a kept file where a cause shows, "" for none; nil
	// where no file is kept.
	Open func(diagnose.Link) string
}

// title names an explanation's run, "" where it is the only one.
func (s Story) title(section diagnose.Section, e diagnose.Explanation) string {
	if len(section.Runs) < 2 {
		return ""
	}
	return s.Title(e)
}

// Facts are what each section comes to, in a line, and what explains most.
func (s Story) Facts() []document.Fact {
	var out []document.Fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, document.Fact{Label: label, Text: text})
		}
	}
	for _, section := range s.Sections {
		first := section.Runs[0]
		fact := text(first.Fact)
		if n := len(section.Runs) - 1; n > 0 && fact != "" {
			fact = s.Title(first) + ": " + fact + "; " + prose.Count(n, "more run has", "more runs have") + " " + section.Has + " too"
		}
		add(section.Label, fact)
		add(section.Line, s.lead(first))
	}
	return out
}

// lead is what explains most; of causes alone it says what they explain.
func (s Story) lead(e diagnose.Explanation) string {
	if e.Lines == nil && len(e.Causes) > 0 {
		return s.at(e.Causes[0], text(e.Lead))
	}
	return text(e.Lead)
}

// at is what is said of a cause, with where it stands before it; where that is nowhere, it
// is a sentence.
func (s Story) at(c diagnose.Cause, text string) string {
	if where := s.Where(c); where != "" {
		return where + ": " + text
	}
	return wording.UpperFirst(text)
}

// How much of the causes a report shows.
const (
	mostLines  = 12 // of one explanation, and as many doubts and tables
	pageRuns   = 8  // with pictures
	textRuns   = 10
	pageRows   = 30
	openRows   = 10  // of a table that stands open on a page
	mainRows   = 100 // of a table that matters most
	foldedRows = 25  // of that in a comment
)

// Groups are the sections of a document, one for each family of causes.
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

// group is one explanation with all that it rests on. A page's pictures alone need
// their names, and a page draws few runs.
func (s Story) group(e diagnose.Explanation, title, id string) document.Group {
	doubts := e.Doubts
	if e.Lines == nil { // a doubt about one cause stands in its line
		ofAll := shared(e.Causes)
		doubts = slices.DeleteFunc(slices.Clone(doubts), func(d diagnose.Phrase) bool {
			return !hasDoubt(ofAll, d) && slices.ContainsFunc(e.Causes, func(c diagnose.Cause) bool { return hasDoubt(c.Doubts, d) })
		})
	}
	g := document.Group{Title: title, Fact: s.fact(e), Lines: s.lines(e), Doubts: texts(doubts[:min(len(doubts), mostLines)])}
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

// fact is the explanation in a line, which of causes alone is how many there are.
func (s Story) fact(e diagnose.Explanation) string {
	if len(e.Fact) == 0 {
		return prose.Count(len(e.Causes), "cause", "causes")
	}
	return text(e.Fact)
}

// shared are the doubts about all of several causes; a doubt about one stands in its line.
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

// lines are those that the explanation brings, or else its causes' sentences, each with what is
// to be held against it alone. What explains several findings is told in full at the first of
// them.
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
		case also == nil: // told
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

// blame is what one cause has in common with another that blames the same.
type blame struct {
	kind    string
	subject diagnose.Subject
}

func blameOf(c diagnose.Cause) blame { return blame{c.Kind, c.Subject} }

// line is a cause in full, with what else it explains, and how to look at it.
func (s Story) line(c diagnose.Cause, also []string) string {
	text, look := s.sentence(c), s.look(c)
	if look != "" {
		text = s.told(c) // the command names the file
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

// look says how to look at a cause in the first file that shows it and can be opened.
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

// told is what a cause says of itself, and what that rests on.
func (s Story) told(c diagnose.Cause) string {
	out := text(c.Sentence)
	if basis := text(c.Basis); basis != "" {
		out += "; " + basis
	}
	return out
}

// sentence is a cause in full: as it is told, and where the evidence is.
func (s Story) sentence(c diagnose.Cause) string {
	out := s.told(c)
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

// atFinding is how many causes stand at a finding.
const atFinding = 3

// Of are the sentences of what explains a finding most, each cause once: of an event's
// metric in a scenario, where of is nil or reports that the run is one of those.
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
