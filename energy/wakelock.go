package energy

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/batterystats"
)

// Wakelocks returns the wakelocks that one UID held on battery, the longest first.
//
// Since Android 5 the time of a partial wakelock is counted only while the screen is off, so it is
// exact. Before, the screen was off for at least the time that remains after all the time with the
// screen on is subtracted. A full wakelock keeps the screen on.
func Wakelocks(p *batterystats.Period, uid int) []run.Wakelock {
	if p == nil {
		return nil
	}
	var out []run.Wakelock
	for _, w := range p.Wakelocks {
		if w.UID != uid || w.Kind == batterystats.Kernel {
			continue
		}
		out = append(out, run.Wakelock{Name: w.Name, HeldMS: w.HeldMS, ScreenOffMS: screenOff(w, p)})
	}
	slices.SortStableFunc(out, func(a, b run.Wakelock) int { return cmp.Compare(b.HeldMS, a.HeldMS) })
	return out[:min(len(out), run.MaxWakelocks)]
}

func screenOff(w batterystats.Wakelock, p *batterystats.Period) float64 {
	switch {
	case w.Kind != batterystats.Partial:
		return 0
	case w.ScreenOff:
		return w.HeldMS
	}
	return max(w.HeldMS-p.Stated["screen_on_ms"], 0)
}

// AppMetrics returns the metrics of one UID in batterystats: wakelock.time_ms,
// wakelock.screen_off_ms, network.rx_bytes, network.tx_bytes. Those not stated are absent; a UID
// that is not listed used nothing.
func AppMetrics(p *batterystats.Period, uid int) map[string]float64 {
	if p == nil {
		return nil
	}
	stated := map[string]float64{}
	for _, u := range p.UIDs {
		if u.UID == uid {
			stated = u.Stated
		}
	}
	held, off, longest := 0.0, 0.0, 0.0
	for _, w := range Wakelocks(p, uid) {
		held += w.HeldMS
		off += w.ScreenOffMS
		longest = max(longest, w.HeldMS)
	}
	// Wakelocks may be held at the same time: together they last no longer than the time on
	// battery, or than the stated total.
	held = atMost(held, p.Stated, "on_battery_ms")
	if all, ok := stated["wakelock_held_ms"]; ok {
		held = max(all, longest)
	}
	off = min(atMost(off, p.Stated, "screen_off_ms"), held)
	return map[string]float64{
		"wakelock.time_ms":       held,
		"wakelock.screen_off_ms": off,
		"network.rx_bytes":       stated["mobile_rx_bytes"] + stated["wifi_rx_bytes"] + stated["rx_bytes"],
		"network.tx_bytes":       stated["mobile_tx_bytes"] + stated["wifi_tx_bytes"] + stated["tx_bytes"],
	}
}

// atMost limits a value to the one stated under a name, if any.
func atMost(v float64, stated map[string]float64, name string) float64 {
	if limit, ok := stated[name]; ok {
		return min(v, limit)
	}
	return v
}
