// Package shaping holds the limits to which a network is slowed down, and the commands of Linux's
// tc and the Android emulator's console that set and show them.
//
// It owns the numbers, the command lines and the parsing of their output, and sends nothing itself.
// It removes only what has apkgate's own numbers, since a device may be shaped by somebody else,
// and netd keeps its own rules. It does not shape adb's port, since a device reached over the
// shaped interface would be measured more slowly, or not be reachable at all.
package shaping

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Shape is how slow a network is. Delay and loss are of a round trip.
type Shape struct {
	DownKbit, UpKbit int // the most kbit/s; 0: unlimited
	Delay, Jitter    time.Duration
	Loss             float64 // of the packets, in percent
}

// Any reports whether anything is limited.
func (s Shape) Any() bool { return s != Shape{} }

// Half returns the shape with the delay and the loss of one direction.
func (s Shape) Half() Shape {
	s.Delay, s.Jitter, s.Loss = s.Delay/2, s.Jitter/2, s.Loss/2
	return s
}

// rest formats all but the speeds: ", 70 ms, 10 % lost".
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

// The descriptions of shaping in a run's context. What a means can't shape is left out.

// ByConsole describes what the emulator's console shapes: one speed for both directions, and no
// loss.
func (s Shape) ByConsole() string {
	s.Loss = 0
	return fmt.Sprintf("console: %d kbit/s%s", s.DownKbit, s.rest())
}

// ByTC describes what tc shapes, in both directions or outgoing only.
func (s Shape) ByTC(both bool) string {
	if !both {
		return fmt.Sprintf("tc: %d kbit/s up%s", s.UpKbit, s.rest())
	}
	return fmt.Sprintf("tc: %d kbit/s down, %d up%s", s.DownKbit, s.UpKbit, s.rest())
}

// As is a way to run a command line as root.
type As string

// The ways: adb's own shell after `adb root`; AOSP's su of development builds; and that of Magisk
// and others, which takes a command line.
const (
	Shell As = "shell"
	Su0   As = "su 0"
	SuC   As = "su -c"
)

// Ways returns all of them, in the order in which they are tried.
func Ways() []As { return []As{Shell, Su0, SuC} }

// Run returns a script as a command line of adb's shell. quote is the device's quoting.
func (a As) Run(script string, quote func(...string) string) string {
	switch a {
	case Su0:
		return quote("su", "0", "sh", "-c", script)
	case SuC:
		return quote("su", "-c", script)
	}
	return script
}

// quiet makes a script continue after failures, without output.
func quiet(commands ...string) string {
	return strings.Join(commands, " 2>/dev/null; ") + " 2>/dev/null"
}
