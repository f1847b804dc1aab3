package collect

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// How long a display is given to change its rate, and how often it is looked at.
const (
	rateFor   = 3 * time.Second
	rateEvery = 250 * time.Millisecond
)

// holdRefreshRate has the display draw at the rate that the scenario asks for: a phone
// that chooses by itself draws one run at 60 Hz and the next at 120. What counts is
// the rate that it then has; the settings are put into words of its own by some.
func (c *collector) holdRefreshRate(ctx context.Context) error {
	hz := c.job.Scenario.RefreshHz
	if hz == 0 {
		return nil
	}
	if c.target.Facts.API < 29 {
		c.journal.Warnf("the display can't be held at %d Hz: only Android 10 and later can be told its rate", hz)
		return nil
	}
	rate := strconv.Itoa(hz)
	for _, s := range [][3]string{
		{"system", "peak_refresh_rate", rate},
		{"system", "min_refresh_rate", rate},
		{"secure", "refresh_rate_mode", samsungMode(hz)}, // Samsung's own
	} {
		if s[1] == "refresh_rate_mode" && !strings.EqualFold(c.target.Facts.Properties["ro.product.manufacturer"], "samsung") {
			continue
		}
		if err := c.target.Hold(ctx, s[0], s[1], s[2]); err != nil {
			return err
		}
	}
	text := ""
	there, err := c.target.Poll(ctx, rateEvery, rateFor, func() (done bool, err error) {
		if text, err = c.target.Output(ctx, "dumpsys", "display"); err != nil {
			return false, fmt.Errorf("read the display's rate: %w", err)
		}
		now, notTold := strconv.ParseFloat(device.RefreshRate(text), 64)
		return notTold == nil && isRate(now, hz), nil
	})
	if err == nil && !there {
		c.tellRate(text, hz)
	}
	return err
}

// samsungMode is Samsung's setting for a rate: the standard one of 60 Hz, or the
// display's highest.
func samsungMode(hz int) string {
	if hz <= 60 {
		return "0"
	}
	return "2"
}

// isRate reports whether a display draws at a rate, give or take what it rounds.
func isRate(now float64, hz int) bool { return math.Abs(now-float64(hz)) < 0.02*float64(hz) }

// tellRate says that the display draws at another rate than it was told.
func (c *collector) tellRate(text string, hz int) {
	of := ""
	if rates := device.RefreshRates(text); len(rates) > 0 {
		of = " (its rates are " + prose.List(inWords(rates)) + " Hz)"
	}
	now := "a rate that it doesn't tell"
	if told := device.RefreshRate(text); told != "" {
		now = told + " Hz"
	}
	c.offRate = true
	c.journal.Warnf("the display was to be held at %d Hz, and is at %s%s", hz, now, of)
}

func inWords(rates []int) (out []string) {
	for _, hz := range rates {
		out = append(out, strconv.Itoa(hz))
	}
	return out
}

// checkRate says where frames were drawn for another rate than the display was held at,
// unless the display has told so itself.
func (c *collector) checkRate(interval time.Duration) {
	hz := c.job.Scenario.RefreshHz
	if drawn := float64(time.Second) / float64(interval); hz > 0 && !c.offRate && !isRate(drawn, hz) {
		c.journal.Warnf("the display was to be held at %d Hz, and frames were drawn for %.0f Hz", hz, drawn)
	}
}
