package collect

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// readContext notes what kind of device this is (paper, section 5.2.1).
func (c *collector) readContext(ctx context.Context) error {
	p := c.target.Facts.Properties
	properties := map[string]string{
		"sdk": p["ro.build.version.release"], "api": p["ro.build.version.sdk"],
		"manufacturer": p["ro.product.manufacturer"], "model": p["ro.product.model"],
		"cpu": p["ro.product.cpu.abi"], "build": p["ro.build.type"], "network": c.job.Network,
	}
	for _, read := range []func(context.Context, map[string]string) error{
		c.readScreen, c.readRefreshRate, c.readBattery, c.readNetwork, c.readVersion,
	} {
		if err := read(ctx, properties); err != nil {
			return fmt.Errorf("read the context of the run: %w", err)
		}
	}
	for name, value := range c.job.Extra {
		if strings.TrimSpace(value) != "" {
			properties[name] = value
		}
	}
	// The user's own first, where there are too many; each kind in order, so that equal
	// runs have equal contexts.
	names := append(slices.Sorted(maps.Keys(c.job.Extra)), slices.Sorted(maps.Keys(properties))...)
	for _, name := range names {
		c.setContext(name, properties[name])
	}
	return nil
}

func (c *collector) setContext(name, value string) {
	if value = strings.TrimSpace(journal.Line(value)); value == "" {
		return
	}
	if _, known := c.run.Context[name]; !known && len(c.run.Context) >= run.MaxContext {
		c.journal.Warnf("the run has %d properties of its context, and no room for %s", run.MaxContext, journal.Line(name))
		return
	}
	c.run.Context[name] = value
}

var (
	wmSize      = regexp.MustCompile(`size: (\d+)x(\d+)`)
	windowInit  = regexp.MustCompile(`init=(\d+)x(\d+)`)
	displaySize = regexp.MustCompile(`DisplayDeviceInfo\{"[^"]*": (?:uniqueId="[^"]*", )?(\d+) x (\d+)`)
	offsets     = regexp.MustCompile(`appVsyncOff (\d{1,10}), presDeadline (\d{1,10})\b`)
	level       = regexp.MustCompile(`(?m)^\s*level: (\d+)`)
	version     = regexp.MustCompile(`(?m)^\s*versionName=(\S+)`)
)

// readScreen asks wm (Android 4.3 and later), the displays (4.2), the window
// manager. An override stands below the physical size.
func (c *collector) readScreen(ctx context.Context, into map[string]string) error {
	for _, ask := range []struct {
		words []string
		size  *regexp.Regexp
	}{
		{[]string{"wm", "size"}, wmSize},
		{[]string{"dumpsys", "display"}, displaySize},
		{[]string{"dumpsys", "window"}, windowInit},
	} {
		text, err := c.target.Output(ctx, ask.words...)
		if err != nil {
			return err
		}
		if sizes := ask.size.FindAllStringSubmatch(text, -1); len(sizes) > 0 {
			last := sizes[len(sizes)-1]
			into["screen"] = last[1] + "x" + last[2]
			return nil
		}
	}
	return nil
}

func (c *collector) readRefreshRate(ctx context.Context, into map[string]string) error {
	text, err := c.target.Output(ctx, "dumpsys", "display")
	if err != nil {
		return err
	}
	hz, err := strconv.ParseFloat(device.RefreshRate(text), 64)
	if err != nil || hz < 10 || hz > 1000 {
		return nil //nolint:nilerr // a display that doesn't tell its rate is taken for one of 60 Hz
	}
	period := time.Duration(float64(time.Second) / hz)
	c.target.Facts.Display = gfxinfo.Display{Period: period, Forgiven: forgiven(text, period)}
	into["refresh_hz"] = strconv.Itoa(int(hz + 0.5))
	return nil
}

// correctRefreshRate notes the highest rate at which frames were drawn, where their
// rows tell it (Android 12 and later): what the display told before the workload is the
// rate of a screen on which nothing moves, 60 Hz on many a phone of 120 Hz.
func (c *collector) correctRefreshRate() {
	var least time.Duration
	for _, m := range c.measured {
		for _, f := range m.frames {
			if f.Interval > 0 && (least == 0 || f.Interval < least) {
				least = f.Interval
			}
		}
	}
	if least == 0 {
		return
	}
	c.checkRate(least)
	if _, users := c.job.Extra["refresh_hz"]; !users {
		c.setContext("refresh_hz", strconv.Itoa(int(float64(time.Second)/float64(least)+0.5)))
	}
}

// forgiven is how long a frame may wait for a buffer, by what `dumpsys display` tells
// of the first display's offsets (Android 5 and later).
func forgiven(text string, period time.Duration) time.Duration {
	m := offsets.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	app, err := strconv.ParseInt(m[1], 10, 64)
	deadline, err2 := strconv.ParseInt(m[2], 10, 64)
	if err != nil || err2 != nil {
		return 0
	}
	return gfxinfo.Forgiveness(period, time.Duration(app), time.Duration(deadline))
}

// readBattery notes the level in steps, so that runs at 81 % and 84 % are alike.
func (c *collector) readBattery(ctx context.Context, into map[string]string) error {
	text, err := c.target.Output(ctx, "dumpsys", "battery")
	if err != nil {
		return err
	}
	if m := level.FindStringSubmatch(text); m != nil {
		into["battery"] = batteryStep(m[1])
	}
	return nil
}

func batteryStep(percent string) string {
	switch n, err := strconv.Atoi(percent); {
	case err != nil || n < 0 || n > 100:
		return ""
	case n < 20:
		return "0-19%"
	case n < 50:
		return "20-49%"
	case n < 80:
		return "50-79%"
	}
	return "80-100%"
}

// readNetwork tells what the device is connected by, where the job sets nothing, and how
// well.
func (c *collector) readNetwork(ctx context.Context, into map[string]string) error {
	text, err := c.target.Output(ctx, "dumpsys", "connectivity")
	if err != nil {
		return err
	}
	into[devctx.NetworkQuality] = device.ReadNetworkQuality(text)
	switch {
	case into["network"] != "":
	case c.target.Facts.WifiOn:
		into["network"] = "wifi"
	case c.target.Facts.DataOn:
		into["network"] = "mobile"
	default:
		into["network"] = "none"
	}
	return nil
}

// readVersion asks the device for the app's version where the user gives none.
func (c *collector) readVersion(ctx context.Context, into map[string]string) error {
	if c.run.App.Version == "" {
		text, err := c.target.Output(ctx, "dumpsys", "package", c.job.App.Package)
		if err != nil {
			return err
		}
		if m := version.FindStringSubmatch(text); m != nil {
			c.run.App.Version = journal.Line(m[1])
		}
	}
	into[devctx.Version] = c.run.App.Version
	return nil
}
