package collect

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/apkgate/apkgate/device"
)

// Phase is a part of a collection.
type Phase string

// The phases, in the order in which they come.
const (
	SetUp  Phase = "set-up"
	WarmUp Phase = "warm-up"
	// Settle is the rest before energy is measured; the message says how much of
	// it is left.
	Settle   Phase = "settle"
	Measure  Phase = "measure"
	TearDown Phase = "tear-down"
	Done     Phase = "done"
	// Waiting is no phase: something keeps the device from going on, which the
	// message says: "has not answered for 5s".
	Waiting Phase = "waiting"
	// Warned is no phase: the event is a warning, which the run keeps.
	Warned Phase = "warning"
)

// Event is a piece of progress.
type Event struct {
	Device      string
	Phase       Phase
	Repetition  int // from 1, in WarmUp and Measure
	Repetitions int
	Message     string
}

// Progress is told what happens. Lab calls it from one goroutine at a time.
type Progress interface{ Report(Event) }

type silent struct{}

func (silent) Report(Event) {}

func (c *collector) report(phase Phase, repetition, of int, message string) {
	c.progress.Report(Event{c.job.Device, phase, repetition, of, message})
}

// HostClock is this computer's monotonic clock.
func HostClock() device.Clock { return hostClock{time.Now()} }

type hostClock struct{ start time.Time }

func (h hostClock) Now() time.Duration { return time.Since(h.start) }

func (h hostClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// printable makes one line of valid UTF-8 of a device's words.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "�"))
}
