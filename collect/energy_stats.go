package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/apkgate/apkgate/trace/batterystats"
)

// hasBatterystats: before Android 5 its numbers are of another kind.
func (f facts) hasBatterystats() bool { return f.api >= 21 }

// wasReset is what batterystats says when it has begun anew (BatteryStatsService).
var wasReset = regexp.MustCompile(`(?m)^Battery stats (and history )?reset\.`)

// resetStats begins the platform's statistics anew. Where they don't, what they
// tell is not of a repetition.
func (c *collector) resetStats(ctx context.Context) error {
	if !c.facts.hasBatterystats() {
		return nil
	}
	out, err := c.exec(ctx, "dumpsys", "batterystats", "--reset")
	if err != nil {
		return fmt.Errorf("reset batterystats: %w", err)
	}
	if c.meter.statsKept = !wasReset.Match(out.Stdout); c.meter.statsKept {
		c.warnf("batterystats can't be reset (the device says %q), so that it tells nothing of a repetition: there are no wakelocks, no network bytes and no estimates by app", firstLine(out.Stdout))
	}
	return nil
}

// errStatsCut says that batterystats did not print all that it counted.
var errStatsCut = errors.New("batterystats was cut short")

// readStats reads what the platform counted since; nil where it has nothing. A dump
// that is not whole is errStatsCut: without what it lacks, joules that are made of it
// would be too low.
func (c *collector) readStats(ctx context.Context) (*batterystats.Dump, error) {
	if !c.facts.hasBatterystats() || c.meter.statsKept {
		return nil, nil
	}
	out, err := c.exec(ctx, "dumpsys", "batterystats", "-c")
	if err != nil {
		return nil, fmt.Errorf("read batterystats: %w", err)
	}
	d, err := batterystats.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return nil, fmt.Errorf("read batterystats: %w", err)
	}
	if d.Cut {
		c.warnf("batterystats was cut short, so that it tells nothing of a repetition: %s", d.Warnings[len(d.Warnings)-1].Text)
		return nil, errStatsCut
	}
	if d.Main() == nil {
		c.warnf("batterystats tells nothing: there are no wakelocks, no network bytes and no estimates by app")
		return nil, nil
	}
	return &d, nil
}
