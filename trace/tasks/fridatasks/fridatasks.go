// Package fridatasks reads the asynchronous tasks that examples/tasks/frida.js records: lines of
// JSON (apkgate.tasks/1, docs/tasks.md#frida) about when each task was scheduled, started, done or
// cancelled, with the stack that scheduled it, its queue's identity and its pool's capacity.
//
// It owns the lines, whoever writes them. Lines of another kind, such as those that Frida prints
// itself, are counted and left out.
package fridatasks

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Source is the word for this source in records.
const Source = "frida"

// Format is the format and version of the lines.
const Format = "apkgate.tasks/1"

// Limits on a task.
const (
	maxTasks    = 1 << 18
	maxCapacity = 1 << 16
	maxDelayMS  = 24 * 60 * 60 * 1000
	maxTime     = 1 << 60 // ns
	maxFrames   = 1 << 20 // of all stacks
)

// Reads reports whether a file that begins so has such lines.
func Reads(head []byte) bool { return bytes.Contains(head, []byte(`"format":"`+Format+`"`)) }

// line is a line. Times are ns of CLOCK_MONOTONIC; one of them is there.
type line struct {
	Format    string   `json:"format"`
	ID        int64    `json:"id"`
	Scheduled *int64   `json:"scheduled"`
	Started   *int64   `json:"started"`
	Done      *int64   `json:"done"`
	Cancelled *int64   `json:"cancelled"`
	Unit      string   `json:"unit"`
	Kind      string   `json:"kind"`
	Queue     string   `json:"queue"`
	Capacity  int      `json:"capacity"`
	Name      string   `json:"name"`
	Thread    string   `json:"thread"`
	DelayMS   int64    `json:"delay_ms"`
	Stack     []string `json:"stack"`
	Lost      int      `json:"lost"`
	Failed    string   `json:"failed"`
}

// reader is the state of reading.
type reader struct {
	out                     tasks.List
	places                  map[int64]int // of tasks, by their ids
	units                   tasks.Units[queue]
	stacks                  map[uint64][]string
	seed                    maphash.Seed
	names                   tasks.Names
	frames                  int
	foreign, unknown        int // lines
	lost, failed, stackless int
	failure                 string
	warnings                trace.Warnings
}

// queue identifies a unit.
type queue struct{ name, queue string }

// Read reads the lines. An error is one of reading.
func Read(src io.Reader) (tasks.List, error) {
	r := &reader{
		out:    tasks.List{Source: Source, Tells: tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}},
		places: map[int64]int{}, stacks: map[uint64][]string{}, seed: maphash.MakeSeed(),
	}
	r.units = tasks.NewUnits[queue](&r.out)
	lines := trace.NewLines(src)
	for lines.Next() {
		var l line
		text := bytes.TrimSpace(lines.Text())
		if len(text) == 0 {
			continue
		}
		if lines.Cut() || json.Unmarshal(text, &l) != nil {
			r.foreign++
			continue
		}
		r.line(&l)
	}
	r.doubts()
	return r.out, lines.Err()
}

func (r *reader) line(l *line) {
	switch {
	case l.Format != "":
		if l.Format != Format {
			r.warnings.Addf(0, "the format is %s, want %s: it is read as far as it is alike", trace.Quote(l.Format), Format)
		}
	case l.Lost > 0:
		r.lost = max(r.lost, l.Lost)
	case l.Failed != "":
		r.failed++
		r.failure = l.Failed
	case valid(l.Scheduled):
		r.scheduled(l)
	case valid(l.Started), valid(l.Done), valid(l.Cancelled):
		r.happened(l)
	default:
		r.foreign++
	}
}

func valid(ns *int64) bool { return ns != nil && *ns >= 0 && *ns <= maxTime }

