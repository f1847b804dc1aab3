package load

import (
	"bytes"
	"context"
	"fmt"
	"regexp"

	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device"
)

// state is what a device says of its load at one time.
type state struct {
	alive             bool
	log               []byte
	memory, available int64   // bytes
	cpus              int     // that are on
	written           int     // files that are there
	busy, all         float64 // ticks of all CPUs, since the device began
}

const mark = "apkgate-next"

// look asks for the state, in one command.
func (l *Load) look(ctx context.Context) (state, error) {
	line := "cat /proc/stat; echo " + mark + "; cat /proc/meminfo; echo " + mark + "; cat " + logFile + " 2>/dev/null; echo " + mark + "; ls " + path + "-w* 2>/dev/null"
	if l.pid != "" {
		line += "; echo " + mark + "; " + device.Quote("test", "-d", "/proc/"+l.pid) + " && echo alive"
	}
	out, err := l.target.Ask(ctx, line)
	if err != nil {
		return state{}, fmt.Errorf("look at the load: %w", err)
	}
	return read(out.Stdout), nil
}

// read parses the answer.
func read(answer []byte) (s state) {
	parts := bytes.SplitN(answer, []byte(mark), 5)
	for len(parts) < 5 {
		parts = append(parts, nil)
	}
	for line := range strings.Lines(string(parts[0])) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 5 || !strings.HasPrefix(line, "cpu"):
		case fields[0] == "cpu":
			s.busy, s.all = ticks(fields[1:])
		default:
			s.cpus++
		}
	}
	s.memory, s.available = bytesOf(parts[1], "MemTotal"), bytesOf(parts[1], "MemAvailable")
	s.log = parts[2]
	s.written = bytes.Count(parts[3], []byte(path+"-w"))
	s.alive = strings.TrimSpace(string(parts[4])) == "alive"
	return s
}

// ticks adds up the times of a line of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
// steal (proc(5)); those of guests are in user and nice already.
func ticks(fields []string) (busy, all float64) {
	for i, f := range fields[:min(len(fields), 8)] {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, 0
		}
		if all += float64(v); i != 3 && i != 4 {
			busy += float64(v)
		}
	}
	return busy, all
}

// bytesOf returns a value of /proc/meminfo, 0 if it is not there.
func bytesOf(meminfo []byte, name string) int64 {
	m := regexp.MustCompile(`(?m)^` + name + `:\s+(\d{1,15}) kB`).FindSubmatch(meminfo)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kb << 10
}

// inUse returns the share of the memory that is in use.
func (s state) inUse() float64 {
	if s.memory == 0 {
		return 0
	}
	return 1 - float64(s.available)/float64(s.memory)
}

// busySince returns the share of the time for which the CPUs were busy since an earlier state; known
// is false if the device does not say.
func (s state) busySince(earlier state) (share float64, known bool) {
	if s.all <= earlier.all || earlier.all == 0 {
		return 0, false
	}
	return (s.busy - earlier.busy) / (s.all - earlier.all), true
}

// most limits what is taken of the script's log.
const most = 20

// said returns what the script said of one kind: "storage" for "ready: storage".
func (s state) said(kind string) (out []string) {
	for line := range strings.Lines(string(s.log)) {
		if what, ok := strings.CutPrefix(line, kind+": "); ok && len(out) < most {
			out = append(out, strings.TrimSpace(what))
		}
	}
	return out
}
