package document

import (
	"github.com/apkgate/apkgate/internal/prose"
)

// Section is a part of a document under a title.
type Section struct {
	ID    string // names it within a page; "" for none
	Title Titles
	Guide string // how to read it, where there is room for that: on a page
	// Folded sections are of use to those who want it all, and come last.
	Folded bool
	// Detail is left out of a comment.
	Detail bool
	Body   Body
}

// Titles are what heads a section in each place, "" where nothing does.
type Titles struct{ Terminal, Comment, Page string }

// Everywhere is a title that is the same in all places.
func Everywhere(title string) Titles { return Titles{title, title, title} }

// Body is what a section is made of: *Table, *List, *Gallery, *Cards or *Groups.
type Body interface{ body() }

func (*Table) body()   {}
func (*List) body()    {}
func (*Gallery) body() {}
func (*Cards) body()   {}
func (*Groups) body()  {}

// Rooms are how much of a section each place has room for.
type Rooms struct{ Terminal, Comment, Page Room }

// Room is how many entries stand open, and how many are shown in all; 0 is as many
// as there are.
type Room struct{ Open, Most int }

// OpenOf is how many of n entries stand open, and MostOf how many are shown.
func (r Room) OpenOf(n int) int {
	if r.Open == 0 {
		return r.MostOf(n)
	}
	return min(n, r.Open)
}

// MostOf is how many of n entries are shown.
func (r Room) MostOf(n int) int {
	if r.Most == 0 {
		return n
	}
	return min(n, r.Most)
}

// Noun is what an entry is called where entries are counted: "row", "rows".
type Noun struct{ One, Many string }

// Count is "7 rows".
func (n Noun) Count(k int) string { return prose.Count(k, n.One, n.Many) }

// More is "7 more rows".
func (n Noun) More(k int) string { return prose.Count(k, "more "+n.One, "more "+n.Many) }

// List is a list of sentences.
type List struct {
	Items []Item
	Total int // items that there would be, where there are more than Items
	Noun  Noun
	Rooms Rooms
	Graph *Figure // the same as a picture; nil for none
}

// Item is a sentence of a list.
type Item struct {
	Tone  Tone
	Text  string
	Links Links
}

// Links are where a text leads to, "" for nowhere: on a page an address or a path from
// where the page lies, in a comment an address.
type Links struct{ Page, Comment string }

// Gallery is pictures for a place that can show them.
type Gallery struct {
	Figures []Figure
	Noun    Noun
	Rooms   Rooms
	Rest    string // what is not drawn
}

// Figure is a picture with its caption.
type Figure struct {
	ID              string // names it within a page
	Caption, Detail string
	Picture         Picture
}

// Picture is drawn as one SVG element of a width in pixels, every text in it
// escaped. id names it within a page; class tells variants of one picture apart.
type Picture interface {
	Draw(id, class string, width float64) string
}

// Cards tell of several things of one kind, each with all that is known of it:
// the runs of a verdict.
type Cards struct {
	Cards []Card
	Heads []string // of a table of them: name, title, outcome, text, base
	Noun  Noun
	Rooms Rooms
}

// Card is one thing, such as a run.
type Card struct {
	Outcome   Outcome
	Word      string // the outcome, said
	Title     string // the device
	Name      string // the run's ID
	Text      string // why the outcome is what it is
	Next      string // what to do, "" for nothing
	Base      string // what it was compared with, and BaseBrief that in a word or two
	BaseBrief string
	Facts     []Fact
	Labels    string
	Warnings  []string
	Table     *Table
}

// Groups are explanations, each with what it rests on, the one that matters most
// first: where the energy of a run went, or another cause.
type Groups struct {
	Groups []Group
	Open   bool // something in them is worth more than a line
	Noun   Noun
	Rooms  Rooms
}

// Group is one explanation.
type Group struct {
	Title   string // what it is about, "" where there is only one
	Fact    string // it in a line
	Lines   []string
	Doubts  []string // what to hold against it
	Small   string   // small print
	Figures []Figure
	Tables  []Section // of tables
}

// Worded is a Picture that a place without pictures can show too: as lines of at most
// so many columns, in which columns stand below each other. 0 is any width. An empty line
// stands between its parts, that which matters most being the first.
type Worded interface {
	Text(width int) []string
}
