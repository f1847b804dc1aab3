package dumps

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// Battery is dumpsys battery [unplug|reset|set …|get …].
func Battery(a *account.Account, shell *shell.Call) int {
	c := &call{a, shell}
	if len(c.Args) > 0 && !strings.HasPrefix(c.Arg(0), "-") {
		return BatteryCommand(a, shell)
	}
	api := a.Profile.API
	c.Printf("Current Battery Service state:\n")
	if a.Frozen() && api >= 19 {
		c.Printf("  (UPDATES STOPPED -- use 'reset' to restart)\n")
	}
	on := func(kind string) bool { return a.Plugged() == kind }
	c.Printf("  AC powered: %t\n  USB powered: %t\n", on("ac"), on("usb"))
	if api >= 17 {
		c.Printf("  Wireless powered: %t\n", on("wireless"))
	}
	if api >= 33 {
		c.Printf("  Dock powered: false\n")
	}
	r := c.battery()
	if api >= 23 {
		c.Printf("  Max charging current: %d\n", map[bool]int{true: 500_000}[a.Plugged() != ""])
	}
	if api >= 24 {
		c.Printf("  Max charging voltage: %d\n  Charge counter: %.0f\n", map[bool]int{true: 5_000_000}[a.Plugged() != ""], math.Round(r.Charge))
	}
	c.Printf("  status: %d\n  health: 2\n  present: true\n  level: %d\n  scale: 100\n", a.BatteryStatus(), a.BatteryLevel())
	space := " "
	if api < 21 {
		space = ""
	}
	temperature := 287 // tenths of a degree Celsius
	if a.Hot() {
		temperature = 446
	}
	c.Printf("  voltage:%s%.0f\n  temperature: %d\n  technology: Li-ion\n", space, r.VoltageUV/1000, temperature)
	if a.Profile.Manufacturer == "Samsung" && api >= 24 && r.HasCurrent { // this vendor's addition
		c.Printf("  current now: %.0f\n", math.Round(r.Current))
	}
	return 0
}

// battery returns the gauge's current reading.
func (c *call) battery() account.Shown { return c.Account.Battery(c.Clock.Now()) }

// BatteryCommand implements unplug, reset, set and get of dumpsys battery and of cmd battery.
func BatteryCommand(a *account.Account, shell *shell.Call) int {
	c := &call{a, shell}
	c.Args = slices.DeleteFunc(c.Args, func(a string) bool { return a == "-f" })
	switch verb := c.Arg(0); {
	case verb == "unplug":
		a.Unplug()
	case verb == "reset":
		a.Unfreeze()
	case verb == "set" && slices.Contains(account.BatteryWords, c.Arg(1)):
		value, err := strconv.Atoi(c.Arg(2))
		if err != nil {
			c.Errorf("Bad value: %s\n", c.Arg(2))
			return 255
		}
		a.Say(c.Arg(1), value)
	case verb == "get" && a.Profile.API >= 28:
		return c.batteryGet(c.Arg(1))
	default:
		c.Errorf("Dump current battery state, or:\n  set [ac|usb|wireless|status|level|temp|present|counter|invalid] <value>\n  unplug\n  reset\n")
		return 255
	}
	return 0
}

// batteryGet prints one value.
func (c *call) batteryGet(what string) int {
	r := c.battery()
	value := ""
	switch what {
	case "ac", "usb", "wireless":
		value = strconv.FormatBool(c.Plugged() == what)
	case "status":
		value = strconv.Itoa(c.BatteryStatus())
	case "level":
		value = strconv.Itoa(c.BatteryLevel())
	case "temp":
		value = "287"
	case "present":
		value = "true"
	case "counter":
		value = fmt.Sprintf("%.0f", math.Round(r.Charge))
	case "current_now", "current_average":
		if c.Profile.API < 34 {
			break
		}
		value = fmt.Sprintf("%.0f", math.Round(map[bool]float64{true: r.Current, false: r.Average}[what == "current_now"]))
	}
	if value == "" {
		c.Printf("Unknown get option: %s\n", what)
		return 0
	}
	c.Printf("%s\n", value)
	return 0
}

// supplyFile returns a file below /sys/class/power_supply, which the shell can read on some
// phones.
func supplyFile(a *account.Account, name string) (text string, ok bool) {
	file, ok := strings.CutPrefix(name, "/sys/class/power_supply/battery/")
	if !ok {
		return "", false
	}
	r := a.Battery(a.Clock.Now())
	number := func(v float64, there bool) (string, bool) {
		return fmt.Sprintf("%.0f\n", math.Round(v)), there
	}
	switch file {
	case "current_now":
		return number(r.Current, r.HasCurrent)
	case "current_avg":
		return number(r.Average, r.HasCurrent)
	case "voltage_now":
		return number(r.VoltageUV, true)
	case "charge_counter":
		return number(r.Charge, r.HasCharge)
	case "charge_full":
		return number(a.Hardware.Battery.CapacityMAh*1000, true)
	case "capacity":
		return number(float64(r.Percent), true)
	case "status":
		return map[int]string{account.Charging: "Charging\n", account.Discharging: "Discharging\n", account.Full: "Full\n"}[a.BatteryStatus()], true
	case "technology":
		return "Li-ion\n", true
	}
	return "", false
}
