package anrtraces

import (
	"bytes"
	"slices"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/anr/waits"
	"github.com/apkgate/apkgate/trace/logcat"
)

// shows reports whether a dump has the stacks of a process.
func shows(text []byte, pid int) bool {
	d, err := anr.Read(bytes.NewReader(text))
	return err == nil && pid != 0 && slices.ContainsFunc(d.Processes, func(p anr.Process) bool { return p.PID == pid && len(p.Threads) > 0 })
}

// read adds to the ANR what its dumps show: the longest chain of waits in any of them, the first of
// equal ones, and the state of the phone by all. It reports whether any dump showed one. calls are
// the unanswered binder calls.
func (x *explaining) read(dumps [][]byte, calls []byte) bool {
	about := waits.Subject{Process: x.anr.Process, PID: x.anr.PID, Reason: x.anr.Reason}
	open, _ := anr.Read(bytes.NewReader(calls))
	var all []anr.Dump
	var shown anr.Dump
	var longest waits.Chain
	for _, text := range dumps {
		d, err := anr.Read(bytes.NewReader(text))
		if err != nil {
			continue
		}
		all = append(all, d)
		if len(d.Binder) == 0 {
			d.Binder = open.Binder
		}
		if chain := waits.Of(d, about); len(chain.Steps) > len(longest.Steps) {
			shown, longest = d, chain
		}
	}
	for _, d := range all {
		shown = joined(shown, d)
	}
	if len(longest.Steps) > 0 {
		longest.Fill(x.anr)
		x.Target.Journal.Doubts("the stacks of "+journal.Line(x.anr.Process)+", which did not respond", append(shown.Warnings, longest.Warnings...))
	}
	signature.Fill(x.anr, shown, x.Names)
	return len(longest.Steps) > 0
}

// joined fills in what a dump lacks on the phone's state from another dump of the same ANR.
func joined(d, other anr.Dump) anr.Dump {
	if len(d.CPU) == 0 {
		d.CPU = other.CPU
	}
	if len(d.Load) == 0 {
		d.Load = other.Load
	}
	if len(d.Pressure) == 0 {
		d.Pressure = other.Pressure
	}
	return d
}

// How much of the log is kept: from so long before Android began to wait to so long after the ANR
// was reported, and only the last so many bytes of that.
const (
	logBefore = 10e3 // ms
	logAfter  = 15e3
	maxLog    = 1 << 20
)

// around returns the lines of the log around an ANR; nil if the log lacks it.
func around(log []byte, a run.ANR) []byte {
	read, err := logcat.Read(bytes.NewReader(log))
	if err != nil {
		return nil
	}
	events, _ := logcat.Events(read.Entries)
	at := -1
	for i, e := range events {
		if e.Kind == logcat.ANR && e.PID == a.PID && a.Kind != run.SNR || a.Kind == run.SNR && (e.Kind == logcat.SNR || e.Kind == logcat.SystemStarted) {
			if at < 0 || distance(e, a) <= distance(events[at], a) {
				at = i
			}
		}
	}
	if at < 0 {
		return nil
	}
	noticed := ms(events[at])
	lines := bytes.SplitAfter(log, []byte("\n"))
	var out []byte
	for _, e := range read.Entries {
		t := float64(e.Time) / 1e6
		if t >= noticed-a.WaitedMS-logBefore && t <= noticed+logAfter && e.Line > 0 && e.Line <= len(lines) {
			out = append(out, lines[e.Line-1]...)
		}
	}
	return out[max(len(out)-maxLog, 0):]
}

func ms(e logcat.Event) float64 { return float64(e.Time) / 1e6 }

// distance is how far an event of the log is from when an ANR was reported, in ms.
func distance(e logcat.Event, a run.ANR) float64 { return max(ms(e)-a.AtMS, a.AtMS-ms(e)) }
