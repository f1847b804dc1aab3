package account

import (
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// maxAppetite limits the activities that one process can start.
const maxAppetite = 2_000

// Happen applies the power section of the app's file for an event, except for the screen.
func (a *Account) Happen(d *Process, event, network string) {
	if len(d.extra)+len(d.loads)+len(d.locks)+len(d.sensors) > maxAppetite {
		return
	}
	now, rules := a.Clock.Now(), d.App.Power
	for _, l := range rules.Loads {
		if slices.Contains(l.After, event) {
			r := a.Random("load", d.Seed, len(d.extra))
			long := time.Duration(float64(l.For) * a.Profile.Speed * math.Exp(0.02*r.NormFloat64()))
			from := now + 30*time.Millisecond
			d.extra = append(d.extra, sched.Item{
				Thread: a.pool(d, from, from+long), Woken: from - 40*time.Microsecond, Waker: int32(d.PID), From: from, To: from + long,
				Kind: power.Other, Method: methodOf(rules, l.In), Background: true, Section: l.In,
			})
		}
	}
	for _, t := range rules.Traffic {
		if slices.Contains(t.After, event) {
			d.transfer(t, network, now)
		}
	}
	for _, h := range rules.Holds {
		switch {
		case h.After != event:
		case h.Part == "wakelock":
			d.locks = append(d.locks, lock{h.Wakelock, now, now + h.For})
		case h.Part == "sensor":
			a.register(d, h.Sensor, h.For)
		default:
			part := power.Part(h.Part)
			d.loads = append(d.loads, power.Load{From: now, To: now + h.For, Part: part, Watts: power.OnWatts(part)})
		}
	}
}

// methodOf returns a method's index; "" stands for all methods by their shares.
func methodOf(rules simapp.Power, name string) int {
	if i := rules.Method(name); i >= 0 {
		return i
	}
	return power.Mixed
}

// Speed and tail of a radio: it stays on for a while after the last byte.
const (
	bytesPerSecond = 2_000_000
	radioTail      = 400 * time.Millisecond
)

// transfer transfers bytes over the phone's current network.
func (d *Process) transfer(t simapp.Traffic, network string, now time.Duration) {
	if network == "none" {
		return
	}
	part, slower := power.Wifi, 1
	if network != "wifi" {
		part, slower = power.Mobile, 4
	}
	rx, tx := int64(t.KB)<<10, int64(t.SentKB)<<10
	long := time.Duration(rx+tx) * time.Second / bytesPerSecond * time.Duration(slower)
	d.traffic = append(d.traffic, traffic{now, now + long, network, rx, tx})
	d.loads = append(d.loads, power.Load{From: now, To: now + long + radioTail, Part: part, Watts: power.OnWatts(part)})
}
