package device

import (
	"fmt"
	"strconv"
	"strings"
)

// AnimationQuestion is the command line whose output ReadAnimations reads. The settings command
// is there from Android 4.2 on. A setting never changed is "null".
const AnimationQuestion = "settings get global window_animation_scale; settings get global transition_animation_scale; settings get global animator_duration_scale"

// AnimationsOn is the command line that gives users' animations back.
const AnimationsOn = "settings put global window_animation_scale 1; settings put global transition_animation_scale 1; settings put global animator_duration_scale 1"

// Scales are by how much longer the animations of windows, of transitions and of animators take
// than Android means them to; 0 is off.
type Scales [3]float64

// ReadAnimations reads them; false where the device doesn't tell.
func ReadAnimations(output string) (s Scales, told bool) {
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

// String names what is unusual: "" where animations are as users have them, "off", "0.5x", or
// "mixed" where they are not alike.
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

func lookAnimations(output string) Finding {
	s, told := ReadAnimations(output)
	switch {
	case !told:
		return fit(notTold)
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
