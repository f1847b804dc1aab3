package collect

import (
	"bytes"
	"context"
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

// readStats reads what the platform counted since; nil where it has nothing.
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
		return nil, nil
	}
	if d.Main() == nil {
		c.warnf("batterystats tells nothing: there are no wakelocks, no network bytes and no estimates by app")
		return nil, nil
	}
	return &d, nil
}
