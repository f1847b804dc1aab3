package phone

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fakeBattery is what dumpsys battery was told to say instead of the truth.
type fakeBattery struct {
	frozen bool
	values map[string]int // by the words of dumpsys battery set
}

// plugged is the charger that the battery service believes in: "usb", "ac",
// "wireless" or "".
func (p *Phone) plugged() string {
	if f := p.state.power.fake; f.frozen {
		for _, kind := range []string{"ac", "usb", "wireless"} {
			if f.values[kind] != 0 {
				return kind
			}
		}
		return ""
	}
	if from := p.suppliedFrom(p.clock.Now()); from != "battery" {
		return from
	}
	return ""
}

// onBattery is whether the battery service believes that no charger is there.
func (p *Phone) onBattery() bool { return p.plugged() == "" }

// batteryLevel is the level that the battery service shows, in per cent.
func (p *Phone) batteryLevel() int {
	if v, ok := p.state.power.fake.values["level"]; ok && p.state.power.fake.frozen {
		return v
	}
	p.settle()
	return p.show(p.gauge(p.clock.Now())).percent
}

// Values of android.os.BatteryManager's BATTERY_STATUS.
const (
	charging    = 2
	discharging = 3
	full        = 5
)

// batteryStatus does not follow `unplug`: the service keeps what the hardware said.
func (p *Phone) batteryStatus() int {
	if v, ok := p.state.power.fake.values["status"]; ok && p.state.power.fake.frozen {
		return v
	}
	switch {
	case p.suppliedFrom(p.clock.Now()) == "battery":
		return discharging
	case p.batteryLevel() >= 100:
		return full
	}
	return charging
}

// dumpBattery is dumpsys battery [unplug|reset|set …|get …].
func dumpBattery(c *call) int {
	if len(c.Args) > 0 && !strings.HasPrefix(c.Arg(0), "-") {
		return batteryCommand(c)
	}
	p, api := c.Phone, c.profile.API
	c.Printf("Current Battery Service state:\n")
	if p.state.power.fake.frozen && api >= 19 {
		c.Printf("  (UPDATES STOPPED -- use 'reset' to restart)\n")
	}
	on := func(kind string) bool { return p.plugged() == kind }
	c.Printf("  AC powered: %t\n  USB powered: %t\n", on("ac"), on("usb"))
	if api >= 17 {
		c.Printf("  Wireless powered: %t\n", on("wireless"))
	}
	if api >= 33 {
		c.Printf("  Dock powered: false\n")
	}
	r := c.batteryNow()
	if api >= 23 {
		c.Printf("  Max charging current: %d\n", map[bool]int{true: 500_000}[p.plugged() != ""])
	}
	if api >= 24 {
		c.Printf("  Max charging voltage: %d\n  Charge counter: %.0f\n", map[bool]int{true: 5_000_000}[p.plugged() != ""], math.Round(r.charge))
	}
	c.Printf("  status: %d\n  health: 2\n  present: true\n  level: %d\n  scale: 100\n", c.batteryStatus(), c.batteryLevel())
	space := " "
	if api < 21 {
		space = ""
	}
	c.Printf("  voltage:%s%.0f\n  temperature: 287\n  technology: Li-ion\n", space, r.voltageUV/1000)
	if p.profile.Manufacturer == "Samsung" && api >= 24 && r.hasCurrent { // as this vendor adds
		c.Printf("  current now: %.0f\n", math.Round(r.current))
	}
	return 0
}

// batteryNow is what the gauge shows now.
func (p *Phone) batteryNow() shown {
	p.settle()
	return p.show(p.gauge(p.clock.Now()))
}

// batteryWords are what can be set and got.
var batteryWords = []string{"ac", "usb", "wireless", "status", "level", "temp", "present", "counter", "invalid"}

// batteryCommand is unplug, reset, set and get, of dumpsys battery and of cmd battery.
func batteryCommand(c *call) int {
	f := &c.state.power.fake
	c.Args = slices.DeleteFunc(c.Args, func(a string) bool { return a == "-f" })
	c.settle()
	was := c.onBattery()
	freeze := func() {
		if !f.frozen {
			f.values = map[string]int{"level": c.batteryLevel()}
			if kind := c.plugged(); kind != "" {
				f.values[kind] = 1
			}
			f.frozen = true
		}
	}
	switch verb := c.Arg(0); {
	case verb == "unplug":
		freeze()
		delete(f.values, "ac")
		delete(f.values, "usb")
		delete(f.values, "wireless")
	case verb == "reset":
		*f = fakeBattery{}
	case verb == "set" && slices.Contains(batteryWords, c.Arg(1)):
		value, err := strconv.Atoi(c.Arg(2))
		if err != nil {
			c.Errorf("Bad value: %s\n", c.Arg(2))
			return 255
		}
		freeze()
		f.values[c.Arg(1)] = value
	case verb == "get" && c.profile.API >= 28:
		return c.batteryGet(c.Arg(1))
	default:
		c.Errorf("Dump current battery state, or:\n  set [ac|usb|wireless|status|level|temp|present|counter|invalid] <value>\n  unplug\n  reset\n")
		return 255
	}
	c.countOnBattery(was)
	if was != c.onBattery() { // PowerManagerService, updateIsPoweredLocked
		c.userActivity()
	}
	return 0
}

// batteryGet prints one value.
func (c *call) batteryGet(what string) int {
	r := c.batteryNow()
	value := ""
	switch what {
	case "ac", "usb", "wireless":
		value = strconv.FormatBool(c.plugged() == what)
	case "status":
		value = strconv.Itoa(c.batteryStatus())
	case "level":
		value = strconv.Itoa(c.batteryLevel())
	case "temp":
		value = "287"
	case "present":
		value = "true"
	case "counter":
		value = fmt.Sprintf("%.0f", math.Round(r.charge))
	case "current_now", "current_average":
		if c.profile.API < 34 {
			break
		}
		value = fmt.Sprintf("%.0f", math.Round(map[bool]float64{true: r.current, false: r.average}[what == "current_now"]))
	}
	if value == "" {
		c.Printf("Unknown get option: %s\n", what)
		return 0
	}
	c.Printf("%s\n", value)
	return 0
}

// supplyFile is a file below /sys/class/power_supply, which the shell can read
// on some phones.
func (p *Phone) supplyFile(name string) (text string, ok bool) {
	file, ok := strings.CutPrefix(name, "/sys/class/power_supply/battery/")
	if !ok {
		return "", false
	}
	r := p.batteryNow()
	number := func(v float64, there bool) (string, bool) {
		return fmt.Sprintf("%.0f\n", math.Round(v)), there
	}
	switch file {
	case "current_now":
		return number(r.current, r.hasCurrent)
	case "current_avg":
		return number(r.average, r.hasCurrent)
	case "voltage_now":
		return number(r.voltageUV, true)
	case "charge_counter":
		return number(r.charge, r.hasCharge)
	case "charge_full":
		return number(p.state.power.hardware.Battery.CapacityMAh*1000, true)
	case "capacity":
		return number(float64(r.percent), true)
	case "status":
		return map[int]string{charging: "Charging\n", discharging: "Discharging\n", full: "Full\n"}[p.batteryStatus()], true
	case "technology":
		return "Li-ion\n", true
	}
	return "", false
}
