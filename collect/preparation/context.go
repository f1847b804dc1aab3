package preparation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/properties"
	devctx "github.com/apkgate/apkgate/context"
)

// ReadContext records what kind of device this is (paper, section 5.2.1). It returns the app's
// version: the given one unless that is "".
func (p *Preparation) ReadContext(ctx context.Context, version string) (string, error) {
	read, err := properties.Read(ctx, p.Target, p.App.Package, p.Network)
	if err != nil {
		return version, fmt.Errorf("read the context of the run: %w", err)
	}
	if read.TellsDisplay {
		p.Target.Facts.Display = read.Display
	}
	version = cmp.Or(version, journal.Line(read.Version))
	read.Properties[devctx.Version] = version
	p.noteConditions(read.Properties)
	for name, value := range p.Extra {
		if strings.TrimSpace(value) != "" {
			read.Properties[name] = value
		}
	}
	// The user's own properties come first where there are too many; each kind is sorted, so that
	// equal runs have equal contexts.
	names := append(slices.Sorted(maps.Keys(p.Extra)), slices.Sorted(maps.Keys(read.Properties))...)
	for _, name := range names {
		p.Context.Set(name, read.Properties[name])
	}
	return version, nil
}

// noteConditions records the conditions that differ from a user's phone, and only those: the
// context of unchanged phones stays equal to that of earlier runs.
func (p *Preparation) noteConditions(into map[string]string) {
	into[devctx.Load] = p.Scenario.Load.String()
	if p.Conditions.Fixed {
		into[devctx.Performance] = "fixed"
	}
	if animations := p.Conditions.Scales.String(); p.Conditions.ScalesKnown && animations != "" {
		into[devctx.Animations] = animations
		p.Target.Journal.Warnf("the device's animations are not as users have them (%s): their frames are part of what is measured, and the run's context says animations: %s", animations, animations)
	}
}
