package target

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// LogSize is how much the device keeps of its log. Before is "main=256K,events=1M", of each buffer
// that was changed.
const LogSize Kind = "log-size"

// How much of each log buffer that a run reads is kept while the device is measured. logd keeps 256
// KiB, and 64 on a device with little memory (logd/LogSize.h; liblog/properties.cpp), which a phone
// that logs 80 kB a second fills in three seconds.
const (
	wantLog       = "16M"
	wantLogLowRAM = "4M"
	// resizesLog is the first version of Android whose logcat changes the size: the first with
	// logd.
	resizesLog = 21
)

// EnlargeLog makes the device keep more of its log until the run ends. A device that refuses is
// measured anyway, by what is read of its log as it is written.
func (t *Target) EnlargeLog(ctx context.Context) error {
	t.KeepsLog = false
	if t.Facts.API < resizesLog {
		return nil
	}
	out, err := t.Ask(ctx, logSizeQuestion)
	if err != nil {
		return fmt.Errorf("ask how much of its log the device keeps: %w", err)
	}
	want := wantLog
	if t.Facts.Properties["ro.config.low_ram"] == "true" {
		want = wantLogLowRAM
	}
	sizes := readLogSizes(out.Stdout)
	small := sizes.below(want)
	if len(small) == 0 {
		t.KeepsLog = len(sizes) > 0
		return nil
	}
	c := Change{Kind: LogSize, Name: "log", Before: small.String(), Put: want}
	if t.made(c) == nil {
		t.undo = append(t.undo, undo{what: c.String(), change: &c})
	}
	out, err = t.Recorded(ctx, small.set(want)+"; "+logSizeQuestion, c)
	if err != nil {
		return fmt.Errorf("have the device keep more of its log: %w", err)
	}
	left := readLogSizes(out.Stdout).below(want)
	if t.KeepsLog = len(left) == 0; !t.KeepsLog {
		t.Journal.Warnf("the device keeps no more of its log than %s (it says %q): UI events are read while they are written, and a repetition of which some could not be read is made again",
			journal.Line(left.String()), LastLine(out.Stderr))
	}
	return nil
}

// logSizeQuestion queries the sizes of the buffers that a run reads.
const logSizeQuestion = "logcat -g -b main -b system -b events"

// logBuffer is a buffer of the log and its size: "256K", as logcat -G takes it.
type logBuffer struct{ name, size string }

type logBuffers []logBuffer

// sizeLine matches a line of logcat -g: "main: ring buffer is 256Kb (1Kb consumed), …", since
// Android 10 "256 KiB" (logcat.cpp).
var sizeLine = regexp.MustCompile(`(?m)^(?:/dev/log/)?(main|system|events): ring buffer is (\d{1,9}) ?([KMG])i?[Bb]\b`)

// readLogSizes parses the answer to logSizeQuestion.
func readLogSizes(text []byte) (out logBuffers) {
	for _, m := range sizeLine.FindAllSubmatch(text, -1) {
		out = append(out, logBuffer{string(m[1]), string(m[2]) + string(m[3])})
	}
	return out
}

// bytesOf returns a size in bytes, 0 if it is none.
func bytesOf(size string) int64 {
	units := map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
	if size == "" {
		return 0
	}
	n, err := strconv.ParseInt(size[:len(size)-1], 10, 32)
	if err != nil {
		return 0
	}
	return n * units[size[len(size)-1]]
}

// below returns the buffers that are smaller than a size.
func (l logBuffers) below(size string) (out logBuffers) {
	for _, b := range l {
		if n := bytesOf(b.size); n > 0 && n < bytesOf(size) {
			out = append(out, b)
		}
	}
	return out
}

// String lists each buffer with its size: "main=256K,events=1M".
func (l logBuffers) String() string {
	var names []string
	for _, b := range l {
		names = append(names, b.name+"="+b.size)
	}
	return strings.Join(names, ",")
}

// set returns the command that gives all of them one size. It fails if one refuses it.
func (l logBuffers) set(size string) string {
	line := []string{"logcat", "-G", size}
	for _, b := range l {
		line = append(line, "-b", b.name)
	}
	return device.Quote(line...)
}

var notedSize = regexp.MustCompile(`^(main|system|events)=(\d{1,9}[KMG])$`)

// putBackLogSize restores each buffer's size, unless somebody has changed it since or the device
// has restarted.
func (t *Target) putBackLogSize(ctx context.Context, c Change) (found string, err error) {
	out, err := t.Ask(ctx, logSizeQuestion)
	if err != nil {
		return "", err
	}
	now := readLogSizes(out.Stdout)
	var lines []string
	for one := range strings.SplitSeq(c.Before, ",") {
		m := notedSize.FindStringSubmatch(one)
		if m == nil {
			return "", fmt.Errorf("%q is no buffer of the log with its size", one)
		}
		at := slices.IndexFunc(now, func(b logBuffer) bool { return b.name == m[1] })
		switch {
		case at < 0:
		case bytesOf(now[at].size) == bytesOf(c.Put):
			lines = append(lines, logBuffers{{m[1], m[2]}}.set(m[2]))
		case now[at].size != m[2]:
			found = cmp.Or(found, "is "+now[at].size+" by now")
		}
	}
	if len(lines) == 0 {
		return found, nil
	}
	out, err = t.Ask(ctx, strings.Join(lines, " && "))
	return "", Answered("give the log its size back", out, err)
}
