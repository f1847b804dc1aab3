package simapp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Unit executes asynchronous tasks of an app.
type Unit struct {
	Name string
	Kind UnitKind
	Size int // how many tasks it executes at the same time; 0: all
	// Wrapped reports that the app records its tasks in sections (examples/tasks/ApkgateTasks.java).
	Wrapped bool
}

// UnitKind is what a unit is in Android.
type UnitKind string

// The kinds of units.
const (
	MainThread    UnitKind = "main-thread" // not stated: each app has one, named "main"
	HandlerThread UnitKind = "handler-thread"
	IntentService UnitKind = "intent-service"
	ThreadPool    UnitKind = "thread-pool"
	AsyncTask     UnitKind = "async-task" // AsyncTask's own order of execution: one after the other
	PlainThreads  UnitKind = "thread"     // a new thread for each task
	Coroutines    UnitKind = "coroutines" // a dispatcher
)

var unitKinds = []UnitKind{HandlerThread, IntentService, ThreadPool, AsyncTask, PlainThreads, Coroutines}

// Looper reports whether the unit is a thread that handles the messages of a queue.
func (k UnitKind) Looper() bool {
	return k == MainThread || k == HandlerThread || k == IntentService
}

// MainUnit is the unit of the UI thread.
var MainUnit = Unit{Name: "main", Kind: MainThread, Size: 1}

// Task is an asynchronous task that the app schedules.
type Task struct {
	Name string
	Unit string
	// After are the events, and the tasks above it in the file, after which it is scheduled:
	// those of StartEvent and TouchEvent too.
	After []string
	At    time.Duration // from the event until it is scheduled
	Delay time.Duration // for which it is not to start
	Code  int           // of its message (what), on a looper
	// Count of them are scheduled, one each Every.
	Count int
	Every time.Duration
	// Runs is its CPU time on a good phone. Waits is how long it waits for storage, the answer of
	// Peer, the network or a lock, by the kind of load that makes it longer.
	Runs  time.Duration
	Waits map[Wait]time.Duration
	Peer  Peer
	// Suspends reports that a coroutine leaves its thread to others while it waits.
	Suspends bool
	// Shows is the number of frames, at 60 Hz, that the UI thread draws once it is done; it
	// posts a message there.
	Shows int
	// Until are the events with which its screen goes. Cancels reports that the app then removes
	// it unless it has started, Replaces that scheduling it removes those that have not.
	Until             []string
	Cancels, Replaces bool
	Class             string   // of its code
	Context           []string // the stack that schedules it, the innermost frame first
	Section           string   // the trace section that it writes, "" for none
}

// Wait is what a task waits for.
type Wait string

// The waits.
const (
	WaitIO      Wait = "io"
	WaitBinder  Wait = "binder"
	WaitNetwork Wait = "network"
	WaitLock    Wait = "lock"
)

// LockOwner is the thread that holds the lock that tasks wait for.
const LockOwner = "db-writer"

// Waits are all kinds of waits, in the order in which a task waits.
var Waits = []Wait{WaitIO, WaitBinder, WaitNetwork, WaitLock}

// The words for what is not an event of a scenario: the start of the activity, and a touch that
// is no named event.
const (
	StartEvent = "start"
	TouchEvent = "touch"
)

// Limits of tasks.
const (
	maxUnits   = 50
	maxUnit    = 1_000 // tasks at the same time
	maxTasks   = 1_000 // scheduled by one statement
	maxContext = 64    // frames of a stack
)

// Unit returns the unit of that name.
func (a *App) Unit(name string) (Unit, bool) {
	if name == MainUnit.Name {
		return MainUnit, true
	}
	i := slices.IndexFunc(a.Units, func(u Unit) bool { return u.Name == name })
	if i < 0 {
		return Unit{}, false
	}
	return a.Units[i], true
}

// unit parses NAME KIND [size N].
func (p *parser) unit(w []string) (err error) {
	if len(w) < 2 {
		return fmt.Errorf("want a name and one of %s", prose.Short(fmt.Sprint(unitKinds)))
	}
	u := Unit{Kind: UnitKind(w[1])}
	if w[len(w)-1] == "wrapped" {
		u.Wrapped, w = true, w[:len(w)-1]
	}
	if u.Name, err = name("a unit's name", w[0]); err != nil {
		return err
	}
	switch u.Kind {
	case HandlerThread, IntentService, AsyncTask:
		u.Size = 1
	case PlainThreads:
	case ThreadPool, Coroutines:
		if len(w) != 4 || w[2] != "size" {
			return fmt.Errorf("a unit of kind %s: want size and a number of threads", u.Kind)
		}
		if u.Size, err = number(w[3], 1, maxUnit); err != nil {
			return err
		}
		w = w[:2]
	default:
		return fmt.Errorf("%q is not one of %v", prose.Short(w[1]), unitKinds)
	}
	if len(w) > 2 {
		return fmt.Errorf("a unit of kind %s has no %q", u.Kind, prose.Short(w[2]))
	}
	if _, taken := p.app.Unit(u.Name); taken {
		return fmt.Errorf("unit %q is there twice; main is each app's own", u.Name)
	}
	if p.app.Units = append(p.app.Units, u); len(p.app.Units) > maxUnits {
		return fmt.Errorf("more than %d units", maxUnits)
	}
	return nil
}