func (r *reader) scheduled(l *line) {
	if len(r.out.Tasks) == maxTasks {
		r.out.LeftOut++
		return
	}
	if _, twice := r.places[l.ID]; twice {
		r.unknown++
		return
	}
	unit, ok := r.unit(l)
	if !ok {
		return
	}
	r.places[l.ID] = len(r.out.Tasks)
	r.out.Tasks = append(r.out.Tasks, tasks.Task{
		Unit: unit, Name: r.names.Of(l.Name), Context: r.stack(l.Stack), Sender: r.names.Of(l.Thread),
		Delay: time.Duration(min(max(l.DelayMS, 0), maxDelayMS)) * time.Millisecond, Scheduled: time.Duration(*l.Scheduled), Started: tasks.Unknown, Done: tasks.Unknown,
	})
}

func (r *reader) happened(l *line) {
	place, ok := r.places[l.ID]
	if !ok {
		r.unknown++
		return
	}
	t := &r.out.Tasks[place]
	switch {
	case valid(l.Started) && t.Started == tasks.Unknown:
		t.Started, t.Thread = time.Duration(*l.Started), r.names.Of(l.Thread)
		// A pool is called as its workers are, if they have a name of their own.
		if unit := &r.out.Units[t.Unit]; unit.Kind == run.ThreadPool {
			if name := tasks.Pool(t.Thread); name != "" {
				unit.Name = name
			}
		}
	case valid(l.Done) && t.Started != tasks.Unknown && t.Done == tasks.Unknown:
		t.Done = time.Duration(*l.Done)
	case valid(l.Cancelled):
		t.Cancelled = true
	default:
		r.unknown++
	}
}

// kinds are the kinds of units that lines have.
var kinds = []string{run.MainThread, run.PlainThread, run.HandlerThread, run.IntentService, run.ThreadPool, run.AsyncTask}

func (r *reader) unit(l *line) (int, bool) {
	key := queue{trace.Name(l.Unit), trace.Name(l.Queue)}
	if place, known := r.units.Known(key); known {
		return place, true
	}
	unit := tasks.Unit{Name: key.name, Kind: l.Kind, Capacity: min(max(l.Capacity, 0), maxCapacity)}
	if !slices.Contains(kinds, l.Kind) {
		r.warnings.Addf(0, "the unit %s is of the kind %s, which is unknown: it is taken for a thread", trace.Quote(key.name), trace.Quote(l.Kind))
		unit.Kind = run.PlainThread
	}
	return r.units.Of(key, unit)
}

// stack keeps equal stacks once.
func (r *reader) stack(frames []string) []string {
	if len(frames) == 0 {
		return nil
	}
	frames = frames[:min(len(frames), run.MaxStack)]
	var hash maphash.Hash
	hash.SetSeed(r.seed)
	for _, f := range frames {
		_, _ = hash.WriteString(f)
		_ = hash.WriteByte(0)
	}
	key := hash.Sum64()
	if kept, ok := r.stacks[key]; ok {
		return kept
	}
	if r.frames += len(frames); r.frames > maxFrames {
		r.stackless++
		return nil
	}
	kept := make([]string, len(frames))
	for i, f := range frames {
		kept[i] = r.names.Of(f)
	}
	r.stacks[key] = kept
	return kept
}

func (r *reader) doubts() {
	w := &r.warnings
	w.Counted(0, r.foreign, "%d line is not of "+Format+": it is left out", "%d lines are not of "+Format+": they are left out")
	w.Counted(0, r.unknown, "%d event is left out: its task is not known, or has it already", "%d events are left out: their tasks are not known, or have them already")
	w.Counted(0, r.lost, "the script forgot %d task that did not start: too many were waiting", "the script forgot %d tasks that did not start: too many were waiting")
	w.Counted(0, r.names.Dropped, "%d name or frame is left out: there are too many", "%d names or frames are left out: there are too many")
	w.Counted(0, r.stackless, "%d scheduling has no stack: there are too many different ones", "%d schedulings have no stack: there are too many different ones")
	w.Counted(0, r.failed, "a hook of the script failed %d time, the last one at %s", "hooks of the script failed %d times, the last one at %s", trace.Quote(r.failure))
	r.out.Warnings = w.List()
}
