package document

import (
	"github.com/apkgate/apkgate/internal/prose"
)

// Section is a part of a document under a title.
type Section struct {
	ID    string // its name within a page; "" for none
	Title Titles
	Guide string // how to read it, where there is room for that: on a page
	// Folded sections are for those who want everything, and come last.
	Folded bool
	// Detail is left out of a comment.
	Detail bool
	Body   Body
}

// Titles are the titles of a section in each place, "" for none.
type Titles struct{ Terminal, Comment, Page string }

// Everywhere returns a title that is the same in all places.
func Everywhere(title string) Titles { return Titles{title, title, title} }

// Body is the content of a section: *Table, *List, *Gallery, *Cards or *Groups.
type Body interface{ body() }

func (*Table) body()   {}
func (*List) body()    {}
func (*Gallery) body() {}
func (*Cards) body()   {}
func (*Groups) body()  {}

// Rooms are how much of a section fits in each place.
type Rooms struct{ Terminal, Comment, Page Room }

// Room is how many entries are unfolded, and how many are shown in total; 0 is all.
type Room struct{ Open, Most int }

// OpenOf returns how many of n entries are unfolded, and MostOf how many are shown.
func (r Room) OpenOf(n int) int {
	if r.Open == 0 {
		return r.MostOf(n)
	}
	return min(n, r.Open)
}

// MostOf returns how many of n entries are shown.
func (r Room) MostOf(n int) int {
	if r.Most == 0 {
		return n
	}
	return min(n, r.Most)
}

// Noun is the name of an entry where entries are counted: "row", "rows".
type Noun struct{ One, Many string }

// Count returns "7 rows".
func (n Noun) Count(k int) string { return prose.Count(k, n.One, n.Many) }

// More returns "7 more rows".
func (n Noun) More(k int) string { return prose.Count(k, "more "+n.One, "more "+n.Many) }

// List is a list of sentences.
type List struct {
	Items []Item
	Total int // total number of items, where there are more than Items
	Noun  Noun
	Rooms Rooms
	Graph *Figure // the same as a figure; nil for none
}

// Item is a sentence of a list.
type Item struct {
	Tone  Tone
	Text  string
	Links Links
}

// Links are the targets of a text, "" for none: on a page an address or a path relative to the
// page, in a comment an address.
type Links struct{ Page, Comment string }

// Gallery is figures for a place that can show them.
type Gallery struct {
	Figures []Figure
	Noun    Noun
	Rooms   Rooms
	Rest    string // what is not drawn
}

// Figure is a figure with its caption.
type Figure struct {
	ID              string // its name within a page
	Caption, Detail string
	Of              string // what it shows, as of a Row; "" for none
	Picture         Picture
}

// Picture is drawn as one SVG element of a width in pixels, every text in it escaped. id is its
// name within a page; class distinguishes variants of one figure.
type Picture interface {
	Draw(id, class string, width float64) string
}

// Cards describe several things of one kind, each with everything known about it: the runs of a
// verdict.
type Cards struct {
	Cards []Card
	Heads []string // of a table of them: name, title, outcome, text, base
	Noun  Noun
	Rooms Rooms
}

// Card is one thing, such as a run.
type Card struct {
	Outcome   Outcome
	Word      string // the outcome in words
	Title     string // the device
	Name      string // the run's ID
	Text      string // the reason for the outcome
	Next      string // what to do, "" for nothing
	Base      string // what it was compared with, and BaseBrief the same in a word or two
	BaseBrief string
	Facts     []Fact
	Labels    string
	Warnings  []string
	Table     *Table
}

// Groups are explanations, each with its evidence, most important first: where the energy of a run
// went, or another cause.
type Groups struct {
	Groups []Group
	Open   bool // something in them deserves more than a line
	Noun   Noun
	Rooms  Rooms
}

// Group is one explanation.
type Group struct {
	Title   string // its subject, "" where there is only one
	Fact    string // a summary in a line
	Lines   []string
	Doubts  []string // reasons to doubt it
	More    []Item   // where there is more, each with its links
	Small   string   // small print
	Figures []Figure
	Tables  []Section // of tables
}

// Worded is a Picture that also has a text form: lines of at most so many columns, aligned in
// columns. 0 is any width. An empty line separates its parts, the most important one first.
type Worded interface {
	Text(width int) []string
}
