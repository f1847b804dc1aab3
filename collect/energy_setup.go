package collect

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/energy"
)

// feign tells the battery service that no charger is there: batterystats counts
// on battery alone. Where the battery itself is measured, it must be true.
func (c *collector) feign(ctx context.Context) error {
	m := c.meter
	if m.powered == "battery" || m.powered == "" || m.choice.Source == energy.Battery || !c.facts.canFeign() {
		return nil
	}
	if !m.feigned {
		m.feigned = true
		c.undoLater("tell the battery service the truth (dumpsys battery reset)", func(ctx context.Context) error { return c.try(ctx, "dumpsys", "battery", "reset") })
	}
	if err := c.try(ctx, "dumpsys", "battery", "unplug"); err != nil {
		return fmt.Errorf("feign that the device is on battery: %w", err)
	}
	return nil
}

// canFeign: `dumpsys battery unplug` came with Android 6.
func (f facts) canFeign() bool { return f.api >= 23 }

const screenTimeout = "screen_off_timeout"

// Values of screen_off_timeout, in ms.
const (
	litLong   = "86399000" // a day less a second: nobody sets that by hand
	litMinute = "60000"    // Android's default
)

// keepLit keeps the screen from going off by itself: "stay on" counts only with
// a charger, and none is there or none is to be seen.
func (c *collector) keepLit(ctx context.Context) error {
	text, err := c.output(ctx, "settings", "get", "system", screenTimeout)
	before := strings.TrimSpace(text)
	if err != nil {
		return fmt.Errorf("read when the screen goes off: %w", err)
	}
	if before == "null" { // nobody has set it: Android's default holds
		before = litMinute
	}
	if _, notTold := strconv.Atoi(before); notTold != nil {
		return nil //nolint:nilerr // what can't be read can't be put back
	}
	if before == litLong {
		before = litMinute
		c.warnf("the screen was set to stay on for a day, as after a run that was killed: it goes off after a minute again when this run ends")
	}
	c.undoLater("set "+screenTimeout+" back to "+before, func(ctx context.Context) error {
		return c.try(ctx, "settings", "put", "system", screenTimeout, before)
	})
	return c.try(ctx, "settings", "put", "system", screenTimeout, litLong)
}

const brightnessMode = "screen_brightness_mode"

// Values of screen_brightness_mode.
const (
	brightnessByHand = "0"
	brightnessByRoom = "1"
)

// holdBrightness keeps the light of the room from changing the screen's brightness
// between two repetitions: it stays as it was last set by hand.
func (c *collector) holdBrightness(ctx context.Context) error {
	text, err := c.output(ctx, "settings", "get", "system", brightnessMode)
	if err != nil {
		return fmt.Errorf("read whether the screen's brightness is automatic: %w", err)
	}
	if strings.TrimSpace(text) != brightnessByRoom {
		return nil
	}
	c.undoLater("make the screen's brightness automatic again", func(ctx context.Context) error {
		return c.try(ctx, "settings", "put", "system", brightnessMode, brightnessByRoom)
	})
	return c.try(ctx, "settings", "put", "system", brightnessMode, brightnessByHand)
}

var (
	userID = regexp.MustCompile(`(?m)\b(?:userId|appId)=(\d{1,9})\b`)
	flags  = regexp.MustCompile(`(?m)^\s*(?:pkgFlags|flags)=\[([^\]]*)\]`)
)

// readPackage finds the app's UID and whether it is a debug build.
func (c *collector) readPackage(ctx context.Context) error {
	text, err := c.output(ctx, "dumpsys", "package", c.job.App.Package)
	if err != nil {
		return fmt.Errorf("read what %s is: %w", c.job.App.Package, err)
	}
	if m := userID.FindStringSubmatch(text); m != nil {
		c.uid, _ = strconv.Atoi(m[1])
	}
	for _, m := range flags.FindAllStringSubmatch(text, -1) {
		c.debuggable = c.debuggable || slices.Contains(strings.Fields(m[1]), "DEBUGGABLE")
	}
	c.checkCompiled(text)
	return nil
}

// compilerFilter is how the package manager says that the app's code was compiled:
// since Android 9, and before.
var compilerFilter = regexp.MustCompile(`\[status=([a-z-]{1,40})\]|compilation_filter=([a-z-]{1,40})`)

// checkCompiled looks at how the app's code stands. Android says "Success" of a
// compilation and leaves a debug build uncompiled all the same.
func (c *collector) checkCompiled(text string) {
	if !c.facts.canCompile() || c.job.Energy.Compile != config.CompileSpeed {
		return
	}
	stands := ""
	for _, m := range compilerFilter.FindAllStringSubmatch(text, -1) {
		if filter := m[1] + m[2]; filter == config.CompileSpeed {
			return
		} else if stands == "" {
			stands = filter
		}
	}
	if stands != "" {
		c.setContext("compiled", stands)
		c.warnf("%s was to be compiled ahead of time, and Android has left it at %q: it does so to debug builds", c.job.App.Package, stands)
	}
}

// canCompile: `cmd package compile` came with Android 7.
func (f facts) canCompile() bool { return f.api >= 24 }

// compile has the app compiled ahead of time, so that no repetition pays for it
// (EDATA, section 3.7.2), and notes how its code stands.
func (c *collector) compile(ctx context.Context) error {
	if !c.facts.canCompile() {
		return nil
	}
	how := c.job.Energy.Compile
	defer c.setContext("compiled", how)
	if how != config.CompileSpeed {
		return nil
	}
	out, err := c.execSilent(ctx, compileFor, "cmd", "package", "compile", "-m", how, "-f", c.job.App.Package)
	if err := answered("compile the app ahead of time", out, err); err != nil {
		return c.notCompiled(err)
	}
	if !bytes.Contains(out.Stdout, []byte("Success")) {
		return c.notCompiled(fmt.Errorf("compile the app ahead of time: the device says %q", firstLine(out.Stdout)))
	}
	return nil
}

// compileFor bounds a compilation: of a large app on a slow device it takes minutes.
const compileFor = 20 * time.Minute

func (c *collector) notCompiled(err error) error {
	out := c.final(Infrastructure, err)
	if e := asError(out); e != nil {
		e.hint = "energy.compile: none measures the app as it was installed"
	}
	return out
}
