package device

import (
	"fmt"
	"strconv"
	"strings"
)

// AnimationQuery is the command line whose output ReadAnimations parses. The settings command
// exists from Android 4.2 on. It prints "null" for a setting that was never changed.
const AnimationQuery = "settings get global window_animation_scale; settings get global transition_animation_scale; settings get global animator_duration_scale"

// AnimationsOn is the command line that restores the default animations.
const AnimationsOn = "settings put global window_animation_scale 1; settings put global transition_animation_scale 1; settings put global animator_duration_scale 1"

// Scales are the factors by which the animations of windows, of transitions and of animators
// last longer than Android's default; 0 is off.
type Scales [3]float64

// ReadAnimations parses the output of AnimationQuery. known is false where the device does not
// report the scales.
func ReadAnimations(output string) (s Scales, known bool) {
	values := strings.Fields(output)
	if len(values) != len(s) {
		return s, false
	}
	for i, text := range values {
		value, err := strconv.ParseFloat(text, 64)
		switch {
		case text == "null":
			value = 1
		case err != nil || !(value >= 0 && value <= 100): // NaN too
			return s, false
		}
		s[i] = value
	}
	return s, true
}

// String names what is unusual about the scales: "" for the default, "off", "0.5x", or "mixed"
// where they differ.
func (s Scales) String() string {
	switch {
	case s[0] != s[1] || s[1] != s[2]:
		return "mixed"
	case s[0] == 0:
		return "off"
	case s[0] == 1:
		return ""
	}
	return fmt.Sprintf("%gx", s[0])
}

func checkAnimations(output string) Finding {
	s, known := ReadAnimations(output)
	switch {
	case !known:
		return fit(notReported)
	case s.String() == "mixed":
		f := unfit(fmt.Sprintf("scales of windows, transitions, animators: %g, %g, %g", s[0], s[1], s[2]),
			"set the three animation scales alike, and the same on every device")
		f.Fix = AnimationsOn
		return f
	case s.String() == "":
		return fit("scale 1")
	}
	f := fit(fmt.Sprintf("scale %g", s[0]))
	if s[0] == 0 {
		f = fit("off: frames of animations are not measured")
	}
	f.Run, f.Fix = "leaves them so, and its context says so", AnimationsOn
	return f
}
