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

// CauseKind is why a frame is slow.
type CauseKind string

// The causes: what the UI thread waits for, its work, the work of the render thread and the
// GPU, and where or how fast all of it runs.
const (
	Binder      CauseKind = "binder"      // another process's answer
	Disk        CauseKind = "disk"        // storage
	Lock        CauseKind = "lock"        // a monitor that another thread holds
	AwaitedTask CauseKind = "task"        // the end of an asynchronous task on another thread
	CPU         CauseKind = "cpu"         // a CPU: other processes use them all
	GC          CauseKind = "gc"          // the garbage collector
	Composition CauseKind = "composition" // SurfaceFlinger is late
	Measure     CauseKind = "measure"
	Layout      CauseKind = "layout"
	Draw        CauseKind = "draw"
	Inflate     CauseKind = "inflate"
	Compose     CauseKind = "compose"
	Shader      CauseKind = "shader" // work of the render thread
	GPU         CauseKind = "gpu"
	Little      CauseKind = "little"     // on little CPUs, which others keep busy
	SlowClock   CauseKind = "slow-clock" // limited CPU frequencies
)

// works and blocks are the kinds for `work` and `blocks`.
var (
	works  = []CauseKind{Measure, Layout, Draw, Inflate, Compose, Shader}
	blocks = []CauseKind{Binder, Disk, Lock, AwaitedTask, CPU, Composition}
)

// Cause is why some frames after certain events are slow.
type Cause struct {
	Kind  CauseKind
	For   time.Duration // on a good phone; 0 for Little, SlowClock and AwaitedTask
	After []string      // events
	// Every selects the affected frames after an event: First, where 1 is the first frame, and
	// each Every-th after it.
	Every, First int
	Stage        CauseKind // of the UI thread: StageInput, StageAnimation, Measure, Layout or Draw
	Peer         Peer      // for Binder
	Through      *Peer     // which the peer calls in turn; nil: none
	OnDisk       bool      // the lock owner waits for storage
	// Name is the thread that owns the lock, the task, the process that uses the CPUs, the storage
	// operation, or the subject of the work; it may be "".
	Name string
}

// The stages of the UI thread that have no work of the same name.
const (
	StageInput     CauseKind = "input"
	StageAnimation CauseKind = "animation"
)

var stages = []CauseKind{StageInput, StageAnimation, Measure, Layout, Draw}

// Peer is a process and the method called in it.
type Peer struct{ Process, Interface, Method string }

// The operations of storage.
const (
	DiskRead  = "read"
	DiskWrite = "write"
	DiskSync  = "fsync"
)

var diskDeeds = []string{DiskRead, DiskWrite, DiskSync}

// hogs is the process that uses the CPUs unless the file names one: the background compiler.
const hogs = "/apex/com.android.art/bin/dex2oat64"

// Strikes reports whether the cause affects the n-th frame after an event, counted from 1.
func (c *Cause) Strikes(n int) bool { return n >= c.First && (n-c.First)%c.Every == 0 }

// blocks parses binder PROCESS INTERFACE::METHOD D|disk D|lock THREAD D|task NAME|cpu D|composition D
// and the common rest of all causes.
func (p *parser) blocks(w []string) (err error) {
	if len(w) == 0 || !slices.Contains(blocks, CauseKind(w[0])) {
		return fmt.Errorf("want one of %s", kindNames(blocks))
	}
	c := Cause{Kind: CauseKind(w[0])}
	w = w[1:]
	switch c.Kind {
	case Binder:
		if len(w) < 2 {
			return errors.New("want a process and INTERFACE::METHOD")
		}
		if c.Peer, err = peer(w[0], w[1]); err != nil {
			return err
		}
		w = w[2:]
	case Lock:
		if len(w) < 1 {
			return errors.New("want the thread that holds the lock")
		}
		if c.Name, err = name("a thread's name", w[0]); err != nil {
			return err
		}
		w = w[1:]
	case AwaitedTask:
		if len(w) < 1 {
			return errors.New("want the task that the UI thread waits for")
		}
		if c.Name, err = name("a task's name", w[0]); err != nil {
			return err
		}
		w = w[1:]
	case Disk:
		c.Name = DiskRead
	case CPU:
		c.Name = hogs
	}
	return p.cause(c, w)
}

// work parses KIND D and the common rest of all causes.
func (p *parser) work(w []string) error {
	if len(w) == 0 || !slices.Contains(works, CauseKind(w[0])) {
		return fmt.Errorf("want one of %s", kindNames(works))
	}
	return p.cause(Cause{Kind: CauseKind(w[0])}, w[1:])
}

