package logcat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// logd's default sizes of each buffer, in bytes (system/logging: logd/LogSize.h; before
// Android 12 system/core: liblog/properties.cpp), which are smaller on a phone with little
// memory, and the range that may be set.
const (
	usualSize  = 256 << 10
	lowRAMSize = 64 << 10
	leastSize  = 64 << 10
	mostSize   = 256 << 20
)

// packs is the compression ratio of logd since Android 12 (SerializedLogBuffer): "main: ring
// buffer is 256 KiB (123 KiB consumed, 206 KiB readable)" on a OnePlus 12 with Android 16.
const packs = 206.0 / 123

// others are the buffers' shares of other processes' output.
var others = map[string]float64{"main": 0.6, "system": 0.2, "events": 0.1, "radio": 0.1}

// ring is one of logd's buffers.
type ring struct {
	size int64 // in bytes, 0: the default
	own  int64 // bytes of the entries that were added to it
}

func (l *Log) ring(buffer string) *ring {
	if l.rings == nil {
		l.rings = map[string]*ring{}
	}
	if l.rings[buffer] == nil {
		l.rings[buffer] = &ring{}
	}
	return l.rings[buffer]
}

// size returns the capacity of a buffer, in bytes.
func (l *Log) size(buffer string) int64 {
	usual := int64(usualSize)
	if l.LowRAM {
		usual = lowRAMSize
	}
	return cmp.Or(l.ring(buffer).size, usual)
}

// position returns how many bytes were written to a buffer up to a time, including those of
// other processes, which exist only in this sum.
func (l *Log) position(buffer string, at time.Duration) int64 {
	return l.ring(buffer).own + int64(others[buffer]*float64(l.Chatter)*at.Seconds())
}

// prune drops the entries that no longer fit in their buffers.
func (l *Log) prune() {
	now := l.Clock.Now()
	l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool {
		room := float64(l.size(e.Buffer))
		if l.API >= 31 {
			room *= packs
		}
		return float64(l.position(e.Buffer, now)-e.position) > room
	})
}

// sizes returns the output of logcat -g for the buffers.
func (l *Log) sizes(buffers []string) string {
	var b strings.Builder
	for _, name := range buffers {
		size := l.size(name)
		used := min(l.position(name, l.Clock.Now()), size)
		switch {
		case l.API >= 31:
			fmt.Fprintf(&b, "%s: ring buffer is %s (%s consumed, %s readable), max entry is 5120 B, max payload is 4068 B\n",
				name, inUnits(size, " %siB"), inUnits(used, " %siB"), inUnits(int64(float64(used)*packs), " %siB"))
		case l.API >= 29:
			fmt.Fprintf(&b, "%s: ring buffer is %s (%s consumed), max entry is 5120 B, max payload is 4068 B\n", name, inUnits(size, " %siB"), inUnits(used, " %siB"))
		default:
			fmt.Fprintf(&b, "%s: ring buffer is %s (%s consumed), max entry is 5120b, max payload is 4068b\n", name, inUnits(size, "%sb"), inUnits(used, "%sb"))
		}
	}
	return b.String()
}

// inUnits formats a size in K or M, whichever is the largest unit of which it has more than
// one.
func inUnits(size int64, unit string) string {
	prefix := "K"
	if size >>= 10; size > 1024 && size%1024 == 0 {
		size, prefix = size>>10, "M"
	}
	return fmt.Sprintf("%d"+unit, size, prefix)
}

// resize is logcat -G: logd permits it to members of the group log, such as adb's shell
// (LogCommand.cpp, clientHasLogCredentials).
func (l *Log) resize(buffers []string, value string) (problem string) {
	units := map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20}
	digits := strings.TrimRight(value, "KM")
	n, err := strconv.ParseInt(digits, 10, 32)
	unit, known := units[value[len(digits):]]
	if size := n * unit; err == nil && known && size >= leastSize && size <= mostSize && !l.Fixed {
		l.prune()
		for _, name := range buffers {
			l.ring(name).size = size
		}
		return ""
	}
	return fmt.Sprintf("failed to set the '%s' log size.", strings.Join(buffers, ","))
}
