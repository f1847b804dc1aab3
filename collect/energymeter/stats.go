package energymeter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/trace/batterystats"
)

// hasBatterystats: before Android 5 its numbers are of another kind.
func hasBatterystats(f target.Facts) bool { return f.API >= 21 }

// wasReset is what batterystats says when it has begun anew (BatteryStatsService).
var wasReset = regexp.MustCompile(`(?m)^Battery stats (and history )?reset\.`)

// resetStats begins the platform's statistics anew. Where they don't, what they
// tell is not of a repetition.
func (m *Meter) resetStats(ctx context.Context) error {
	if !hasBatterystats(m.t.Facts) {
		return nil
	}
	out, err := m.t.Exec(ctx, "dumpsys", "batterystats", "--reset")
	if err != nil {
		return fmt.Errorf("reset batterystats: %w", err)
	}
	if m.statsKept = !wasReset.Match(out.Stdout); m.statsKept {
		m.t.Journal.Warnf("batterystats can't be reset (the device says %q), so that it tells nothing of a repetition: there are no wakelocks, no network bytes and no estimates by app", target.FirstLine(out.Stdout))
	}
	return nil
}

// errStatsCut says that batterystats did not print all that it counted.
var errStatsCut = errors.New("batterystats was cut short")

// readStats reads what the platform counted since; nil where it has nothing. A dump
// that is not whole is errStatsCut: without what it lacks, joules that are made of it
// would be too low.
func (m *Meter) readStats(ctx context.Context) (*batterystats.Dump, error) {
	if !hasBatterystats(m.t.Facts) || m.statsKept {
		return nil, nil
	}
	out, err := m.t.Exec(ctx, "dumpsys", "batterystats", "-c")
	if err != nil {
		return nil, fmt.Errorf("read batterystats: %w", err)
	}
	d, err := batterystats.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return nil, fmt.Errorf("read batterystats: %w", err)
	}
	if d.Cut {
		m.t.Journal.Warnf("batterystats was cut short, so that it tells nothing of a repetition: %s", d.Warnings[len(d.Warnings)-1].Text)
		return nil, errStatsCut
	}
	if d.Main() == nil {
		m.t.Journal.Warnf("batterystats tells nothing: there are no wakelocks, no network bytes and no estimates by app")
		return nil, nil
	}
	return &d, nil
}
