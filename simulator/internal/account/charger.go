package account

import (
	"slices"
	"time"
)

// supply is the phone's power source from a time on.
type supply struct {
	at   time.Duration
	from string // "usb", "ac", "wireless", "battery"
}

// SetPowered plugs a charger in, or out: "usb", "ac", "wireless", "battery".
func (a *Account) SetPowered(from string) {
	a.Settle()
	if len(a.supplies) == maxChanges {
		a.supplies = append(a.supplies[:0], a.supplies[maxChanges/2:]...)
	}
	was := a.OnBattery()
	a.supplies = append(a.supplies, supply{at: a.Clock.Now(), from: from})
	a.countOnBattery(was)
}

// SuppliedFrom returns the charger that is plugged in, "battery" for none.
func (a *Account) SuppliedFrom() string {
	from := ""
	for _, s := range a.supplies {
		if s.at <= a.Clock.Now() || from == "" {
			from = s.from
		}
	}
	return from
}

// supplied returns the energy from chargers between two instants.
func (a *Account) supplied(from, to time.Duration) (joules float64) {
	for i, s := range a.supplies {
		end := to
		if i+1 < len(a.supplies) {
			end = min(to, a.supplies[i+1].at)
		}
		if begin := max(s.at, from); s.from != "battery" && begin < end {
			joules += a.Hardware.SupplyW * (end - begin).Seconds()
		}
	}
	return joules
}

// fakeBattery is the state that the battery service was set to report.
type fakeBattery struct {
	frozen bool
	values map[string]int // by BatteryWords
}

// BatteryWords are the values that the battery service can be set to report.
var BatteryWords = []string{"ac", "usb", "wireless", "status", "level", "temp", "present", "counter", "invalid"}

// Frozen reports whether the battery service reports set values.
func (a *Account) Frozen() bool { return a.fake.frozen }

// Unplug makes the battery service report no charger.
func (a *Account) Unplug() {
	a.tell(func() {
		for _, kind := range []string{"ac", "usb", "wireless"} {
			delete(a.fake.values, kind)
		}
	})
}

// Say makes the battery service report a value for one of BatteryWords.
func (a *Account) Say(word string, value int) {
	if slices.Contains(BatteryWords, word) {
		a.tell(func() { a.fake.values[word] = value })
	}
}

// Unfreeze makes the battery service report the truth again.
func (a *Account) Unfreeze() {
	a.Settle()
	was := a.OnBattery()
	a.fake = fakeBattery{}
	a.countOnBattery(was)
}

// tell freezes the battery service's report, and changes it.
func (a *Account) tell(change func()) {
	a.Settle()
	was := a.OnBattery()
	if !a.fake.frozen {
		values := map[string]int{"level": a.BatteryLevel()}
		if kind := a.Plugged(); kind != "" {
			values[kind] = 1
		}
		a.fake = fakeBattery{frozen: true, values: values}
	}
	change()
	a.countOnBattery(was)
}

// Plugged returns the charger that the battery service reports: "usb", "ac", "wireless" or "".
func (a *Account) Plugged() string {
	if a.fake.frozen {
		for _, kind := range []string{"ac", "usb", "wireless"} {
			if a.fake.values[kind] != 0 {
				return kind
			}
		}
		return ""
	}
	if from := a.SuppliedFrom(); from != "battery" {
		return from
	}
	return ""
}

// OnBattery reports whether the battery service reports no charger.
func (a *Account) OnBattery() bool { return a.Plugged() == "" }

// BatteryLevel returns the level that the battery service reports, in percent.
func (a *Account) BatteryLevel() int {
	if v, ok := a.fake.values["level"]; ok && a.fake.frozen {
		return v
	}
	if a.emulated > 0 {
		return a.emulated
	}
	return a.Battery(a.Clock.Now()).Percent
}

// SetLevel sets the level of an emulated battery, in percent.
func (a *Account) SetLevel(percent int) { a.emulated = percent }

// Values of android.os.BatteryManager's BATTERY_STATUS.
const (
	Charging    = 2
	Discharging = 3
	Full        = 5
)

// BatteryStatus is independent of Unplug: the service keeps the hardware's status.
func (a *Account) BatteryStatus() int {
	if v, ok := a.fake.values["status"]; ok && a.fake.frozen {
		return v
	}
	switch {
	case a.SuppliedFrom() == "battery":
		return Discharging
	case a.BatteryLevel() >= 100:
		return Full
	}
	return Charging
}
