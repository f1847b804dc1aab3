package phone

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
)

// checkinVersions are the versions of the checkin form by API level.
var checkinVersions = map[int]int{21: 11, 22: 11, 23: 16, 24: 18, 25: 19, 26: 26, 27: 27, 28: 32, 29: 34, 30: 35, 31: 36, 32: 36, 33: 36, 34: 36}

// checkin is the form for machines (BatteryStats.dumpCheckinLocked).
func (c *call) checkin() {
	p, s := c.Phone, c.sums()
	prefix := "9"
	if c.profile.API < 21 {
		prefix = "7"
	} else {
		c.Printf("9,0,i,vers,%d,177,SIM%d,SIM%d\n", checkinVersions[c.profile.API], c.profile.API, c.profile.API)
	}
	for _, u := range s.apps {
		c.Printf("%s,0,i,uid,%d,%s\n", prefix, u.uid, u.pkg)
	}
	c.history(prefix)
	line := func(uid int, tag, format string, values ...any) {
		c.Printf("%s,%d,l,%s,%s\n", prefix, uid, tag, fmt.Sprintf(format, values...))
	}
	ms := time.Duration.Milliseconds
	st, cell := p.state.power.stats, p.state.power.hardware.Battery
	total, screenOn := p.clock.Now()-st.reset, s.battery-s.screenOff
	line(0, "bt", "0,%d,%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f,0", ms(s.battery), ms(s.battery), ms(total), ms(total),
		p.wall(st.reset).UnixMilli(), ms(s.screenOff), ms(s.screenOff), cell.CapacityMAh, cell.CapacityMAh*1000, cell.CapacityMAh*1000)
	net := map[string]int64{}
	for _, u := range s.apps {
		for _, kind := range []string{"mobile", "wifi"} {
			net["rx "+kind] += u.rx[kind]
			net["tx "+kind] += u.tx[kind]
		}
	}
	line(0, "gn", "%d,%d,%d,%d,0,0,0,0,0,0", net["rx mobile"], net["tx mobile"], net["rx wifi"], net["tx wifi"])
	if c.profile.API >= 23 {
		line(0, "m", "%d,0,0,%d,0,0,%d,0,0,0,0,0,0,0,0,0,0,0,0,0", ms(screenOn), ms(s.locked), ms(screenOn))
	} else {
		line(0, "m", "%d,0", ms(screenOn))
	}
	low := int(100 * s.discharged / cell.CapacityMAh)
	line(0, "dc", "%d,%d,%d,0,%.0f,0,0,0,0,0", low, low+1, low, s.discharged)
	line(0, "pws", "%.0f,%.3g,%.3g,%.3g", cell.CapacityMAh, p.mAh(s.all.Total()), s.discharged, s.discharged+0.01*cell.CapacityMAh)
	line(0, "pwi", "scrn,%s,1,0,0", charge(p.mAh(s.all[power.Screen])))
	line(0, "pwi", "idle,%s,1,0,0", charge(p.mAh(s.all[power.Base])))
	for _, u := range s.apps {
		u.checkin(p, line)
	}
}

// charge is how the platform spells mAh: three digits.
func charge(mAh float64) string { return fmt.Sprintf("%.3g", mAh) }

// checkin is what is told of one app.
func (u *uidStats) checkin(p *Phone, line func(uid int, tag, format string, values ...any)) {
	ms := time.Duration.Milliseconds
	line(u.uid, "pwi", "uid,%s,0,0,0", charge(p.mAh(u.joules.Total())))
	if len(u.rx) > 0 || len(u.tx) > 0 {
		line(u.uid, "nt", "%d,%d,%d,%d,%d,%d,%d,%d,0,0,0,0,0,0", u.rx["mobile"], u.tx["mobile"], u.rx["wifi"], u.tx["wifi"],
			u.rx["mobile"]/1400, u.tx["mobile"]/1400, u.rx["wifi"]/1400, u.tx["wifi"]/1400)
	}
	if u.locked > 0 {
		line(u.uid, "awl", "%d,0", ms(u.locked))
	}
	for _, name := range sortedKeys(u.locks) {
		l := u.locks[name]
		line(u.uid, "wl", "%s,0,f,0,0,0,0,%d,p,%d,0,%d,%d,0,bp,0,0,0,0,0,w,0,0,0,0", name, ms(l.held), l.count, ms(l.held), ms(l.held))
	}
	for _, handle := range slices.Sorted(maps.Keys(u.sensors)) {
		s := u.sensors[handle]
		if p.profile.API >= 26 { // the time of the UID alone stands behind its share
			line(u.uid, "sr", "%d,%d,%d,0,%d,0", handle, ms(s.held), s.count, ms(s.held))
		} else {
			line(u.uid, "sr", "%d,%d,%d", handle, ms(s.held), s.count)
		}
	}
	line(u.uid, "fg", "%d,1", ms(u.foreground))
	line(u.uid, "cpu", "%d,%d,0", ms(u.cpu*4/5), ms(u.cpu/5))
	line(u.uid, "pr", "%s,%d,%d,%d,1,0,0", u.pkg, ms(u.cpu*4/5), ms(u.cpu/5), ms(u.cpu))
}

