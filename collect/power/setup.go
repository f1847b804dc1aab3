package power

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/energy"
)

// feign tells the battery service that no charger is there: batterystats counts
// on battery alone. Where the battery itself is measured, it must be true.
func (m *Meter) feign(ctx context.Context) error {
	if m.powered == "battery" || m.powered == "" || m.choice.Source == energy.Battery || !canFeign(m.t.Facts) {
		return nil
	}
	if !m.feigned {
		m.feigned = true
		m.t.UndoLater("tell the battery service the truth (dumpsys battery reset)", func(ctx context.Context) error { return m.t.Try(ctx, "dumpsys", "battery", "reset") })
	}
	if err := m.t.Try(ctx, "dumpsys", "battery", "unplug"); err != nil {
		return fmt.Errorf("feign that the device is on battery: %w", err)
	}
	return nil
}

// canFeign: `dumpsys battery unplug` came with Android 6.
func canFeign(f target.Facts) bool { return f.API >= 23 }

const brightnessMode = "screen_brightness_mode"

// Values of screen_brightness_mode.
const (
	brightnessByHand = "0"
	brightnessByRoom = "1"
)

// holdBrightness keeps the light of the room from changing the screen's brightness
// between two repetitions: it stays as it was last set by hand.
func (m *Meter) holdBrightness(ctx context.Context) error {
	text, err := m.t.Output(ctx, "settings", "get", "system", brightnessMode)
	if err != nil {
		return fmt.Errorf("read whether the screen's brightness is automatic: %w", err)
	}
	if strings.TrimSpace(text) != brightnessByRoom {
		return nil
	}
	m.t.UndoLater("make the screen's brightness automatic again", func(ctx context.Context) error {
		return m.t.Try(ctx, "settings", "put", "system", brightnessMode, brightnessByRoom)
	})
	return m.t.Put(ctx, "system", brightnessMode, brightnessByHand)
}

var (
	userID = regexp.MustCompile(`(?m)\b(?:userId|appId)=(\d{1,9})\b`)
	flags  = regexp.MustCompile(`(?m)^\s*(?:pkgFlags|flags)=\[([^\]]*)\]`)
)

// readPackage finds the app's UID and whether it is a debug build.
func (m *Meter) readPackage(ctx context.Context, b *Build) error {
	text, err := m.t.Output(ctx, "dumpsys", "package", b.App.Package)
	if err != nil {
		return fmt.Errorf("read what %s is: %w", b.App.Package, err)
	}
	if m := userID.FindStringSubmatch(text); m != nil {
		b.uid, _ = strconv.Atoi(m[1])
	}
	for _, m := range flags.FindAllStringSubmatch(text, -1) {
		b.debuggable = b.debuggable || slices.Contains(strings.Fields(m[1]), "DEBUGGABLE")
	}
	m.checkCompiled(text, b)
	return nil
}

// compilerFilter is how the package manager says that the app's code was compiled:
// since Android 9, and before.
var compilerFilter = regexp.MustCompile(`\[status=([a-z-]{1,40})\]|compilation_filter=([a-z-]{1,40})`)

// checkCompiled looks at how the app's code stands. Android says "Success" of a
// compilation and leaves a debug build uncompiled all the same.
func (m *Meter) checkCompiled(text string, b *Build) {
	if !canCompile(m.t.Facts) || m.settings.Compile != config.CompileSpeed {
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
		b.Note("compiled", stands)
		m.t.Journal.Warnf("%s was to be compiled ahead of time, and Android has left it at %q: it does so to debug builds", b.App.Package, stands)
	}
}

// canCompile: `cmd package compile` came with Android 7.
func canCompile(f target.Facts) bool { return f.API >= 24 }

// compile has the app compiled ahead of time, so that no repetition pays for it
// (EDATA, section 3.7.2), and notes how its code stands.
func (m *Meter) compile(ctx context.Context, b *Build) error {
	if !canCompile(m.t.Facts) {
		return nil
	}
	how := m.settings.Compile
	defer b.Note("compiled", how)
	if how != config.CompileSpeed {
		return nil
	}
	out, err := m.t.Patient(ctx, compileFor, "cmd", "package", "compile", "-m", how, "-f", b.App.Package)
	if err := target.Answered("compile the app ahead of time", out, err); err != nil {
		return m.notCompiled(err)
	}
	if !bytes.Contains(out.Stdout, []byte("Success")) {
		return m.notCompiled(fmt.Errorf("compile the app ahead of time: the device says %q", target.FirstLine(out.Stdout)))
	}
	return nil
}

// compileFor bounds a compilation: of a large app on a slow device it takes minutes.
const compileFor = 20 * time.Minute

func (m *Meter) notCompiled(err error) error {
	return m.t.Advise(loss.Infrastructure, err, "energy.compile: none measures the app as it was installed")
}