// task parses NAME on UNIT after EVENT,… and its options.
func (p *parser) task(w []string) (err error) {
	if len(w) < 5 || w[1] != "on" || w[3] != "after" {
		return errors.New("want NAME on UNIT after EVENT,… and what it does, such as load on pool after tap runs 30ms")
	}
	t := Task{Count: 1, Every: time.Millisecond, Waits: map[Wait]time.Duration{}}
	if t.Name, err = name("a task's name", w[0]); err != nil {
		return err
	}
	if t.Unit, err = name("a unit's name", w[2]); err != nil {
		return err
	}
	unit, known := p.app.Unit(t.Unit)
	if !known {
		return fmt.Errorf("there is no unit %q above it", t.Unit)
	}
	if t.After, err = names(w[4]); err != nil {
		return err
	}
	w = slices.DeleteFunc(slices.Clone(w[5:]), func(word string) bool {
		flag := map[string]*bool{"cancels": &t.Cancels, "replaces": &t.Replaces, "suspends": &t.Suspends}[word]
		if flag != nil {
			*flag = true
		}
		return flag != nil
	})
	if w, err = t.binder(w); err != nil {
		return err
	}
	if err := eachPair(w, t.option); err != nil {
		return err
	}
	switch {
	case t.Suspends && unit.Kind != Coroutines:
		return errors.New("suspends: only coroutines do")
	case t.Cancels && len(t.Until) == 0:
		return errors.New("cancels: want until EVENT,…, with which its screen goes")
	case t.Code != 0 && !unit.Kind.Looper():
		return fmt.Errorf("code: a unit of kind %s has no messages", unit.Kind)
	case slices.ContainsFunc(p.app.Tasks, func(other Task) bool { return other.Name == t.Name }):
		return fmt.Errorf("task %q is there twice", t.Name)
	}
	p.app.Tasks = append(p.app.Tasks, t)
	return p.countRule()
}

// binder extracts "binder PROCESS INTERFACE::METHOD D" from the options.
func (t *Task) binder(w []string) (rest []string, err error) {
	i := slices.Index(w, string(WaitBinder))
	switch {
	case i < 0:
		return w, nil
	case i+3 >= len(w):
		return nil, errors.New("binder: want PROCESS INTERFACE::METHOD and a duration")
	}
	if t.Peer, err = peer(w[i+1], w[i+2]); err == nil {
		t.Waits[WaitBinder], err = shortTime(w[i+3])
	}
	if err != nil {
		return nil, fmt.Errorf("binder: %w", err)
	}
	return slices.Concat(w[:i], w[i+4:]), nil
}

func (t *Task) option(key, value string) (err error) {
	switch key {
	case "runs":
		t.Runs, err = shortTime(value)
	case string(WaitIO), string(WaitNetwork), string(WaitLock):
		t.Waits[Wait(key)], err = shortTime(value)
	case "at":
		t.At, err = shortTime(value)
	case "delay":
		t.Delay, err = shortTime(value)
	case "every":
		t.Every, err = shortTime(value)
	case "code":
		t.Code, err = number(value, -1<<31, 1<<31-1)
	case "count":
		t.Count, err = number(value, 1, maxTasks)
	case "shows":
		t.Shows, err = frames(value)
	case "until":
		t.Until, err = names(value)
	case "of":
		t.Class, err = className(value)
	case "traces":
		t.Section, err = methodName(value)
	case "from":
		t.Context, err = stack(value)
	default:
		err = errors.New("not one of runs, io, binder, network, lock, suspends, at, delay, code, count, every, shows, until, cancels, replaces, of, from, traces")
	}
	return err
}

// framePattern matches a frame of a stack, with its file and line or without.
var framePattern = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$<>]*(\([A-Za-z0-9_.$]+(:[0-9]{1,6})?\))?$`)

// stack parses frames, the innermost first, with commas between them.
func stack(s string) ([]string, error) {
	list := strings.Split(s, ",")
	if len(list) > maxContext {
		return nil, fmt.Errorf("%d frames, want at most %d", len(list), maxContext)
	}
	for _, one := range list {
		if _, err := match(framePattern, "a frame such as com.example.Feed.load(Feed.java:42)", one); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkTasks validates the events and tasks that tasks refer to.
func (a *App) checkTasks() error {
	for i, t := range a.Tasks {
		for _, after := range t.After {
			if after == t.Name {
				return fmt.Errorf("task %s: it is after an event of its own name, and would schedule itself again; name one of them otherwise", t.Name)
			}
			above := slices.ContainsFunc(a.Tasks[:i], func(other Task) bool { return other.Name == after })
			if above || after == StartEvent || after == TouchEvent {
				continue
			}
			if err := a.checkEvents("task "+t.Name, []string{after}); err != nil {
				return fmt.Errorf("%w, and no task above it that name", err)
			}
		}
		if err := a.checkEvents("task "+t.Name+" until an event", t.Until); err != nil {
			return err
		}
	}
	for _, c := range a.Causes {
		if c.Kind != AwaitedTask {
			continue
		}
		i := slices.IndexFunc(a.Tasks, func(t Task) bool { return t.Name == c.Name })
		if i < 0 || a.Tasks[i].Unit == MainUnit.Name {
			return fmt.Errorf("blocks task %s: the UI thread can wait for a task of that name on another thread, and there is none", c.Name)
		}
	}
	return nil
}
