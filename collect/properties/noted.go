package properties

import (
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/run"
)

// Noted is the context of a run so far.
type Noted struct {
	Values  map[string]string // never nil
	Journal *journal.Journal
}

// Set sets a property, replacing an earlier value. A property without a value is skipped, and one
// for which the run has no room is a warning.
func (n *Noted) Set(name, value string) {
	if value = strings.TrimSpace(journal.Line(value)); value == "" {
		return
	}
	if _, known := n.Values[name]; !known && len(n.Values) >= run.MaxContext {
		n.Journal.Warnf("the run has %d properties of its context, and no room for %s", run.MaxContext, journal.Line(name))
		return
	}
	n.Values[name] = value
}
