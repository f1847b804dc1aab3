package collect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/properties"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// readContext notes what kind of device this is (paper, section 5.2.1).
func (c *collector) readContext(ctx context.Context) error {
	read, err := properties.Read(ctx, c.target, c.job.App.Package, c.job.Network)
	if err != nil {
		return fmt.Errorf("read the context of the run: %w", err)
	}
	if read.TellsDisplay {
		c.target.Facts.Display = read.Display
	}
	if c.run.App.Version == "" { // the user gives none
		c.run.App.Version = journal.Line(read.Version)
	}
	read.Properties[devctx.Version] = c.run.App.Version
	c.noteStillness(read.Properties)
	for name, value := range c.job.Extra {
		if strings.TrimSpace(value) != "" {
			read.Properties[name] = value
		}
	}
	// The user's own first, where there are too many; each kind in order, so that equal
	// runs have equal contexts.
	names := append(slices.Sorted(maps.Keys(c.job.Extra)), slices.Sorted(maps.Keys(read.Properties))...)
	for _, name := range names {
		c.setContext(name, read.Properties[name])
	}
	return nil
}

// noteStillness notes what is not as users have it, and only then: earlier runs of phones
// that are as ever are of the same context.
func (c *collector) noteStillness(into map[string]string) {
	if c.still.Fixed {
		into[devctx.Performance] = "fixed"
	}
	if animations := c.still.Scales.String(); c.still.Told && animations != "" {
		into[devctx.Animations] = animations
		c.journal.Warnf("the device's animations are not as users have them (%s): their frames are part of what is measured, and the run's context says animations: %s", animations, animations)
	}
}

func (c *collector) setContext(name, value string) {
	if value = strings.TrimSpace(journal.Line(value)); value == "" {
		return
	}
	if _, known := c.run.Context[name]; !known && len(c.run.Context) >= run.MaxContext {
		c.journal.Warnf("the run has %d properties of its context, and no room for %s", run.MaxContext, journal.Line(name))
		return
	}
	c.run.Context[name] = value
}
