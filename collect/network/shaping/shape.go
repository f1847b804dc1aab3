// Package shaping is what a network is slowed down to, and the words in which Linux's
// tc and the Android emulator's console are told so and tell it back.
//
// It owns numbers, command lines and what the answers mean, and sends nothing itself.
// It takes two stands: only what bears apkgate's own numbers is ever removed, since a
// device may be shaped by somebody else, and netd keeps rules of its own beside; and
// adb's own port is left out, as a device that is reached over what is shaped would be
// measured more slowly, and may not be reached at all.
package shaping

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Shape is how slow a network is. The delay and the loss are of a way there and back.
type Shape struct {
	DownKbit, UpKbit int // the most kbit/s; 0: as many as there are
	Delay, Jitter    time.Duration
	Loss             float64 // of the packets, in percent
}

// Any reports whether anything is slowed down at all.
func (s Shape) Any() bool { return s != Shape{} }

// Half is the shape with the delay and the loss of one of two directions.
func (s Shape) Half() Shape {
	s.Delay, s.Jitter, s.Loss = s.Delay/2, s.Jitter/2, s.Loss/2
	return s
}

// rest is what a shape says beside its speeds: ", 70 ms, 10 % lost".
func (s Shape) rest() string {
	text := ""
	if s.Delay > 0 {
		text += fmt.Sprintf(", %d ms", s.Delay.Milliseconds())
	}
	if s.Jitter > 0 {
		text += fmt.Sprintf(" ± %d", s.Jitter.Milliseconds())
	}
	if s.Loss > 0 {
		text += ", " + strconv.FormatFloat(s.Loss, 'f', -1, 64) + " % lost"
	}
	return text
}

// The ways of shaping as a run's context has them. What one can't shape is not in it.

// ByConsole is what the emulator's console shapes: it has one speed for both
// directions here, and loses nothing.
func (s Shape) ByConsole() string {
	s.Loss = 0
	return fmt.Sprintf("console: %d kbit/s%s", s.DownKbit, s.rest())
}

// ByTC is what tc shapes, in both directions or of what goes out alone.
func (s Shape) ByTC(both bool) string {
	if !both {
		return fmt.Sprintf("tc: %d kbit/s up%s", s.UpKbit, s.rest())
	}
	return fmt.Sprintf("tc: %d kbit/s down, %d up%s", s.DownKbit, s.UpKbit, s.rest())
}

// As is one of several ways to run a command line as root.
type As string

// The ways: adb's own shell, after `adb root`; AOSP's su, of builds for development; and
// that of Magisk and others, which takes a command line.
const (
	Shell As = "shell"
	Su0   As = "su 0"
	SuC   As = "su -c"
)

// Ways are all of them, in the order in which they are tried.
func Ways() []As { return []As{Shell, Su0, SuC} }

// Run is a script as a command line of adb's shell. quote is the device's quoting.
func (a As) Run(script string, quote func(...string) string) string {
	switch a {
	case Su0:
		return quote("su", "0", "sh", "-c", script)
	case SuC:
		return quote("su", "-c", script)
	}
	return script
}

// quiet has a script go on whatever fails, without a word.
func quiet(commands ...string) string {
	return strings.Join(commands, " 2>/dev/null; ") + " 2>/dev/null"
}