// historyEvery is how often the history notes the voltage.
const historyEvery = 20 * time.Second

// history is the battery's history since the reset: charger, voltage and charge.
func (c *call) history(prefix string) {
	p, st := c.Phone, c.state.power.stats
	c.Printf("%s,h,0:RESET:TIME:%d\n", prefix, p.wall(st.reset).UnixMilli())
	last := st.reset
	note := func(at time.Duration, extra string) {
		r := p.show(p.gauge(at))
		c.Printf("%s,h,%d,Bl=%d,%sBt=287,Bv=%.0f", prefix, (at - last).Milliseconds(), r.percent, extra, math.Round(r.voltageUV/1000))
		if r.hasCharge && c.profile.API >= 24 {
			c.Printf(",Bcc=%.0f", r.charge/1000*p.sensors().ChargeUnit)
		}
		c.Printf("\n")
		last = at
	}
	if len(st.spans) == 0 {
		note(st.reset, "Bs=c,Bh=g,Bp=u,")
	}
	for _, span := range p.counted() {
		note(span.from, "Bs=d,Bh=g,Bp=n,")
		for at := span.from + historyEvery; at < span.to; at += max(historyEvery, (span.to-span.from)/1000) {
			note(at, "")
		}
		note(span.to, "")
	}
}

// statsText is the form for people, the part of it that matters here.
func (c *call) statsText() {
	p, s := c.Phone, c.sums()
	st := p.state.power.stats
	c.Printf("Statistics since last charge:\n  System starts: 0, currently on battery: %t\n", p.onBattery())
	c.Printf("  Time on battery: %s (100.0%%) realtime, %s (100.0%%) uptime\n", spellLong(s.battery), spellLong(s.battery))
	c.Printf("  Time on battery screen off: %s (0.0%%) realtime, %s (0.0%%) uptime\n", spellLong(s.screenOff), spellLong(s.screenOff))
	total := spellLong(p.clock.Now() - st.reset)
	c.Printf("  Total run time: %s realtime, %s uptime\n", total, total)
	c.Printf("  Screen on: %s (100.0%%) 0x, Interactive: %s (100.0%%)\n\n", spellLong(s.battery-s.screenOff), spellLong(s.battery-s.screenOff))
	c.Printf("  Estimated power use (mAh):\n    Capacity: %.0f, Computed drain: %s, actual drain: %s\n",
		p.state.power.hardware.Battery.CapacityMAh, charge(p.mAh(s.all.Total())), charge(s.discharged))
	if c.profile.API >= 31 {
		c.Printf("    Global\n    screen: %s apps: 0 duration: %s\n", charge(p.mAh(s.all[power.Screen])), spellLong(s.battery-s.screenOff))
	} else {
		c.Printf("    Screen: %s\n    Idle: %s\n", charge(p.mAh(s.all[power.Screen])), charge(p.mAh(s.all[power.Base])))
	}
	for _, u := range s.apps {
		cpu := u.joules[power.Big] + u.joules[power.Little]
		c.Printf("    Uid u0a%d: %s ( cpu=%s )\n", u.uid-10_000, charge(p.mAh(u.joules.Total())), charge(p.mAh(cpu)))
	}
	for _, u := range s.apps {
		c.Printf("\n  u0a%d:\n", u.uid-10_000)
		if u.rx["wifi"]+u.tx["wifi"] > 0 {
			c.Printf("    Wi-Fi network: %d.00KB received, %d.00KB sent (packets %d received, %d sent)\n", u.rx["wifi"]>>10, u.tx["wifi"]>>10, u.rx["wifi"]/1400, u.tx["wifi"]/1400)
		}
		for _, name := range sortedKeys(u.locks) {
			if l := u.locks[name]; l.held > 0 {
				c.Printf("    Wake lock %s: %s partial (%d times) max=%d realtime\n", name, spellLong(l.held), l.count, l.held.Milliseconds())
			}
		}
		for _, handle := range slices.Sorted(maps.Keys(u.sensors)) {
			c.Printf("    Sensor %d: %s realtime (%d times)\n", handle, spellLong(u.sensors[handle].held), u.sensors[handle].count)
		}
		c.Printf("    Total cpu time: u=%s s=%s\n", spellLong(u.cpu*4/5), spellLong(u.cpu/5))
	}
}

// spellLong writes a duration as BatteryStats.formatTimeMs does: 1m 2s 3ms.
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
