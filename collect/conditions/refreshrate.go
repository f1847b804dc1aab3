package conditions

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// Rate is the refresh rate at which a display is held for one run.
type Rate struct {
	Target *target.Target
	Hz     int // 0: the device's own

	// warned reports that a warning about another rate was given.
	warned bool
}

// How long a display may take to change its rate, and how often it is polled.
const (
	rateFor   = 3 * time.Second
	rateEvery = 250 * time.Millisecond
)

// Hold sets the display to the scenario's refresh rate: a phone that chooses by itself draws one
// run at 60 Hz and the next at 120. The result is checked by the display's actual rate, since some
// makers rewrite the settings.
func (r *Rate) Hold(ctx context.Context) error {
	hz := r.Hz
	if hz == 0 {
		return nil
	}
	if r.Target.Facts.API < 29 {
		r.Target.Journal.Warnf("the display can't be held at %d Hz: only Android 10 and later allow that", hz)
		return nil
	}
	rate := strconv.Itoa(hz)
	for _, s := range [][3]string{
		{"system", "peak_refresh_rate", rate},
		{"system", "min_refresh_rate", rate},
		{"secure", "refresh_rate_mode", samsungMode(hz)}, // Samsung's own
	} {
		if s[1] == "refresh_rate_mode" && !strings.EqualFold(r.Target.Facts.Properties["ro.product.manufacturer"], "samsung") {
			continue
		}
		if err := r.Target.Hold(ctx, s[0], s[1], s[2]); err != nil {
			return err
		}
	}
	text := ""
	there, err := r.Target.Poll(ctx, rateEvery, rateFor, func() (done bool, err error) {
		if text, err = r.Target.Output(ctx, "dumpsys", "display"); err != nil {
			return false, fmt.Errorf("read the display's rate: %w", err)
		}
		now, queryErr := strconv.ParseFloat(device.RefreshRate(text), 64)
		return queryErr == nil && isRate(now, hz), nil
	})
	if err == nil && !there {
		r.warn(text, hz)
	}
	return err
}

// samsungMode returns Samsung's setting for a rate: the standard one of 60 Hz, or the display's
// highest.
func samsungMode(hz int) string {
	if hz <= 60 {
		return "0"
	}
	return "2"
}

// isRate reports whether a display draws at a rate, within 2 %.
func isRate(now float64, hz int) bool { return math.Abs(now-float64(hz)) < 0.02*float64(hz) }

// warn reports that the display draws at another rate than requested.
func (r *Rate) warn(text string, hz int) {
	of := ""
	if rates := device.RefreshRates(text); len(rates) > 0 {
		of = " (its rates are " + prose.List(rateList(rates)) + " Hz)"
	}
	now := "a rate that it doesn't tell"
	if told := device.RefreshRate(text); told != "" {
		now = told + " Hz"
	}
	r.warned = true
	r.Target.Journal.Warnf("the display was to be held at %d Hz, and is at %s%s", hz, now, of)
}

func rateList(rates []int) (out []string) {
	for _, hz := range rates {
		out = append(out, strconv.Itoa(hz))
	}
	return out
}

// Doubt returns a warning if frames were drawn for another rate than the display was held at, "" if
// not or if the display's own rate was reported already. interval is the time between two vsyncs.
func (r *Rate) Doubt(interval time.Duration) string {
	if drawn := float64(time.Second) / float64(interval); r.Hz > 0 && !r.warned && !isRate(drawn, r.Hz) {
		return fmt.Sprintf("the display was to be held at %d Hz, and frames were drawn for %.0f Hz", r.Hz, drawn)
	}
	return ""
}
