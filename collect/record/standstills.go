package record

import (
	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

const (
	anrCount = "anr.count"
	snrCount = "snr.count"
)

// Restart is a restart of Android itself at an unknown time.
var Restart = Standstill{Metric: snrCount}

// Standstills returns those of a repetition.
func Standstills(s applog.Seen) (out []Standstill) {
	for _, a := range s.Anomalies {
		switch a.Kind {
		case applog.NotResponding:
			out = append(out, Standstill{logcat.ANRMetric(logcat.ANRKind(a.Reason)), s.Since(a)})
		case applog.SystemEnded:
			out = append(out, Standstill{snrCount, s.Since(a)})
		}
	}
	return out
}

// Restarts returns those of Android itself, in a lost attempt: the UI events of the next attempt
// are at other times.
func Restarts(list []Standstill) (out []Standstill) {
	for _, s := range list {
		if s.Metric == snrCount {
			out = append(out, Restart)
		}
	}
	return out
}

// ANRs returns the entries of the record's section on what did not respond in a repetition, up to
// room; more reports that there were others.
func ANRs(repetition int, s applog.Seen, room int) (out []run.ANR, more bool) {
	for _, a := range s.Anomalies {
		kind := run.SNR
		switch a.Kind {
		case applog.NotResponding:
			kind = logcat.ANRKind(a.Reason)
		case applog.SystemEnded:
		default:
			continue
		}
		if len(out) >= room {
			return out, true
		}
		out = append(out, run.ANR{
			Kind: kind, Process: a.Process, PID: a.PID, Reason: journal.Line(a.Reason), Repetition: repetition, Event: s.EventOf(a),
			AtMS: milliseconds(a.From), WaitedMS: milliseconds(a.Waited),
		})
	}
	return out, false
}

// count adds the standstills to the metrics of the repetition, 0 for each kind without one, and to
// those of the event in which each began.
func (m Measurement) count(it *run.Iteration) {
	it.Metrics[anrCount], it.Metrics[snrCount] = 0, 0
	for _, name := range logcat.ANRMetrics() {
		it.Metrics[name] = 0
	}
	for _, s := range m.Standstills {
		it.Metrics[s.Metric]++
		if s.Metric != snrCount {
			it.Metrics[anrCount]++
		}
		if s.Since > 0 {
			it.Events[m.bucketOf(s.Since)].Metrics[s.Metric]++
		}
	}
}

// fillStandstills sets the standstill metrics that an event has in any repetition to 0 where they
// are missing.
func fillStandstills(its []run.Iteration) {
	told := map[string]map[string]bool{} // metrics by event
	each := func(do func(run.Bucket)) {
		for _, it := range its {
			for _, e := range it.Events {
				do(e)
			}
		}
	}
	names := append(logcat.ANRMetrics(), snrCount)
	each(func(e run.Bucket) {
		for _, name := range names {
			if _, has := e.Metrics[name]; has {
				if told[e.Name] == nil {
					told[e.Name] = map[string]bool{}
				}
				told[e.Name][name] = true
			}
		}
	})
	each(func(e run.Bucket) {
		for name := range told[e.Name] {
			e.Metrics[name] += 0
		}
	})
}
