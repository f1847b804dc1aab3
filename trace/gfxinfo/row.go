package gfxinfo

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// layout is the order of the columns in a framestats header.
type layout struct {
	names []string
	set   []func(*Frame, int64) // nil for an unused column
	early bool                  // of Android 6
}

// parseLayout parses a header line, "Flags,IntendedVsync,…". The columns have changed five times
// from Android 6 to 16; only their names are relied on.
func parseLayout(line []byte) (layout, error) {
	var l layout
	for name := range bytes.SplitSeq(bytes.TrimRight(line, ", \t"), []byte(",")) {
		l.names = append(l.names, string(bytes.TrimSpace(name)))
		l.set = append(l.set, columns[l.names[len(l.names)-1]])
	}
	for _, needed := range []string{"IntendedVsync", "FrameCompleted"} {
		if !contains(l.names, needed) {
			return layout{}, fmt.Errorf("the header has no column %s, so its rows have no duration", needed)
		}
	}
	l.early = contains(l.names, "SyncQueued") && !contains(l.names, "DequeueBufferDuration")
	return l, nil
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// parse parses a row of the layout into f.
func (l layout) parse(f *Frame, line []byte) error {
	*f = Frame{early: l.early}
	rest := bytes.TrimRight(line, ", \t")
	for i, name := range l.names {
		if len(rest) == 0 {
			return fmt.Errorf("the row ends after %d of %d columns", i, len(l.names))
		}
		field := rest
		if comma := bytes.IndexByte(rest, ','); comma >= 0 {
			field, rest = rest[:comma], rest[comma+1:]
		} else {
			rest = nil
		}
		v, ok := parseInt(bytes.TrimSpace(field))
		if !ok {
			return fmt.Errorf("column %s is not a number", name)
		}
		if set := l.set[i]; set != nil {
			set(f, v)
		}
		// Android 12 to 14 swap the values of FrameStartTime and FrameInterval: the names and the
		// data are in different orders.
		if name == "FrameStartTime" && f.Interval > int64(time.Second) && v > 0 && v <= int64(time.Second) {
			f.Interval = v
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("the row has more than the header's %d columns", len(l.names))
	}
	f.dropImplausible()
	return nil
}

// dropImplausible clears a deadline or an interval that is Android's "unknown" (INT64_MAX, -1) or
// impossible.
func (f *Frame) dropImplausible() {
	if f.Interval < int64(time.Millisecond) || f.Interval > int64(time.Second) {
		f.Interval = 0
	}
	if f.Deadline <= f.IntendedVsync || f.Deadline-f.IntendedVsync > int64(maxDuration) {
		f.Deadline = 0
	}
}

// parseInt parses a decimal int64 without allocating. A number beyond int64 wraps around, as
// Android prints some signed values as unsigned.
func parseInt(b []byte) (int64, bool) {
	digits, negative := b, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return parseWide(b)
	}
	var v uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	if v > math.MaxInt64 {
		return parseWide(b)
	}
	if negative {
		return -int64(v), true
	}
	return int64(v), true
}

// parseWide parses the few numbers that need more than 63 bits.
func parseWide(b []byte) (int64, bool) {
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return v, true
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	return int64(v), err == nil
}

// tableColumns returns the number of stages in the older table's header: 3 up to Android 4.4, 4
// since; 0 if the line is no such header.
func tableColumns(line []byte) int {
	words := bytes.Fields(line)
	switch string(bytes.Join(words, []byte(" "))) {
	case "Draw Process Execute":
		return 3
	case "Draw Prepare Process Execute":
		return 4
	}
	return 0
}

// parseTableRow parses a row of 3 or 4 stages in milliseconds. Java prints them in the device's
// locale, perhaps with a decimal comma.
func parseTableRow(line []byte, stages int) (Frame, error) {
	words := bytes.Fields(line)
	if len(words) != stages {
		return Frame{}, fmt.Errorf("the row has %d of %d stages", len(words), stages)
	}
	var f Frame
	for i, word := range words {
		ms, err := strconv.ParseFloat(string(bytes.ReplaceAll(word, []byte(","), []byte("."))), 64)
		if err != nil || !(ms >= 0) || ms > maxDuration.Seconds()*1000 {
			return Frame{}, fmt.Errorf("stage %d is not a time in milliseconds", i+1)
		}
		place := i
		if stages == 3 && i > 0 {
			place++ // no Prepare
		}
		f.Stages[place] = time.Duration(math.Round(ms * 1e6))
	}
	return f, nil
}
