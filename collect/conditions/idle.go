package conditions

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// The share of all CPUs that may be busy in an idle device, over this interval.
const (
	idleShare = 0.25
	idleOver  = 500 * time.Millisecond
	idleEvery = 2 * time.Second
)

const statFile = "cat /proc/stat"

// Idle waits until the CPUs have little to do, which takes a while after the start of the device,
// an installation or the compilation of an app. It warns if the device stays busy.
func (h *Holder) Idle(ctx context.Context) error {
	if h.Want.IdleWithin <= 0 {
		return nil
	}
	busy, known := 0.0, false
	idle, err := h.Target.Poll(ctx, idleEvery, h.Want.IdleWithin, func() (_ bool, err error) {
		busy, known, err = Busy(ctx, h.Target.Ask, h.Target.Clock)
		if known && busy > idleShare {
			h.Target.Journal.Report(journal.SetUp, 0, 0, fmt.Sprintf("waiting for the device to be idle (CPUs %.0f %% busy)", 100*busy))
		}
		return !known || busy <= idleShare, err
	})
	if err != nil {
		return fmt.Errorf("check whether the device is idle: %w", err)
	}
	if !idle {
		h.Report(device.Finding{
			Name: "idle", Detail: fmt.Sprintf("its CPUs were %.0f %% busy after %s of waiting", 100*busy, prose.Duration(h.Want.IdleWithin)),
			Hint: "see what runs on it: adb shell top -n 1",
		})
	}
	return h.Refused()
}

// Busy returns the share of all CPUs that is busy during the next half second. known is false if
// the device does not report it.
func Busy(ctx context.Context, ask func(ctx context.Context, line string) (device.Output, error), clock device.Clock) (share float64, known bool, err error) {
	var at [2]cpu
	for i := range at {
		if i > 0 {
			if err := clock.Sleep(ctx, idleOver); err != nil {
				return 0, false, err
			}
		}
		out, err := ask(ctx, statFile)
		if err != nil {
			return 0, false, err
		}
		if at[i], known = readCPU(string(out.Stdout)); !known {
			return 0, false, nil
		}
	}
	all := at[1].all - at[0].all
	if all <= 0 || at[1].busy < at[0].busy {
		return 0, false, nil
	}
	return float64(at[1].busy-at[0].busy) / float64(all), true, nil
}

// cpu is what all CPUs have done since the device's start, in ticks.
type cpu struct{ busy, all int64 }

// cpuLine matches user, nice, system, idle, iowait, irq, softirq and steal (proc(5)); the remaining
// columns are contained in user.
var cpuLine = regexp.MustCompile(`(?m)^cpu +((?:\d{1,15} ){7}\d{1,15})`)

func readCPU(text string) (c cpu, known bool) {
	m := cpuLine.FindStringSubmatch(text)
	if m == nil {
		return c, false
	}
	for i, word := range strings.Fields(m[1]) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return c, false
		}
		c.all += n
		if i != 3 && i != 4 { // neither idle nor waiting for a disk
			c.busy += n
		}
	}
	return c, true
}
