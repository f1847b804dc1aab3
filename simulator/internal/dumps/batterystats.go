package dumps

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// BatteryStats is dumpsys batterystats [--reset|-c|--checkin|--charged].
func BatteryStats(account *account.Account, shell *shell.Call) int {
	c := &call{account, shell}
	switch a := c.Arg(0); {
	case a == "--reset":
		c.ResetStats()
		c.Printf("Battery stats and history reset.\n")
	case a == "-c" && c.Profile.API >= 21, a == "--checkin":
		c.checkin()
	case a == "" || a == "--charged" || !strings.HasPrefix(a, "-"):
		c.statsText()
	default:
		c.Printf("Unknown option: %s\nBattery stats (batterystats) dump options:\n  [--checkin] [--history] [--charged] [-c] [--reset] [--write]\n", a)
	}
	return 0
}

// checkinVersions are the versions of the checkin format by API level.
var checkinVersions = map[int]int{21: 11, 22: 11, 23: 16, 24: 18, 25: 19, 26: 26, 27: 27, 28: 32, 29: 34, 30: 35, 31: 36, 32: 36, 33: 36, 34: 36}

// checkin prints the checkin format (BatteryStats.dumpCheckinLocked).
func (c *call) checkin() {
	p, s := c.Account, c.Usage()
	prefix := "9"
	if c.Profile.API < 21 {
		prefix = "7"
	} else {
		c.Printf("9,0,i,vers,%d,177,SIM%d,SIM%d\n", checkinVersions[c.Profile.API], c.Profile.API, c.Profile.API)
	}
	for _, u := range s.Apps {
		c.Printf("%s,0,i,uid,%d,%s\n", prefix, u.UID, u.Package)
	}
	c.history(prefix, s)
	line := func(uid int, tag, format string, values ...any) {
		c.Printf("%s,%d,l,%s,%s\n", prefix, uid, tag, fmt.Sprintf(format, values...))
	}
	ms := time.Duration.Milliseconds
	cell := p.Hardware.Battery
	total, screenOn := p.Clock.Now()-s.Reset, s.Battery-s.ScreenOff
	line(0, "bt", "0,%d,%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f,0", ms(s.Battery), ms(s.Battery), ms(total), ms(total),
		clock.Wall(s.Reset).UnixMilli(), ms(s.ScreenOff), ms(s.ScreenOff), cell.CapacityMAh, cell.CapacityMAh*1000, cell.CapacityMAh*1000)
	net := map[string]int64{}
	for _, u := range s.Apps {
		for _, kind := range []string{"mobile", "wifi"} {
			net["rx "+kind] += u.RX[kind]
			net["tx "+kind] += u.TX[kind]
		}
	}
	line(0, "gn", "%d,%d,%d,%d,0,0,0,0,0,0", net["rx mobile"], net["tx mobile"], net["rx wifi"], net["tx wifi"])
	if c.Profile.API >= 23 {
		const others = ",0,0,0,0,0,0,0,0,0,0,0,0,0,0" // radios and others: 21 columns in a capture of Android 9
		line(0, "m", "%d,0,0,%d,0,0,%d"+others, ms(screenOn), ms(s.Locked), ms(screenOn))
	} else {
		line(0, "m", "%d,0", ms(screenOn))
	}
	low := int(100 * s.DischargedMAh / cell.CapacityMAh)
	line(0, "dc", "%d,%d,%d,0,%.0f,0,0,0,0,0", low, low+1, low, s.DischargedMAh)
	line(0, "pws", "%.0f,%.3g,%.3g,%.3g", cell.CapacityMAh, p.MAh(s.All.Total()), s.DischargedMAh, s.DischargedMAh+0.01*cell.CapacityMAh)
	line(0, "pwi", "scrn,%s,1,0,0", charge(p.MAh(s.All[power.Screen])))
	line(0, "pwi", "idle,%s,1,0,0", charge(p.MAh(s.All[power.Base])))
	for _, u := range s.Apps {
		checkinApp(p, u, line)
	}
}

// charge formats mAh like the platform: with three digits.
func charge(mAh float64) string { return fmt.Sprintf("%.3g", mAh) }

// checkinApp prints the statistics of one app.
func checkinApp(p *account.Account, u *account.AppUsage, line func(uid int, tag, format string, values ...any)) {
	ms := time.Duration.Milliseconds
	line(u.UID, "pwi", "uid,%s,0,0,0", charge(p.MAh(u.Joules.Total())))
	if len(u.RX) > 0 || len(u.TX) > 0 {
		line(u.UID, "nt", "%d,%d,%d,%d,%d,%d,%d,%d,0,0,0,0,0,0", u.RX["mobile"], u.TX["mobile"], u.RX["wifi"], u.TX["wifi"],
			u.RX["mobile"]/1400, u.TX["mobile"]/1400, u.RX["wifi"]/1400, u.TX["wifi"]/1400)
	}
	if u.Locked > 0 {
		line(u.UID, "awl", "%d,0", ms(u.Locked))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Locks)) {
		l := u.Locks[name]
		line(u.UID, "wl", "%s,0,f,0,0,0,0,%d,p,%d,0,%d,%d,0,bp,0,0,0,0,0,w,0,0,0,0", name, ms(l.For), l.Count, ms(l.For), ms(l.For))
	}
	for _, handle := range slices.Sorted(maps.Keys(u.Sensors)) {
		s := u.Sensors[handle]
		if p.Profile.API >= 26 { // followed by the time of the UID alone
			line(u.UID, "sr", "%d,%d,%d,0,%d,0", handle, ms(s.For), s.Count, ms(s.For))
		} else {
			line(u.UID, "sr", "%d,%d,%d", handle, ms(s.For), s.Count)
		}
	}
	line(u.UID, "fg", "%d,1", ms(u.Foreground))
	line(u.UID, "cpu", "%d,%d,0", ms(u.CPU*4/5), ms(u.CPU/5))
	line(u.UID, "pr", "%s,%d,%d,%d,1,0,0", u.Package, ms(u.CPU*4/5), ms(u.CPU/5), ms(u.CPU))
}

