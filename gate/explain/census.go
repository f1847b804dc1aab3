package explain

import (
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// Census is the history that the runs of a check were compared with: which
// accepted runs it has, each once, and their contexts.
type Census struct {
	*devctx.Groups
	context map[string]int32 // by id
}

// NewCensus counts nothing yet, by the properties in use; nil means all but those set
// aside.
func NewCensus(use []string) Census {
	return Census{devctx.NewGroups(use), map[string]int32{}}
}

// Count takes in the runs that a run was compared with. Each counts once, however many
// were compared with it.
func (c *Census) Count(refs []run.Summary) {
	c.Forget() // maps may have taken the place of those of other references
	for _, r := range refs {
		if _, known := c.context[r.ID]; !known {
			c.context[r.ID] = int32(c.Of(r.Context))
		}
	}
}
