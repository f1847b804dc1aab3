package html

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/figure"
)

// Text and marks must have a contrast of 4.5 to 1 with their background (WCAG 2.2, success
// criterion 1.4.3, level AA), in light and in dark.
func TestColoursHaveContrast(t *testing.T) {
	light, dark, ok := strings.Cut(figure.Colours, "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("the colours have no dark scheme")
	}
	for scheme, css := range map[string]string{"light": light, "dark": dark} {
		colours, hex := map[string]float64{}, map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6})`).FindAllStringSubmatch(css, -1) {
			colours[m[1]], hex[m[1]] = luminance(t, m[2]), m[2]
		}
		// The names of calls are on translucent colours.
		for _, colour := range []string{"worse", "better"} {
			behind := luminance(t, blend(t, hex[colour], hex["ground"], 0.42))
			a, b := max(colours["text"], behind), min(colours["text"], behind)
			if ratio := (a + 0.05) / (b + 0.05); ratio < 4.5 {
				t.Errorf("%s: text on a call of the colour %s has a contrast of %.2f, want 4.5", scheme, colour, ratio)
			}
		}
		for _, text := range []string{"text", "muted", "worse", "better", "suspect", "good"} {
			for _, ground := range []string{"ground", "raised"} {
				a, b := colours[text], colours[ground]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want 4.5", scheme, text, ground, ratio)
				}
			}
		}
	}
}

// blend returns a translucent colour on the background, mixed as browsers do: byte by byte.
func blend(t *testing.T, colour, ground string, opacity float64) string {
	t.Helper()
	var out string
	for i := 0; i < 6; i += 2 {
		a, errA := strconv.ParseUint(colour[i:i+2], 16, 8)
		b, errB := strconv.ParseUint(ground[i:i+2], 16, 8)
		if errA != nil || errB != nil {
			t.Fatalf("%q or %q is no colour", colour, ground)
		}
		out += fmt.Sprintf("%02x", int(opacity*float64(a)+(1-opacity)*float64(b)))
	}
	return out
}

// luminance returns the relative luminance of a colour as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}