// cause parses [D] after EVENT,… and the options of its kind.
func (p *parser) cause(c Cause, w []string) (err error) {
	if c.Kind != Little && c.Kind != SlowClock && c.Kind != AwaitedTask {
		if len(w) == 0 {
			return errors.New("want a duration and the events, such as 20ms after scroll")
		}
		if c.For, err = shortTime(w[0]); err != nil {
			return err
		}
		if c.For == 0 {
			return errors.New("a delay of 0s has no effect")
		}
		w = w[1:]
	}
	c.Every, c.First = 1, 1
	if c.inStage() {
		c.Stage = StageAnimation
	}
	w, err = c.through(w)
	if err != nil {
		return err
	}
	err = eachPair(w, c.option)
	if err == nil && len(c.After) == 0 {
		err = errNoEvent
	}
	p.app.Causes = append(p.app.Causes, c)
	return errors.Join(err, p.countRule())
}

// inStage reports whether the file may specify the stage in which the UI thread waits.
func (c *Cause) inStage() bool {
	return slices.Contains([]CauseKind{Binder, Disk, Lock, AwaitedTask, CPU, GC}, c.Kind)
}

// some reports whether the file may select some of the frames after an event.
func (c *Cause) some() bool { return c.For > 0 || c.Kind == AwaitedTask }

// named reports whether the file may name the subject of the work, as in traces.
func (c *Cause) named() bool {
	return slices.Contains([]CauseKind{Measure, Layout, Draw, Inflate}, c.Kind)
}

// through extracts "through PROCESS INTERFACE::METHOD" or "through disk" from the words.
func (c *Cause) through(w []string) (rest []string, err error) {
	i := slices.Index(w, "through")
	switch {
	case i < 0:
		return w, nil
	case c.Kind == Binder && i+2 < len(w):
		var to Peer
		to, err = peer(w[i+1], w[i+2])
		c.Through = &to
		return slices.Concat(w[:i], w[i+3:]), err
	case c.Kind == Lock && i+1 < len(w) && w[i+1] == "disk":
		c.OnDisk = true
		return slices.Concat(w[:i], w[i+2:]), nil
	}
	return nil, errors.New("through: want PROCESS INTERFACE::METHOD behind blocks binder, disk behind blocks lock")
}

func (c *Cause) option(key, value string) (err error) {
	frames := c.some()
	switch {
	case key == "after":
		c.After, err = names(value)
	case key == "every" && frames:
		c.Every, err = number(value, 1, MaxFrames)
	case key == "from" && frames:
		c.First, err = number(value, 1, MaxFrames)
	case key == "in" && c.inStage():
		if c.Stage = CauseKind(value); !slices.Contains(stages, c.Stage) {
			err = fmt.Errorf("%q is not one of %s", prose.Short(value), kindNames(stages))
		}
	case key == "by" && c.Kind == Disk:
		if c.Name = value; !slices.Contains(diskDeeds, value) {
			err = fmt.Errorf("%q is not one of %s", prose.Short(value), strings.Join(diskDeeds, ", "))
		}
	case key == "by" && c.Kind == CPU:
		c.Name, err = processName(value)
	case key == "of" && c.named():
		c.Name, err = methodName(value)
	default:
		err = fmt.Errorf("not one of %s", strings.Join(c.options(), ", "))
	}
	return err
}

// options returns the options of a cause of this kind.
func (c *Cause) options() []string {
	out := []string{"after"}
	if c.some() {
		out = append(out, "every", "from")
	}
	switch {
	case c.Kind == Disk || c.Kind == CPU:
		out = append(out, "by", "in")
	case c.inStage():
		out = append(out, "in")
	case c.named():
		out = append(out, "of")
	}
	if c.Kind == Binder || c.Kind == Lock {
		out = append(out, "through")
	}
	return out
}

var processPattern = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_.:/@-]*$`)

func processName(s string) (string, error) { return match(processPattern, "a process's name", s) }

func peer(process, call string) (p Peer, err error) {
	if p.Process, err = processName(process); err != nil {
		return p, err
	}
	var both bool
	if p.Interface, p.Method, both = strings.Cut(call, "::"); !both {
		return p, fmt.Errorf("%q is not INTERFACE::METHOD", prose.Short(call))
	}
	if p.Interface, err = className(p.Interface); err != nil {
		return p, err
	}
	p.Method, err = className(p.Method)
	return p, err
}

func kindNames(list []CauseKind) string {
	var out []string
	for _, k := range list {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}
