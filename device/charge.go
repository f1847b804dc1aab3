package device

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Lines of dumpsys battery.
var (
	batteryLevel = regexp.MustCompile(`(?m)^\s*level: (\d{1,6})$`)
	batteryScale = regexp.MustCompile(`(?m)^\s*scale: (\d{1,6})$`)
	poweredBy    = regexp.MustCompile(`(?m)^\s*(AC|USB|Wireless|Dock) powered: (true|false)$`)
)

// Charge is a battery's level and what charges it.
type Charge struct {
	Percent int
	By      []string // "AC", "USB", "Wireless", "Dock"; empty where nothing charges it
	known   bool     // the device reports its chargers
}

// ReadCharge parses the output of `dumpsys battery`. known is false where it reports no level.
func ReadCharge(output string) (c Charge, known bool) {
	level, err := strconv.Atoi(first(batteryLevel, output))
	if err != nil {
		return c, false
	}
	scale, err := strconv.Atoi(first(batteryScale, output))
	if err != nil || scale == 0 {
		scale = 100
	}
	if level > scale { // more than full is impossible
		return c, false
	}
	c.Percent = 100 * level / scale
	for _, m := range poweredBy.FindAllStringSubmatch(output, -1) {
		c.known = true
		if m[2] == "true" && !slices.Contains(c.By, m[1]) {
			c.By = append(c.By, m[1])
		}
	}
	return c, true
}

// String describes the charge: "85 %, charged by USB".
func (c Charge) String() string {
	switch {
	case !c.known:
		return fmt.Sprintf("%d %%", c.Percent)
	case len(c.By) == 0:
		return fmt.Sprintf("%d %%, on battery", c.Percent)
	}
	return fmt.Sprintf("%d %%, charged by %s", c.Percent, strings.Join(c.By, " and "))
}

func checkBattery(output string) Finding {
	c, known := ReadCharge(output)
	if !known {
		return fit(notReported)
	}
	return judge(c.Percent >= minBatteryPercent, c.String(),
		fmt.Sprintf("charge it to %d %% at least: a low battery slows the device down", minBatteryPercent))
}
