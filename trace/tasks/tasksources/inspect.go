package tasksources

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Limits on what an inspection lists.
const (
	maxUnits   = 50
	maxLongest = 20
)

// Details are what an inspection reports (docs/format/inspect.md).
type Details struct {
	Sources []SourceDetails `json:"sources"`
}

// SourceDetails are the tasks of one source.
type SourceDetails struct {
	Source  string         `json:"source"`
	Tells   []string       `json:"tells"`
	Tasks   int            `json:"tasks"`
	LeftOut int            `json:"left_out,omitempty"`
	Units   []UnitDetails  `json:"units"`
	Longest []WaitingTasks `json:"longest"`
}

// UnitDetails is one unit. Times are of those of its tasks of which they are known.
type UnitDetails struct {
	Name      string        `json:"name"`
	Kind      string        `json:"kind"`
	Capacity  int           `json:"capacity,omitempty"`
	Scheduled int           `json:"scheduled"`
	Started   int           `json:"started"`
	Done      int           `json:"done"`
	Cancelled int           `json:"cancelled,omitempty"`
	Queued    time.Duration `json:"queued_max_ns"`
	Ran       time.Duration `json:"ran_max_ns"`
}

// WaitingTasks is a task that waited long, or, where that is not known of any, that took long.
type WaitingTasks struct {
	Unit    string        `json:"unit"`
	Name    string        `json:"name,omitempty"`
	Thread  string        `json:"thread,omitempty"`
	Sender  string        `json:"sender,omitempty"`
	Queued  time.Duration `json:"queued_ns"`
	Ran     time.Duration `json:"ran_ns"`
	Context []string      `json:"context,omitempty"`
}

// Inspect reads a file of any source. Of an app given by its package, it reads pools too.
func Inspect(src io.ReadSeeker, app string) (trace.Inspection, error) {
	lists, err := Read(src, Options{Package: app, Pools: app != ""})
	if err != nil {
		return trace.Inspection{}, err
	}
	d := Details{Sources: []SourceDetails{}}
	var warnings []run.Warning
	n := 0
	for _, list := range lists {
		warnings = trace.Distinct(warnings, list.Warnings...)
		if n += len(list.Tasks); len(list.Tasks) > 0 {
			d.Sources = append(d.Sources, detailsOf(list))
		}
	}
	out := trace.NewInspection("tasks", nil, warnings, d)
	if n == 0 {
		return out.Empty(), nil
	}
	return out, nil
}

func detailsOf(list tasks.List) SourceDetails {
	d := SourceDetails{
		Source: list.Source, Tells: append([]string{}, list.Tells.Words()...), Tasks: len(list.Tasks), LeftOut: list.LeftOut, Longest: []WaitingTasks{},
	}
	units := make([]UnitDetails, len(list.Units))
	for i, u := range list.Units {
		units[i] = UnitDetails{Name: prose.Clip(u.Name, 100), Kind: u.Kind, Capacity: u.Capacity}
	}
	longest := make([]WaitingTasks, len(list.Tasks))
	for i, t := range list.Tasks {
		u, one := &units[t.Unit], &longest[i]
		*one = WaitingTasks{Unit: u.Name, Name: cmp.Or(t.Name, t.Inside), Thread: t.Thread, Sender: t.Sender, Context: t.Context}
		one.Queued, _ = t.Queued()
		one.Ran, _ = t.Ran()
		u.add(t, *one)
	}
	slices.SortStableFunc(units, func(a, b UnitDetails) int { return cmp.Compare(max(b.Queued, b.Ran), max(a.Queued, a.Ran)) })
	slices.SortStableFunc(longest, func(a, b WaitingTasks) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(b.Ran, a.Ran))
	})
	d.Units = units[:min(len(units), maxUnits)]
	d.Longest = append(d.Longest, longest[:min(len(longest), maxLongest)]...)
	return d
}

func (u *UnitDetails) add(t tasks.Task, took WaitingTasks) {
	if t.Scheduled != tasks.Unknown {
		u.Scheduled++
	}
	if t.Started != tasks.Unknown {
		u.Started++
	}
	if t.Done != tasks.Unknown {
		u.Done++
	}
	if t.Cancelled {
		u.Cancelled++
	}
	u.Queued, u.Ran = max(u.Queued, took.Queued), max(u.Ran, took.Ran)
}

// Summary is the inspection in lines of text.
func (d Details) Summary() (lines []string) {
	for _, s := range d.Sources {
		tells := "no stack, capacity or cancellation"
		if len(s.Tells) > 0 {
			tells = prose.List(s.Tells)
		}
		lines = append(lines, fmt.Sprintf("%s: %s of %s; it tells %s", s.Source,
			prose.Count(s.Tasks, "task", "tasks"), prose.Count(len(s.Units), "unit", "units"), tells))
		for _, u := range s.Units {
			capacity := ""
			if u.Capacity > 0 {
				capacity = fmt.Sprintf(", capacity %d", u.Capacity)
			}
			lines = append(lines, fmt.Sprintf("  %s (%s%s): %d scheduled, %d started, %d done, %d cancelled; waited up to %.3f ms, ran up to %.3f ms",
				u.Name, u.Kind, capacity, u.Scheduled, u.Started, u.Done, u.Cancelled, ms(u.Queued), ms(u.Ran)))
		}
		for _, t := range s.Longest {
			at := ""
			if len(t.Context) > 0 {
				at = ", scheduled at " + strings.Join(t.Context[:min(len(t.Context), 3)], " < ")
			}
			lines = append(lines, fmt.Sprintf("  waited %10.3f ms, ran %10.3f ms: %s in %s%s", ms(t.Queued), ms(t.Ran), cmp.Or(t.Name, "a task"), t.Unit, at))
		}
	}
	return lines
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }
