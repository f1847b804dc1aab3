package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Doubts returns warnings about all repetitions together: differing UI events, unseen frames, and
// watching that may have disturbed the app.
func Doubts(measured []Measurement) []string {
	return slices.Concat(otherEvents(measured), coverage(measured), watching(measured))
}

// otherEvents lists repetitions whose UI events differ from those of the first: their buckets can't
// be compared one by one.
func otherEvents(measured []Measurement) (out []string) {
	for _, m := range measured {
		first := eventNames(measured[0])
		if got := eventNames(m); !slices.Equal(got, first) {
			out = append(out, fmt.Sprintf("repetition %d has other UI events than repetition %d: %s", m.Repetition, measured[0].Repetition, difference(got, first)))
		}
	}
	return out
}

func eventNames(m Measurement) []string {
	var out []string
	for _, e := range m.Events {
		out = append(out, e.Name)
	}
	return out
}

func difference(got, want []string) string {
	if len(got) != len(want) {
		return strconv.Itoa(len(got)) + " instead of " + strconv.Itoa(len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return "event " + strconv.Itoa(i+1) + " is " + strconv.Quote(got[i]) + " instead of " + strconv.Quote(want[i])
		}
	}
	return strings.Join(got, ", ")
}

// coverage warns of repetitions with frames that were not seen one by one.
func coverage(measured []Measurement) []string {
	least, at := 1.0, 0
	seen, all := 0, 0
	for _, m := range measured {
		if m.Unseen {
			continue
		}
		seen, all = seen+len(m.Frames), all+max(m.Whole.Count, len(m.Frames))
		if share := m.Whole.Seen(len(m.Frames)); share < least {
			least, at = share, m.Repetition
		}
	}
	if at == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%.1f %% of the frames were seen one by one, %.1f %% in repetition %d: the counts, janky frames and the smooth ratio of the whole are those that Android states; how long the others took, and after which UI event they were drawn, is not known",
		100*float64(seen)/float64(all), 100*least, at)}
}

// watched are the durations of watching, in all repetitions.
type watched struct{ watching, own, lasted time.Duration }

// much reports whether watching may affect the measurement: it took more than a fiftieth of the
// app's own CPU time, and a twentieth of one CPU. An idle app has next to none, and sharing eight
// CPUs with it for a few milliseconds a second disturbs nothing.
func (w watched) much() bool {
	return w.own > 0 && w.watching > w.own/50 && w.watching > w.lasted/20
}

// watching warns if watching took much of the device.
func watching(measured []Measurement) []string {
	var all watched
	for _, m := range measured {
		if m.Watching >= 0 && m.CPU > 0 {
			all.watching, all.own, all.lasted = all.watching+m.Watching, all.own+m.CPU, all.lasted+m.Lasted
		}
	}
	if !all.much() {
		return nil
	}
	return []string{fmt.Sprintf("watching took %.1f %% of the CPU time that the app had, and %.1f %% of a CPU (%v in all repetitions, adb's daemon and what it ran): it may have disturbed the app",
		100*all.watching.Seconds()/all.own.Seconds(), 100*all.watching.Seconds()/max(all.lasted, 1).Seconds(), all.watching.Round(time.Millisecond))}
}
