package simpleperf

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Limits of the lists of an inspection.
const (
	topSymbols = 20
	topThreads = 50
	maxValue   = 1000 // bytes of one text: a symbol, a value of meta info
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	Source   Source            `json:"source"`
	Recorder string            `json:"recorder,omitempty"`
	Clock    string            `json:"clock,omitempty"`
	Arch     string            `json:"arch,omitempty"`
	Command  string            `json:"command,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
	Records  map[string]int    `json:"records,omitempty"`
	Samples  int               `json:"samples"`
	Lost     uint64            `json:"lost"`
	// First and Last are the times of the earliest and latest sample on Clock.
	First time.Duration `json:"first_ns"`
	Last  time.Duration `json:"last_ns"`
	// Frames counts the distinct frames, Unnamed those without a symbol.
	Frames  int             `json:"frames"`
	Unnamed int             `json:"frames_unnamed"`
	Events  []EventDetails  `json:"events"`
	Threads []ThreadDetails `json:"threads"`
	// BuildIDs counts the files whose build id is in the recording.
	BuildIDs int `json:"build_ids"`
}

// EventDetails is one event with its samples.
type EventDetails struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
	// Total is the sum of the periods: nanoseconds for a clock, else counts. For an event without
	// samples it is the counter's last value in the samples of others.
	Total uint64 `json:"total"`
	// Kinds splits Total by the kind of the sampled code.
	Kinds map[Kind]uint64 `json:"kinds,omitempty"`
	// Top lists the symbols with the largest Self.
	Top []SymbolDetails `json:"top,omitempty"`
}

// SymbolDetails is one function.
type SymbolDetails struct {
	Symbol string `json:"symbol"` // "" if the file names none
	File   string `json:"file"`
	Kind   Kind   `json:"kind"`
	// Self adds up the samples in the function itself, Total also those in its callees; a function
	// that is twice in a chain counts once.
	Self  uint64 `json:"self"`
	Total uint64 `json:"total"`
}

// ThreadDetails is one thread with its samples of all events.
type ThreadDetails struct {
	PID     int    `json:"pid"`
	TID     int    `json:"tid"`
	Name    string `json:"name"`
	Samples int    `json:"samples"`
}

// Inspect reads a recording and returns its totals: cpu.time_ms, if a clock was sampled.
func Inspect(r io.Reader) (trace.Inspection, error) {
	p, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	d := p.details()
	metrics := map[string]float64{}
	warnings := p.Warnings
	clock := p.clockEvent()
	switch {
	case p.Source == Nothing:
	case len(p.Samples) == 0 && p.Trace > 0:
		warnings = append(warnings, run.Warning{Text: fmt.Sprintf("the recording holds no samples but %d bytes of an instruction trace (ETM), which is not read: simpleperf inject turns it into branches, not into samples of time", p.Trace)})
	case len(p.Samples) == 0:
		warnings = append(warnings, run.Warning{Text: "no samples are in the file"})
	case clock == "":
		warnings = append(warnings, run.Warning{Text: fmt.Sprintf("the samples of %s measure no time; cpu.time_ms needs a recording of task-clock or cpu-clock", p.Events[p.Samples[0].Event].Name)})
	default:
		metrics["cpu.time_ms"] = p.CPUTime().Seconds() * 1000
	}
	if p.Lost > 0 {
		warnings = append(warnings, run.Warning{Text: fmt.Sprintf("%d samples were lost in addition to the %d in the file: totals are too low", p.Lost, len(p.Samples))})
	}
	seen := trace.NewInspection("simpleperf", metrics, warnings, d)
	if p.Source == Nothing {
		return seen.Empty(), nil
	}
	return seen, nil
}

// clockEvent returns the clock for CPU time, "" if none was sampled: task-clock, or else cpu-clock.
// Both measure the same time.
func (p *Profile) clockEvent() string {
	best := ""
	for _, s := range p.Samples {
		switch clock := p.Events[s.Event].clock(); clock {
		case "task-clock":
			return clock
		case "cpu-clock":
			best = clock
		}
	}
	return best
}

// CPUTime returns the CPU time that the samples of a clock stand for, over all processes in the
// file except the idle one. It is 0 if no clock was sampled.
func (p *Profile) CPUTime() time.Duration {
	clock := p.clockEvent()
	var sum time.Duration
	for _, s := range p.Samples {
		if clock != "" && p.Events[s.Event].clock() == clock && !p.Threads[s.Thread].idle() {
			sum = addTime(sum, s.Period)
		}
	}
	return sum
}

// idle reports whether a thread is the kernel's idle task.
func (t Thread) idle() bool { return t.PID == 0 && t.TID == 0 && t.Name == "swapper" }

// addTime adds nanoseconds, up to the largest duration.
func addTime(sum time.Duration, ns uint64) time.Duration {
	const most = time.Duration(1<<63 - 1)
	if ns > uint64(most-sum) {
		return most
	}
	return sum + time.Duration(ns)
}

func (p *Profile) details() Details {
	d := Details{
		Source: p.Source, Recorder: p.Recorder, Clock: p.Clock, Arch: p.Arch, Command: prose.Clip(p.Command, maxValue),
		Meta: map[string]string{}, Records: p.Records, Samples: len(p.Samples), Lost: p.Lost,
		Frames: len(p.Frames), BuildIDs: len(p.BuildIDs),
		Events: p.eventDetails(), Threads: p.topThreads(),
	}
	for key, value := range p.Meta {
		if key != "event_type_info" {
			d.Meta[prose.Clip(key, maxValue)] = prose.Clip(value, maxValue)
		}
	}
	for _, f := range p.Frames {
		if f.Symbol == "" {
			d.Unnamed++
		}
	}
	for i, s := range p.Samples {
		if i == 0 || s.Time < d.First {
			d.First = s.Time
		}
		d.Last = max(d.Last, s.Time)
	}
	return d
}

// function identifies a function.
type function struct {
	symbol, file string
	kind         Kind
}

// functions returns the list of functions, and for each frame the index of its function.
func (p *Profile) functions() (ofFrame []int, list []function) {
	places := map[function]int{}
	for _, f := range p.Frames {
		key := function{f.Symbol, f.File, f.Kind}
		place, ok := places[key]
		if !ok {
			place = len(list)
			places[key] = place
			list = append(list, key)
		}
		ofFrame = append(ofFrame, place)
	}
	return ofFrame, list
}

// cost is the samples of one event in one function.
type cost struct {
	self, total uint64
	last        int // the sample counted last
}

func (p *Profile) eventDetails() []EventDetails {
	ofFrame, list := p.functions()
	out := make([]EventDetails, len(p.Events))
	costs := make([]map[int]*cost, len(p.Events))
	for i, e := range p.Events {
		out[i] = EventDetails{Name: e.Name, Kinds: map[Kind]uint64{}}
		costs[i] = map[int]*cost{}
	}
	for i, s := range p.Samples {
		e := &out[s.Event]
		e.Samples++
		e.Total += s.Period
		for depth, at := range s.Chain {
			c, ok := costs[s.Event][ofFrame[at]]
			if !ok {
				c = &cost{last: -1}
				costs[s.Event][ofFrame[at]] = c
			}
			if depth == 0 {
				c.self += s.Period
				e.Kinds[p.Frames[at].Kind] += s.Period
			}
			if c.last != i {
				c.total += s.Period
				c.last = i
			}
		}
	}
	for i := range out {
		out[i].Top = top(list, costs[i])
		if out[i].Samples == 0 {
			out[i].Total = p.Events[i].Counted
		}
	}
	return out
}

func top(list []function, costs map[int]*cost) []SymbolDetails {
	all := make([]SymbolDetails, 0, len(costs))
	for place, c := range costs {
		f := list[place]
		all = append(all, SymbolDetails{
			Symbol: f.symbol, File: f.file, Kind: f.kind, Self: c.self, Total: c.total,
		})
	}
	slices.SortFunc(all, func(a, b SymbolDetails) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total),
			cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind))
	})
	all = all[:min(len(all), topSymbols)]
	for i := range all {
		all[i].Symbol, all[i].File = prose.Clip(all[i].Symbol, maxValue), prose.Clip(all[i].File, maxValue)
	}
	return all
}

func (p *Profile) topThreads() []ThreadDetails {
	all := make([]ThreadDetails, len(p.Threads))
	for i, t := range p.Threads {
		all[i] = ThreadDetails{PID: t.PID, TID: t.TID, Name: t.Name}
	}
	for _, s := range p.Samples {
		all[s.Thread].Samples++
	}
	slices.SortStableFunc(all, func(a, b ThreadDetails) int { return cmp.Compare(b.Samples, a.Samples) })
	return all[:min(len(all), topThreads)]
}
