package target

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/trace/jank"
)

// Facts are the known properties of a device.
type Facts struct {
	Properties map[string]string
	API        int
	WifiOn     bool
	DataOn     bool
	// StayOn is the value of StayOnSetting before the run, "" if the device does not report it.
	StayOn string
	// Display is the display by which frames are judged if their rows don't say.
	Display jank.Display
	// WallLog reports that the log has no -v monotonic.
	WallLog bool
}

// HasFramestats reports whether the device records frame times: Android 6 and later do.
func (f Facts) HasFramestats() bool { return f.API >= 23 }

// IsEmulator reports whether the device is an emulator of the SDK, Android Studio, Genymotion,
// Cuttlefish or redroid: these have no usable battery and power monitors.
func (f Facts) IsEmulator() bool {
	for _, name := range []string{"ro.kernel.qemu", "ro.boot.qemu", "ro.hardware.virtual_device"} {
		if f.Properties[name] == "1" {
			return true
		}
	}
	return slices.ContainsFunc([]string{"goldfish", "ranchu", "vbox86", "cutf", "redroid"}, func(prefix string) bool {
		return strings.HasPrefix(f.Properties["ro.hardware"], prefix)
	})
}

var propertyLine = regexp.MustCompile(`(?m)^\[([^\]]+)\]: \[([^\]]*)\]`)

// ReadFacts reads the device's properties and settings.
func (t *Target) ReadFacts(ctx context.Context) error {
	out, err := t.Exec(ctx, "getprop")
	if err := Answered("read the device's properties", out, err); err != nil {
		return err
	}
	read, err := ReadProperties(out.Stdout)
	if err != nil {
		return err
	}
	t.Facts.Properties, t.Facts.API = read.Properties, read.API
	for _, setting := range []struct {
		name string
		on   *bool
	}{{"wifi_on", &t.Facts.WifiOn}, {"mobile_data", &t.Facts.DataOn}} {
		text, err := t.Output(ctx, "settings", "get", "global", setting.name)
		if err != nil {
			return err
		}
		*setting.on = strings.TrimSpace(text) != "0" // unknown counts as on: better connected than cut off
	}
	before, err := t.Output(ctx, "settings", "get", "global", StayOnSetting)
	if before = strings.TrimSpace(before); err != nil {
		return err
	}
	if _, queryErr := strconv.Atoi(before); queryErr == nil {
		t.Facts.StayOn = before
	}
	return t.findClock(ctx)
}

// ReadProperties parses the output of getprop.
func ReadProperties(output []byte) (Facts, error) {
	f := Facts{Properties: map[string]string{}}
	for _, m := range propertyLine.FindAllStringSubmatch(string(output), -1) {
		f.Properties[m[1]] = m[2]
	}
	api, err := strconv.Atoi(f.Properties["ro.build.version.sdk"])
	if err != nil || api < 1 || api > 10_000 {
		return Facts{}, fmt.Errorf("read the device's properties: %w: ro.build.version.sdk is %q, want a number",
			loss.ErrGarbled, journal.Line(f.Properties["ro.build.version.sdk"]))
	}
	f.API = api
	return f, nil
}

// StayOnSetting says with which chargers the screen stays on; "svc power stayon" sets all of them
// or none.
const StayOnSetting = "stay_on_while_plugged_in"
