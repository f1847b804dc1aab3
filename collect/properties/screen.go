package properties

import (
	"regexp"
	"strconv"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/jank"
)

var (
	wmSize      = regexp.MustCompile(`size: (\d+)x(\d+)`)
	windowInit  = regexp.MustCompile(`init=(\d+)x(\d+)`)
	displaySize = regexp.MustCompile(`DisplayDeviceInfo\{"[^"]*": (?:uniqueId="[^"]*", )?(\d+) x (\d+)`)
	offsets     = regexp.MustCompile(`appVsyncOff (\d{1,10}), presDeadline (\d{1,10})\b`)
	dots        = regexp.MustCompile(`(Physical|Override) density: (\d{1,4})\b`)
)

// size reads `wm size` (Android 4.3 and later). An override stands below the physical size.
func (r *reader) size(text string) { r.setSize(wmSize, text) }

func (r *reader) setSize(like *regexp.Regexp, text string) {
	if sizes := like.FindAllStringSubmatch(text, -1); len(sizes) > 0 && r.Properties["screen"] == "" {
		last := sizes[len(sizes)-1]
		r.Properties["screen"] = last[1] + "x" + last[2]
	}
}

// density reads `wm density` (Android 4.3 and later). Users may set an override on phones too.
func (r *reader) density(text string) {
	for _, m := range dots.FindAllStringSubmatch(text, -1) {
		r.Properties[devctx.Density] = m[2]
		if m[1] == "Override" {
			r.Properties["density_override"] = m[2]
		}
	}
}

// display reads `dumpsys display`: the size of a screen before Android 4.3, and by what frames are
// judged.
func (r *reader) display(text string) {
	r.setSize(displaySize, text)
	hz, err := strconv.ParseFloat(device.RefreshRate(text), 64)
	if err != nil || hz < 10 || hz > 1000 {
		return // a display without a rate is assumed to have 60 Hz
	}
	every := period(hz)
	r.Display, r.TellsDisplay = jank.Display{Period: every, Forgiven: forgiven(text, every)}, true
	r.Properties["refresh_hz"] = strconv.Itoa(int(hz + 0.5))
}

// forgiven returns how long a frame may wait for a buffer, by the offsets of the first display in
// `dumpsys display` (Android 5 and later).
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
	return jank.Forgiveness(period, time.Duration(app), time.Duration(deadline))
}
