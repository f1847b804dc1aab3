package logcat

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	Entries int   `json:"entries"`
	Clock   Clock `json:"clock"` // of the first entry
	// First and Last are the times of the first and last entry on Clock.
	First      time.Duration  `json:"first_ns"`
	Last       time.Duration  `json:"last_ns"`
	Priorities map[string]int `json:"priorities"`
	// Events lists at most MaxEvents events.
	Events []Event `json:"events"`
}

// MaxEvents limits the events that an inspection lists.
const MaxEvents = 10_000

// Inspect reads a log and returns its metrics: anr.count, the count of each kind of ANR found,
// snr.count, and startup.ttid_ms and startup.ttfd_ms as medians over the activities.
func Inspect(r io.Reader) (trace.Inspection, error) {
	l, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	warnings := l.Warnings
	if len(l.Entries) == 0 {
		warnings = append(warnings, run.Warning{Text: "the file has no line of a log"})
		return trace.NewInspection("logcat", nil, warnings, Details{Events: []Event{}}).Empty(), nil
	}
	events, doubts := Events(l.Entries)
	warnings = append(warnings, doubts...)
	last := l.Entries[len(l.Entries)-1]
	details := Details{
		Entries: len(l.Entries), Clock: l.Entries[0].Clock, First: l.Entries[0].Time, Last: last.Time,
		Priorities: map[string]int{}, Events: append([]Event{}, events[:min(len(events), MaxEvents)]...),
	}
	for _, e := range l.Entries {
		if e.Priority != 0 {
			details.Priorities[string(rune(e.Priority))]++
		}
	}
	if left := len(events) - MaxEvents; left > 0 {
		warnings = append(warnings, run.Warning{Text: strconv.Itoa(left) + " more events are not listed"})
	}
	return trace.NewInspection("logcat", metrics(events), warnings, details), nil
}

func metrics(events []Event) map[string]float64 {
	out := map[string]float64{"anr.count": 0, "snr.count": 0}
	starts := map[Kind][]float64{}
	for _, e := range events {
		switch e.Kind {
		case ANR:
			out["anr.count"]++
			out[ANRMetric(ANRKind(e.Detail))]++
		case SNR:
			out["snr.count"]++
		case Displayed, FullyDrawn:
			starts[e.Kind] = append(starts[e.Kind], float64(e.Duration)/float64(time.Millisecond))
		}
	}
	for kind, name := range map[Kind]string{Displayed: "startup.ttid_ms", FullyDrawn: "startup.ttfd_ms"} {
		if took := starts[kind]; len(took) > 0 {
			slices.Sort(took)
			out[name] = (took[(len(took)-1)/2] + took[len(took)/2]) / 2
		}
	}
	return out
}
