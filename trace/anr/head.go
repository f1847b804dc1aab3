package anr

import (
	"bytes"
	"strconv"
	"strings"
)

// around parses a line outside the processes: the head that Android writes before them, and its
// lines about CPUs and memory.
func (r *reader) around(line, text []byte) {
	switch {
	case r.dump.Form == BugReport && r.anrEvent(text):
	case r.member(text):
	case bytes.HasPrefix(text, []byte("CPU usage from ")):
		r.times(string(text))
	case bytes.HasPrefix(text, []byte("Load: ")):
		r.load(string(text[len("Load: "):]))
	case r.of != "" && (bytes.HasPrefix(text, []byte("some avg10=")) || bytes.HasPrefix(text, []byte("full avg10="))):
		r.pressure(string(text))
	case len(r.dump.CPU) > 0 && bytes.Contains(text, []byte("% ")):
		r.usage(line)
	default:
		if !r.exported(text) && r.torn == 0 && len(r.dump.Processes) == 0 && inside(text) {
			r.torn = r.number
		}
	}
}

// inside reports whether a line is part of a thread other than its first line.
func inside(text []byte) bool {
	for _, begins := range []string{"| sysTid=", "| state=", "| held mutexes=", "native: #", "kernel: ", "- locked <", "- waiting to lock <", "- waiting on <"} {
		if bytes.HasPrefix(text, []byte(begins)) {
			return true
		}
	}
	return false
}

// anrEvent parses the event of an ANR in a bug report's log (EventLogTags.logtags, am_anr), and
// reports whether the line is one. The last one counts.
//
//	11-20 22:00:01.123  1000  1296  1532 I am_anr  : [0,4473,com.example.mail,8961,Input dispatching timed out (…)]
func (r *reader) anrEvent(text []byte) bool {
	_, rest, ok := bytes.Cut(text, []byte(" am_anr"))
	rest, begins := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte(": ["))
	fields := bytes.SplitN(bytes.TrimSuffix(rest, []byte("]")), []byte(","), 5)
	if !ok || !begins || len(fields) != 5 {
		return false
	}
	pid, ok := digits(fields[1])
	if ok {
		r.dump.PID, r.dump.Process, r.dump.Subject = pid, r.command(fields[2]), r.name(fields[4])
	}
	return ok
}

// maxHead is the number of lines before and in the head of a file: further down, lines that
// resemble a head belong to something else.
const maxHead = 200

// member parses a line "Subject: Input dispatching timed out (…)" of the head: of a file in
// /data/anr (StackTracesDumpHelper), of an entry of the drop box
// (ActivityManagerService.appendDropBoxProcessHeaders) or of the log
// (ProcessErrorStateRecord.appNotResponding).
func (r *reader) member(text []byte) bool {
	d := &r.dump
	if d.Form == BugReport || r.number > maxHead {
		return false
	}
	if bytes.HasPrefix(text, []byte("== dumpstate: ")) {
		d.Form = BugReport
		return true
	}
	if name, ok := bytes.CutPrefix(text, []byte("ANR in ")); ok {
		if d.Process == "" {
			d.Process = r.command(name)
		}
		d.Recognized = true
		return true
	}
	key, value, ok := bytes.Cut(text, []byte(": "))
	if !ok {
		return false
	}
	switch string(key) {
	case "Subject", "Reason":
		if d.Subject == "" {
			d.Subject = r.name(value)
		}
		d.Recognized = true
	case "Process":
		if d.Process == "" {
			d.Process = r.command(value)
		}
	case "Package":
		if d.Package == "" {
			d.Package = r.command(value)
		}
	case "PID":
		if n, ok := digits(value); ok && d.PID == 0 {
			d.PID = n
		}
	case "Build", "Build fingerprint":
		r.build(value)
	case "Tombstone maker":
		if bytes.HasPrefix(value, []byte("'xCrash")) {
			r.form(XCrash)
		}
	case "Crash type":
		if of := string(bytes.Trim(value, "'")); d.Form == XCrash && (of == "java" || of == "native") {
			d.Crash = &Crash{}
		}
	case "Fatal Exception", "Non-fatal Exception":
		if d.Form == Crashlytics {
			d.Crash = &Crash{Process: d.Process, Message: r.name(value)}
		}
	case "# Application":
		r.form(Crashlytics)
		if d.Process == "" {
			d.Process = r.command(value)
		}
	case "RssKb", "RssHwmKb", "VmSwapKb":
		d.Memory.set(string(key), string(value))
	default:
		return false
	}
	return true
}

func (m *Memory) set(key, value string) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return
	}
	switch key {
	case "RssKb":
		m.RSS = n
	case "RssHwmKb":
		m.RSSPeak = n
	case "VmSwapKb":
		m.Swap = n
	}
}

// load parses "11.2 / 9.87 / 8.6".
func (r *reader) load(text string) {
	if r.dump.Load != nil {
		return
	}
	var averages []float64
	for part := range strings.SplitSeq(text, "/") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(n >= 0 && n < 1e6) || len(averages) == 3 {
			return
		}
		averages = append(averages, n)
	}
	r.dump.Load = averages
}

