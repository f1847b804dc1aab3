package collect

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apkgate/apkgate/trace/batterystats"
)

// hasBatterystats: before Android 5 its numbers are of another kind.
func (f facts) hasBatterystats() bool { return f.api >= 21 }

// resetStats begins the platform's statistics anew.
func (c *collector) resetStats(ctx context.Context) error {
	if !c.facts.hasBatterystats() {
		return nil
	}
	if err := c.try(ctx, "dumpsys", "batterystats", "--reset"); err != nil {
		return fmt.Errorf("reset batterystats: %w", err)
	}
	return nil
}

// readStats reads what the platform counted since; nil where it has nothing.
func (c *collector) readStats(ctx context.Context) (*batterystats.Dump, error) {
	if !c.facts.hasBatterystats() {
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
	if d.Main() == nil {
		c.warnf("batterystats tells nothing: there are no wakelocks, no network bytes and no estimates by app")
		return nil, nil
	}
	return &d, nil
}
