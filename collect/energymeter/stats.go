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

// wasReset matches the answer of batterystats to a reset (BatteryStatsService).
var wasReset = regexp.MustCompile(`(?m)^Battery stats (and history )?reset\.`)

// resetStats resets the platform's statistics. If that fails, their numbers are not a repetition's.
func (m *Meter) resetStats(ctx context.Context) error {
	if !hasBatterystats(m.t.Facts) {
		return nil
	}
	out, err := m.t.Exec(ctx, "dumpsys", "batterystats", "--reset")
	if err != nil {
		return fmt.Errorf("reset batterystats: %w", err)
	}
	if m.statsKept = !wasReset.Match(out.Stdout); m.statsKept {
		m.t.Journal.Warnf("batterystats can't be reset (the device says %q), so that its counts are not a repetition's: there are no wakelocks, no network bytes and no estimates by app", target.FirstLine(out.Stdout))
	}
	return nil
}

// errStatsCut reports that batterystats did not print all of its counts.
var errStatsCut = errors.New("batterystats was cut short")

// readStats reads the platform's counts since the reset; nil if there are none. An incomplete dump
// is errStatsCut: joules computed without the missing part would be too low.
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
		m.t.Journal.Warnf("batterystats was cut short, so that it has no counts of a repetition: %s", d.Warnings[len(d.Warnings)-1].Text)
		return nil, errStatsCut
	}
	if d.Main() == nil {
		m.t.Journal.Warnf("batterystats has no counts: there are no wakelocks, no network bytes and no estimates by app")
		return nil, nil
	}
	return &d, nil
}