// historyEvery is the interval of the voltages in the history.
const historyEvery = 20 * time.Second

// history prints the battery's history since the reset: charger, voltage and charge.
func (c *call) history(prefix string, s account.Usage) {
	c.Printf("%s,h,0:RESET:TIME:%d\n", prefix, clock.Wall(s.Reset).UnixMilli())
	last := s.Reset
	note := func(at time.Duration, extra string) {
		r := c.Account.Battery(at)
		c.Printf("%s,h,%d,Bl=%d,%sBt=287,Bv=%.0f", prefix, (at - last).Milliseconds(), r.Percent, extra, math.Round(r.VoltageUV/1000))
		if r.HasCharge && c.Profile.API >= 24 {
			c.Printf(",Bcc=%.0f", r.Charge/1000*c.Account.Sensors.ChargeUnit)
		}
		c.Printf("\n")
		last = at
	}
	if len(s.Spans) == 0 {
		note(s.Reset, "Bs=c,Bh=g,Bp=u,")
	}
	for _, span := range s.Spans {
		note(span.From, "Bs=d,Bh=g,Bp=n,")
		for at := span.From + historyEvery; at < span.To; at += max(historyEvery, (span.To-span.From)/1000) {
			note(at, "")
		}
		note(span.To, "")
	}
}

// statsText prints the relevant part of the text format.
func (c *call) statsText() {
	p, s := c.Account, c.Usage()
	c.Printf("Statistics since last charge:\n  System starts: 0, currently on battery: %t\n", p.OnBattery())
	c.Printf("  Time on battery: %s (100.0%%) realtime, %s (100.0%%) uptime\n", spellLong(s.Battery), spellLong(s.Battery))
	c.Printf("  Time on battery screen off: %s (0.0%%) realtime, %s (0.0%%) uptime\n", spellLong(s.ScreenOff), spellLong(s.ScreenOff))
	total := spellLong(p.Clock.Now() - s.Reset)
	c.Printf("  Total run time: %s realtime, %s uptime\n", total, total)
	c.Printf("  Screen on: %s (100.0%%) 0x, Interactive: %s (100.0%%)\n\n", spellLong(s.Battery-s.ScreenOff), spellLong(s.Battery-s.ScreenOff))
	c.Printf("  Estimated power use (mAh):\n    Capacity: %.0f, Computed drain: %s, actual drain: %s\n",
		p.Hardware.Battery.CapacityMAh, charge(p.MAh(s.All.Total())), charge(s.DischargedMAh))
	if c.Profile.API >= 31 {
		c.Printf("    Global\n    screen: %s apps: 0 duration: %s\n", charge(p.MAh(s.All[power.Screen])), spellLong(s.Battery-s.ScreenOff))
	} else {
		c.Printf("    Screen: %s\n    Idle: %s\n", charge(p.MAh(s.All[power.Screen])), charge(p.MAh(s.All[power.Base])))
	}
	for _, u := range s.Apps {
		cpu := u.Joules[power.Big] + u.Joules[power.Little]
		c.Printf("    Uid u0a%d: %s ( cpu=%s )\n", u.UID-10_000, charge(p.MAh(u.Joules.Total())), charge(p.MAh(cpu)))
	}
	for _, u := range s.Apps {
		c.Printf("\n  u0a%d:\n", u.UID-10_000)
		if u.RX["wifi"]+u.TX["wifi"] > 0 {
			c.Printf("    Wi-Fi network: %d.00KB received, %d.00KB sent (packets %d received, %d sent)\n", u.RX["wifi"]>>10, u.TX["wifi"]>>10, u.RX["wifi"]/1400, u.TX["wifi"]/1400)
		}
		for _, name := range slices.Sorted(maps.Keys(u.Locks)) {
			if l := u.Locks[name]; l.For > 0 {
				c.Printf("    Wake lock %s: %s partial (%d times) max=%d realtime\n", name, spellLong(l.For), l.Count, l.For.Milliseconds())
			}
		}
		for _, handle := range slices.Sorted(maps.Keys(u.Sensors)) {
			c.Printf("    Sensor %d: %s realtime (%d times)\n", handle, spellLong(u.Sensors[handle].For), u.Sensors[handle].Count)
		}
		c.Printf("    Total cpu time: u=%s s=%s\n", spellLong(u.CPU*4/5), spellLong(u.CPU/5))
	}
}

// spellLong formats a duration like BatteryStats.formatTimeMs: 1m 2s 3ms.
func spellLong(d time.Duration) string {
	var b strings.Builder
	if h := int(d.Hours()); h > 0 {
		fmt.Fprintf(&b, "%dh ", h)
	}
	if m := int(d.Minutes()); m > 0 {
		fmt.Fprintf(&b, "%dm ", m%60)
	}
	if s := int(d.Seconds()); s > 0 {
		fmt.Fprintf(&b, "%ds ", s%60)
	}
	fmt.Fprintf(&b, "%dms", d.Milliseconds()%1000)
	return b.String()
}
