package html

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// section is one section of the page: one of its fields is set.
type section struct {
	Table   *table
	List    *shelf[item]
	Gallery *shelf[picture]
	Cards   *cards
	Groups  *groups
}

// opening is the beginning of every section.
type opening struct {
	ID, Title string
	Guide     template.HTML
}

// opening returns the section's beginning.
func (s section) opening() opening {
	switch {
	case s.Table != nil:
		return s.Table.opening
	case s.List != nil:
		return s.List.opening
	case s.Gallery != nil:
		return s.Gallery.opening
	case s.Cards != nil:
		return s.Cards.opening
	case s.Groups != nil:
		return s.Groups.opening
	}
	return opening{}
}

// shelf is a list whose first entries are unfolded, further ones folded, and the rest only counted.
type shelf[T any] struct {
	opening
	Open, Folded []T
	FoldedTitle  string // "7 more rules"
	Rest         string // "And 30 more rules; …", "" where nothing is left out
	Graph        *picture
}

// item is a sentence with its tone.
type item struct{ Class, Mark, Text, Link string }

// picture is a figure in the two widths that the page chooses from.
type picture struct {
	ID              string
	Caption, Detail string
	Wide, Narrow    template.HTML
}

// sections returns the document's sections that are not empty, folded ones last.
func sections(all []document.Section) []section {
	var open, folded []section
	ids, shown := map[string]int{}, shownIn(all)
	for _, s := range all {
		if ids[s.ID]++; ids[s.ID] > 1 && s.ID != "" { // a kind of cause may have the name of a section
			s.ID += strconv.Itoa(ids[s.ID])
		}
		made, ok := newSection(s)
		if ok && made.Table != nil {
			made.Table.link(shown)
		}
		switch {
		case !ok:
		case s.Folded:
			folded = append(folded, made)
		default:
			open = append(open, made)
		}
	}
	return slices.Concat(open, folded)
}

// shownIn returns the first figure of each thing that a figure shows.
func shownIn(all []document.Section) map[string]string {
	out := map[string]string{}
	for _, s := range all {
		var figures []document.Figure
		switch body := s.Body.(type) {
		case *document.Gallery:
			figures = body.Figures
		case *document.Groups:
			for _, g := range body.Groups[:body.Rooms.Page.MostOf(len(body.Groups))] {
				figures = append(figures, g.Figures...)
			}
		}
		for _, f := range figures {
			if _, known := out[f.Of]; !known && f.Of != "" {
				out[f.Of] = f.ID
			}
		}
	}
	return out
}

func newSection(s document.Section) (section, bool) {
	head := opening{s.ID, s.Title.Page, paragraphs(s.Guide)}
	switch body := s.Body.(type) {
	case *document.Table:
		if len(body.Rows) == 0 {
			return section{}, false
		}
		return section{Table: newTable(head, body, s.Folded)}, true
	case *document.List:
		return section{List: newList(head, body)}, len(body.Items) > 0
	case *document.Gallery:
		return section{Gallery: newGallery(head, body)}, len(body.Figures) > 0
	case *document.Cards:
		return section{Cards: newCards(head, body)}, len(body.Cards) > 0
	case *document.Groups:
		return section{Groups: newGroups(head, body)}, len(body.Groups) > 0
	}
	return section{}, false
}

// paragraphs returns text of our own as the text of an element.
func paragraphs(s string) template.HTML {
	return template.HTML(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)) //nolint:gosec // escaped
}

func newList(head opening, l *document.List) *shelf[item] {
	room := l.Rooms.Page
	var all []item
	for _, x := range l.Items[:room.MostOf(len(l.Items))] {
		mark := toneMark(x.Tone)
		if x.Tone == document.Neutral {
			mark = "●"
		}
		all = append(all, item{toneClass(x.Tone), mark, x.Text, x.Links.Page})
	}
	open := room.OpenOf(len(all))
	s := &shelf[item]{
		opening: head, Open: all[:open], Folded: all[open:], FoldedTitle: l.Noun.More(len(all) - open),
		Rest: more(l.Noun.More, max(l.Total, len(l.Items)), len(all)),
	}
	if l.Graph != nil {
		s.Graph = new(draw(*l.Graph))
	}
	return s
}

func newGallery(head opening, g *document.Gallery) *shelf[picture] {
	all := make([]picture, len(g.Figures))
	for i, f := range g.Figures {
		all[i] = draw(f)
	}
	open := g.Rooms.Page.OpenOf(len(all))
	return &shelf[picture]{opening: head, Open: all[:open], Folded: all[open:], FoldedTitle: g.Noun.More(len(all) - open), Rest: g.Rest}
}

// draw draws a figure for wide and for narrow pages.
func draw(f document.Figure) picture {
	return picture{
		ID: f.ID, Caption: f.Caption, Detail: f.Detail,
		Wide:   template.HTML(f.Picture.Draw(f.ID+"w", "wide", figure.Wide)),     //nolint:gosec // pictures escape every text
		Narrow: template.HTML(f.Picture.Draw(f.ID+"n", "narrow", figure.Narrow)), //nolint:gosec // pictures escape every text
	}
}

// cards are the runs, each with what it was compared with.
type cards struct {
	opening
	Cards []card
	Rest  string
}

type card struct {
	document.Card
	Mark, Base, Rest string
	Open             bool
	Grid             *grid
}

// maxListed limits the warnings of one card, and maxFacts its facts.
const (
	maxListed = 20
	maxFacts  = 40
)

func newCards(head opening, c *document.Cards) *cards {
	all := gravestFirst(c.Cards)
	out := &cards{opening: head}
	for _, x := range all[:c.Rooms.Page.MostOf(len(all))] {
		out.Cards = append(out.Cards, newCard(x, len(all) == 1))
	}
	out.Rest = more(c.Noun.More, len(all), len(out.Cards))
	return out
}

func newCard(c document.Card, open bool) card {
	c.Outcome = c.Outcome.Known()
	c.Facts = c.Facts[:min(len(c.Facts), maxFacts)]
	c.Warnings = c.Warnings[:min(len(c.Warnings), maxListed)]
	out := card{Card: c, Mark: outcomeMark(c.Outcome), Base: wording.UpperFirst(c.Base) + ".", Open: open}
	if t := c.Table; t != nil {
		if len(t.Rows) > 0 {
			out.Grid = new(newGrid(t, t.Rows))
		}
		out.Rest = more(t.Noun.More, t.Count(), len(t.Rows))
	}
	return out
}

// gravestFirst sorts cards by what a reader should see first.
func gravestFirst(all []document.Card) []document.Card {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b document.Card) int {
		return b.Outcome.Gravity() - a.Outcome.Gravity()
	})
	return out
}

// groups are explanations, each with its figures and tables.
type groups struct {
	opening
	Unfold bool // something changed
	Groups []group
	Rest   string
}

type group struct {
	document.Group
	Figures []picture
	Tables  []*table
}

func newGroups(head opening, g *document.Groups) *groups {
	out := &groups{opening: head, Unfold: g.Open}
	for _, x := range g.Groups[:g.Rooms.Page.MostOf(len(g.Groups))] {
		shown := group{Group: x}
		for _, f := range x.Figures {
			shown.Figures = append(shown.Figures, draw(f))
		}
		for _, s := range x.Tables {
			if t, ok := s.Body.(*document.Table); ok && len(t.Rows) > 0 {
				shown.Tables = append(shown.Tables, newTable(opening{Title: s.Title.Page}, t, s.Folded))
			}
		}
		out.Groups = append(out.Groups, shown)
	}
	out.Rest = more(g.Noun.More, len(g.Groups), len(out.Groups))
	return out
}
