package experiments

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
)

// queueApp is an app whose tasks wait in queues: a file of testdata/unseen-tasks, or one of its two
// builds.
type queueApp struct {
	pkg    string
	units  []tasks.Unit
	events []queueEvent
	tasks  []queueTask
	load   map[string]float64 // by what it makes slower: cpu (everything), net or io
}

type queueEvent struct {
	name   string
	at     time.Duration
	closes bool // the screen that was there
}

// queueTask is a statement of tasks.
type queueTask struct {
	name, unit, after, kind, until string
	at, every, takes               time.Duration
	times                          int
	chance                         float64 // that a repetition has it
	shows                          bool    // what the user waits for
	context                        []string
}

// queueBuild parses one of the two builds of a file: lines that end in "# cause" are of the head
// alone, those in "# before" of the base alone.
func queueBuild(text string, head bool) (queueApp, error) {
	app := queueApp{load: map[string]float64{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		other := " # cause"
		if head {
			other = " # before"
		}
		if line == "" || strings.HasPrefix(line, "#") || strings.HasSuffix(line, other) {
			continue
		}
		line, _, _ = strings.Cut(line, "  #")
		if err := app.add(line); err != nil {
			return app, fmt.Errorf("%q: %w", line, err)
		}
	}
	return app, nil
}

func (a *queueApp) add(line string) error {
	line, stack, _ := strings.Cut(line, " from ")
	w := strings.Fields(line)
	switch w[0] {
	case "app":
		a.pkg = w[1]
	case "unit":
		n, err := strconv.Atoi(w[3])
		a.units = append(a.units, tasks.Unit{Name: w[1], Kind: w[2], Capacity: n})
		return err
	case "event":
		at, err := time.ParseDuration(w[3])
		a.events = append(a.events, queueEvent{w[1], at, len(w) > 4})
		return err
	case "load":
		factor, err := strconv.ParseFloat(w[2], 64)
		a.load[w[1]] = factor
		return err
	case "task":
		t := queueTask{name: w[1], unit: w[3], after: w[5], times: 1, chance: 1, context: strings.Split(stack, ", ")}
		return t.options(a, w[6:])
	default:
		return fmt.Errorf("unknown statement %q", w[0])
	}
	return nil
}

func (t queueTask) options(a *queueApp, w []string) (err error) {
	for i := 0; i < len(w) && err == nil; i++ {
		value := ""
		if i+1 < len(w) {
			value = w[i+1]
		}
		i++
		switch w[i-1] {
		case "at":
			t.at, err = time.ParseDuration(value)
		case "every":
			t.every, err = time.ParseDuration(value)
		case "takes":
			t.takes, err = time.ParseDuration(value)
		case "times":
			t.times, err = strconv.Atoi(value)
		case "until":
			t.until = value
		case "chance":
			t.chance, err = strconv.ParseFloat(value, 64)
		default:
			i--
			switch w[i] {
			case "shows":
				t.shows = true
			case "net", "io":
				t.kind = w[i]
			default:
				return fmt.Errorf("unknown option %q", w[i])
			}
		}
	}
	a.tasks = append(a.tasks, t)
	return err
}

// allScreens is any event with which a screen goes.
const allScreens = "all"

// queuePhone is a phone on which the apps run.
type queuePhone struct {
	name  string
	slow  float64 // by which tasks take longer
	noise float64 // standard deviation of a task's time, on the log scale
	drift float64 // the same of a session's, and of a repetition's
	tells tasks.Tells
}

// instance is one task of one repetition.
type instance struct {
	of        queueTask
	unit      int
	scheduled time.Duration
	takes     time.Duration
	stops     time.Duration // when it is cancelled, 0 for never
}

// repeat runs a repetition: each unit starts its tasks in the order in which they were scheduled,
// as soon as one of its workers is free. It returns the tasks, and the time from each event until
// all that it shows is done.
func (a queueApp) repeat(p queuePhone, rng *rand.Rand, session float64) (grouping.Repetition, []run.Bucket) {
	all := a.instances(p, rng, session)
	out := grouping.Repetition{List: tasks.List{Source: "model", Tells: p.tells, Units: slices.Clone(a.units)}}
	for i := range out.List.Units {
		if !p.tells.Capacity {
			out.List.Units[i].Capacity = 0
		}
	}
	free := make([][]time.Duration, len(a.units)) // when each worker of a unit is free
	for u := range a.units {
		free[u] = make([]time.Duration, max(a.units[u].Capacity, 1))
	}
	shown := make([]time.Duration, len(a.events))
	for _, one := range all {
		worker := 0
		for w, at := range free[one.unit] {
			if at < free[one.unit][worker] {
				worker = w
			}
		}
		t := tasks.Task{Unit: one.unit, Name: one.of.name, Sender: "main", Thread: fmt.Sprintf("%s #%d", a.units[one.unit].Name, worker+1), Scheduled: one.scheduled, Started: tasks.Unknown, Done: tasks.Unknown}
		if p.tells.Contexts {
			t.Context = one.of.context
		}
		start := max(one.scheduled, free[one.unit][worker]) + time.Duration(200+rng.IntN(600))*time.Microsecond
		switch {
		case one.stops > 0 && one.stops <= start:
			t.Cancelled = true
		case one.stops > 0 && one.stops < start+one.takes:
			t.Started, t.Done, t.Cancelled = start, one.stops, true
		default:
			t.Started, t.Done = start, start+one.takes
			if at := a.eventOf(one.scheduled); one.of.shows && at >= 0 {
				shown[at] = max(shown[at], t.Done-a.events[at].at)
			}
		}
		if t.Started != tasks.Unknown {
			free[one.unit][worker] = t.Done
		}
		t.Cancelled = t.Cancelled && p.tells.Cancellation
		out.List.Tasks = append(out.List.Tasks, t)
	}
	out.Screens = []trace.Screen{{From: 0, To: tasks.Unknown}}
	buckets := []run.Bucket{{Name: run.Start}}
	for i, e := range a.events {
		out.Events = append(out.Events, trace.Event{Name: e.name, At: e.at})
		b := run.Bucket{Name: e.name, Metrics: map[string]float64{}}
		if shown[i] > 0 {
			b.Metrics[shownMS] = float64(shown[i]) / float64(time.Millisecond)
		}
		buckets = append(buckets, b)
		if e.closes {
			out.Screens[len(out.Screens)-1].To = e.at
			out.Screens = append(out.Screens, trace.Screen{From: e.at, To: tasks.Unknown})
		}
	}
	return out, buckets
}

// shownMS is the app's own metric of an event: until everything is shown that it was to show.
const shownMS = "app.shown_ms"

func (a queueApp) eventOf(at time.Duration) int {
	out := -1
	for i, e := range a.events {
		if e.at <= at {
			out = i
		}
	}
	return out
}

// instances returns the tasks of a repetition in the order in which they are scheduled.
func (a queueApp) instances(p queuePhone, rng *rand.Rand, session float64) (out []instance) {
	slow := p.slow * session * math.Exp(p.drift*rng.NormFloat64())
	for _, t := range a.tasks {
		unit := slices.IndexFunc(a.units, func(u tasks.Unit) bool { return u.Name == t.unit })
		factor := slow * cmp.Or(a.load["cpu"], 1)
		if t.kind != "" {
			factor *= cmp.Or(a.load[t.kind], 1)
		}
		for i, e := range a.events {
			if e.name != t.after || rng.Float64() >= t.chance {
				continue
			}
			for n := range t.times {
				one := instance{of: t, unit: unit, takes: time.Duration(float64(t.takes) * factor * math.Exp(p.noise*rng.NormFloat64()))}
				one.scheduled = e.at + t.at + time.Duration(n)*t.every + time.Duration(rng.IntN(2_000))*time.Microsecond
				for _, later := range a.events[i+1:] {
					if one.stops == 0 && (later.name == t.until || later.closes && t.until == allScreens) {
						one.stops = later.at
					}
				}
				out = append(out, one)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y instance) int { return cmp.Compare(x.scheduled, y.scheduled) })
	return out
}

// measured returns a run of so many repetitions of the app.
func (a queueApp) measured(id string, p queuePhone, repetitions int, seed uint64) run.Run {
	rng := rand.New(rand.NewPCG(24, seed))
	c := grouping.NewCollector(a.pkg, grouping.Late)
	r := run.Run{
		ID: id, App: run.App{Package: a.pkg}, Scenario: "queues", Status: run.Complete, Context: map[string]string{"model": p.name},
		Declared: []run.Declared{{Name: shownMS, Unit: "ms", Better: "lower"}},
	}
	session := math.Exp(p.drift * rng.NormFloat64())
	for i := range repetitions {
		one, buckets := a.repeat(p, rng, session)
		one.Number = i + 1
		c.Add(one)
		r.Iterations = append(r.Iterations, run.Iteration{Events: buckets})
	}
	r.Tasks = c.Tasks()
	return r
}
