package device

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Of dumpsys battery.
var (
	batteryLevel = regexp.MustCompile(`(?m)^\s*level: (\d{1,6})$`)
	batteryScale = regexp.MustCompile(`(?m)^\s*scale: (\d{1,6})$`)
	poweredBy    = regexp.MustCompile(`(?m)^\s*(AC|USB|Wireless|Dock) powered: (true|false)$`)
)

// Charge is how full a battery is, and what charges it.
type Charge struct {
	Percent int
	By      []string // "AC", "USB", "Wireless", "Dock"; none where nothing does
	told    bool     // the device tells of chargers
}

// ReadCharge reads `dumpsys battery`; false where it tells no level.
func ReadCharge(output string) (c Charge, told bool) {
	level, err := strconv.Atoi(first(batteryLevel, output))
	if err != nil {
		return c, false
	}
	scale, err := strconv.Atoi(first(batteryScale, output))
	if err != nil || scale == 0 {
		scale = 100
	}
	if level > scale { // no battery is that full
		return c, false
	}
	c.Percent = 100 * level / scale
	for _, m := range poweredBy.FindAllStringSubmatch(output, -1) {
		c.told = true
		if m[2] == "true" && !slices.Contains(c.By, m[1]) {
			c.By = append(c.By, m[1])
		}
	}
	return c, true
}

// String is how it is told: "85 %, charged by USB".
func (c Charge) String() string {
	switch {
	case !c.told:
		return fmt.Sprintf("%d %%", c.Percent)
	case len(c.By) == 0:
		return fmt.Sprintf("%d %%, on battery", c.Percent)
	}
	return fmt.Sprintf("%d %%, charged by %s", c.Percent, strings.Join(c.By, " and "))
}

func lookBattery(output string) Finding {
	c, told := ReadCharge(output)
	if !told {
		return fit(notTold)
	}
	return judge(c.Percent >= minBatteryPercent, c.String(),
		fmt.Sprintf("charge it to %d %% at least: a low battery slows the device down", minBatteryPercent))
}
