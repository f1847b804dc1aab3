package calls

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
)

// The kinds of causes that this package makes.
const (
	NewKind    = "calls.new"    // a method that was not called before
	MoreKind   = "calls.more"   // one that is called more often
	LongerKind = "calls.longer" // one that takes longer
	HeldKind   = "calls.held"   // one that kept the main thread
	KnownKind  = "calls.known"  // a problem that the team knows
)

// firstRank is the rank of the first kind.
const firstRank = 60

// causeKind has everything specific to a kind: its words.
type causeKind struct {
	name   string
	title  string // after the method
	status string // in a table
	says   func(s suspect) diagnose.Phrase
}

// kinds are all kinds, in the order that applies where it is unknown which explains more.
var kinds = []causeKind{
	{name: KnownKind},
	{HeldKind, " keeps the main thread", "keeps the main thread", suspect.holds},
	{NewKind, " is new", "new", suspect.isNew},
	{MoreKind, " is called more often", "more often", suspect.isOftener},
	{LongerKind, " takes longer", "longer", suspect.isLonger},
}

var _ = func() []string {
	var all []diagnose.Kind
	for i, k := range kinds {
		all = append(all, diagnose.Kind{Family: Family, Name: k.name, Rank: firstRank + i, Alert: k.name != KnownKind}) // whose subject is no code
	}
	return diagnose.Register(all...)
}()

func kindOf(name string) causeKind {
	return kinds[slices.IndexFunc(kinds, func(k causeKind) bool { return k.name == name })]
}
