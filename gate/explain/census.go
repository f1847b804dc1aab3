package explain

import (
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Census counts the accepted runs that the runs of a check were compared with, each once, by
// context.
type Census struct {
	*devctx.Groups
	context map[string]int32 // by id
}

// NewCensus returns an empty census by the properties in use; nil means all but those set aside.
func NewCensus(use []string) Census {
	return Census{devctx.NewGroups(use), map[string]int32{}}
}

// Count adds the runs that a run was compared with. Each counts once, however many were compared
// with it.
func (c *Census) Count(refs []run.Summary) {
	c.Forget() // maps may have taken the place of those of other references
	for _, r := range refs {
		if _, known := c.context[r.ID]; !known {
			c.context[r.ID] = int32(c.Of(r.Context))
		}
	}
}

// Accepted returns the runs of the history, one entry for each context. A run that was also checked
// counts by its own outcome, and is left out.
func (c Census) Accepted(checked []gate.RunVerdict) []gate.Accepted {
	runs := make([]int, len(c.Distinct()))
	for _, n := range c.context {
		runs[n]++
	}
	out := map[string]bool{}
	for _, v := range checked {
		if n, known := c.context[v.ID]; known && !out[v.ID] {
			runs[n]--
			out[v.ID] = true
		}
	}
	var accepted []gate.Accepted
	for i, context := range c.Distinct() {
		if runs[i] > 0 {
			accepted = append(accepted, gate.Accepted{Context: context, Runs: runs[i]})
		}
	}
	return accepted
}