// times parses the first line of a list of CPU times (ProcessCpuTracker.printCurrentState):
//
//	CPU usage from 0ms to 8231ms later (2023-04-04 22:06:31.064 to …) with 99% awake:
//	CPU usage from 12410ms to 0ms ago (…):
func (r *reader) times(text string) {
	rest := strings.TrimPrefix(text, "CPU usage from ")
	from, rest, _ := strings.Cut(rest, "ms to ")
	to, rest, _ := strings.Cut(rest, "ms ")
	begin, ok := digits([]byte(from))
	end, also := digits([]byte(to))
	if !ok || !also || len(r.dump.CPU) >= 100 {
		return
	}
	r.dump.Recognized = true
	r.dump.CPU = append(r.dump.CPU, CPU{FromMS: int64(begin), ToMS: int64(end), Later: strings.HasPrefix(rest, "later")})
}

// usage parses a line of such a list. Threads are below their process, indented further.
//
//	99% 1234/com.example.mail: 88% user + 11% kernel / faults: 1203 minor 5 major
//	  54% 1240/Binder:1234_2: 50% user + 4% kernel
//	31% TOTAL: 20% user + 8.1% kernel + 2.2% iowait + 0.1% irq + 0.3% softirq
func (r *reader) usage(line []byte) {
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	u, ok := usageOf(string(bytes.TrimLeft(line[:min(len(line), 500)], " +-")))
	now := &r.dump.CPU[len(r.dump.CPU)-1]
	switch {
	case !ok:
	case u.Name == "TOTAL" && u.PID == 0:
		now.Total = u
	case indent >= 4: // a thread
	case r.usages >= MaxUsages:
		r.left.usages++
	default:
		r.usages++
		u.Name = r.name([]byte(u.Name))
		now.Top = append(now.Top, u)
	}
}

// usageOf parses a line of a list of CPU times.
func usageOf(text string) (u Usage, ok bool) {
	share, rest, _ := strings.Cut(text, "% ")
	u.Percent, ok = percent(share)
	colon := strings.LastIndex(rest, ": ")
	if faults := strings.LastIndex(rest, " / faults: "); faults >= 0 {
		u.MinorFaults, u.MajorFaults = faultsOf(rest[faults+len(" / faults: "):])
		rest = rest[:faults]
		colon = strings.LastIndex(rest, ": ")
	}
	if !ok || colon < 0 {
		return u, false
	}
	u.Name = rest[:colon]
	if number, name, ok := strings.Cut(u.Name, "/"); ok {
		if pid, ok := digits([]byte(number)); ok {
			u.PID, u.Name = pid, name
		}
	}
	for part := range strings.SplitSeq(rest[colon+2:], " + ") {
		share, kind, _ := strings.Cut(strings.TrimSpace(part), "% ")
		n, ok := percent(share)
		if !ok {
			continue
		}
		switch kind {
		case "user":
			u.User = n
		case "kernel":
			u.System = n
		case "iowait":
			u.IOWait = n
		case "irq":
			u.IRQ = n
		case "softirq":
			u.SoftIRQ = n
		}
	}
	return u, true
}

// faultsOf parses "1203 minor 5 major", where either may be missing.
func faultsOf(text string) (minor, major int64) {
	words := strings.Fields(text)
	for i := 1; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i-1], 10, 64)
		switch {
		case err != nil:
		case words[i] == "minor":
			minor = n
		case words[i] == "major":
			major = n
		}
	}
	return minor, major
}

// percent parses a share of CPUs, of which a phone has fewer than a thousand.
func percent(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n >= 0 && n <= 100_000
}

// pressure parses "some avg10=0.52 avg60=0.21 avg300=0.05 total=1503288".
func (r *reader) pressure(text string) {
	kind, rest, _ := strings.Cut(text, " avg10=")
	share, _, _ := strings.Cut(rest, " ")
	n, ok := percent(share)
	if !ok {
		return
	}
	list := &r.dump.Pressure
	if last := len(*list) - 1; last < 0 || (*list)[last].Of != r.of {
		if len(*list) >= 10 {
			return
		}
		*list = append(*list, Pressure{Of: r.of})
	}
	now := &(*list)[len(*list)-1]
	if kind == "some" {
		now.Some = n
	} else {
		now.Full = n
	}
}

// heapOf parses "42% free, 5MB/9MB; 109888 objects".
func heapOf(text string) *Heap {
	free, rest, _ := strings.Cut(text, "% free, ")
	used, rest, _ := strings.Cut(rest, "/")
	size, objects, _ := strings.Cut(rest, "; ")
	h := Heap{Used: sizeOf(used), Size: sizeOf(size)}
	h.FreePercent, _ = digits([]byte(free))
	h.Objects, _ = strconv.ParseInt(strings.TrimSuffix(objects, " objects"), 10, 64)
	if h.Size <= 0 || h.Used < 0 {
		return nil
	}
	return &h
}

// sizeOf parses a size as art/runtime/base/utils.cc (PrettySize) prints it: "10215KB".
func sizeOf(text string) int64 {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}} {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			n, ok := digits([]byte(number))
			if !ok {
				return -1
			}
			return int64(n) * unit.size
		}
	}
	return -1
}
