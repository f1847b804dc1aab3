package waits

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// graph indexes the threads of a part of a dump, written at one time: by the kernel's id, by the
// runtime's id within a process, and by the locks that they hold.
type graph struct {
	dump      *anr.Dump
	processes map[int]*anr.Process
	threads   map[thread]*anr.Thread
	runtimes  map[thread]*anr.Thread
	owners    map[lock]*anr.Thread
	objects   map[object]*anr.Thread
	calls     map[thread]anr.Transaction // the call that a thread waits for
	answered  map[thread]int64           // the id of the last call that it answers
	serving   map[string][]server        // by interface and method
	mains     map[*anr.Process]*anr.Thread
	renderers map[*anr.Process]*anr.Thread // the render thread of each process
}

// thread identifies a thread by an id within its process.
type thread struct{ pid, id int }

// lock identifies a lock by its name within its process.
type lock struct {
	pid int
	id  string
}

// object identifies a thread by the address of its java.lang.Thread within its process.
type object struct {
	pid     int
	address uint64
}

// server is a thread that answers a call.
type server struct {
	process *anr.Process
	thread  *anr.Thread
}

func newGraph(d *anr.Dump, part int) *graph {
	g := &graph{
		dump: d, processes: map[int]*anr.Process{}, threads: map[thread]*anr.Thread{}, runtimes: map[thread]*anr.Thread{},
		owners: map[lock]*anr.Thread{}, objects: map[object]*anr.Thread{}, answered: map[thread]int64{}, serving: map[string][]server{},
		mains: map[*anr.Process]*anr.Thread{}, renderers: map[*anr.Process]*anr.Thread{},
	}
	for i := range d.Processes {
		p := &d.Processes[i]
		if p.Part != part || g.processes[p.PID] != nil {
			continue // another dump of the same process: the first counts
		}
		g.processes[p.PID] = p
		g.mains[p], g.renderers[p] = mainOf(p), threadNamed(p, "RenderThread")
		for j := range p.Threads {
			g.add(p, &p.Threads[j])
		}
	}
	if isLastANR(d.PartOf(part)) {
		return g // the kernel's list of transactions is from a later time
	}
	g.calls = callsOf(d.Binder)
	for _, t := range d.Binder {
		by := thread{t.ToPID, t.ToTID}
		g.answered[by] = max(g.answered[by], t.ID)
	}
	return g
}

// add adds a thread. The runtime's id 0 stands for threads that have none yet.
func (g *graph) add(p *anr.Process, t *anr.Thread) {
	if t.TID != 0 {
		g.threads[thread{p.PID, t.TID}] = t
	}
	if t.VMTID != 0 {
		g.runtimes[thread{p.PID, t.VMTID}] = t
	}
	if t.Object != 0 {
		g.objects[object{p.PID, t.Object}] = t
	}
	without := released(t)
	for _, l := range t.Locks {
		if l.Kind == anr.Held && !without[l.ID] {
			g.owners[lock{p.PID, l.ID}] = t
		}
	}
	if call := serves(t); call != "" {
		g.serving[call] = append(g.serving[call], server{p, t})
	}
}

// released returns the locks that a thread does not own although its stack lists them as held:
// Object.wait releases one, and ART lists one with a synchronized method even before the method has
// acquired it.
func released(t *anr.Thread) map[string]bool {
	out := map[string]bool{}
	for _, l := range t.Locks {
		if l.Kind == anr.WaitedOn || l.Kind == anr.Wanted && l.Owner != t.VMTID {
			out[l.ID] = true
		}
	}
	return out
}

// callsOf returns the calls that threads wait for. The kernel lists a thread's calls with the last
// one first, each at the caller and again at the thread that answers it. A thread that is called
// back while it waits answers that call first.
func callsOf(listed []anr.Transaction) map[thread]anr.Transaction {
	calls := map[thread]anr.Transaction{}
	for _, place := range []string{anr.Outgoing, anr.Pending, anr.Incoming} {
		for _, t := range listed {
			caller := thread{t.FromPID, t.FromTID}
			if _, has := calls[caller]; t.Place == place && !has && !t.OneWay && t.FromTID != 0 {
				calls[caller] = t
			}
		}
	}
	return calls
}

// step returns how a thread waits and which thread it waits for, nil if none in the dump.
func (g *graph) step(p *anr.Process, t *anr.Thread) (Step, *anr.Process, *anr.Thread) {
	step := standing(t)
	step.Process, step.Thread = p, t
	switch step.Kind {
	case run.WaitLock:
		if next := g.owner(p, t, &step); next != nil {
			return step, p, next
		}
	case run.WaitBinder:
		if to := g.answers(p, t, &step); to.thread != nil {
			return step, to.process, to.thread
		}
	case run.WaitJoin:
		if next := g.joined(p, t); next != nil {
			return step, p, next
		}
	case run.WaitFutex:
		if next := g.renderers[p]; next != nil && next != t && draws(t) {
			return step, p, next
		}
	case run.WaitUnknown:
		// If a stack could not be read or is uninformative, the kernel still lists the call.
		if call, waits := g.calls[thread{p.PID, t.TID}]; waits && !g.calledBack(call) {
			step.Kind = run.WaitBinder
			if to := g.answers(p, t, &step); to.thread != nil {
				return step, to.process, to.thread
			}
		}
	}
	return step, nil, nil
}

// calledBack reports whether the caller is itself answering another call while it waits.
func (g *graph) calledBack(call anr.Transaction) bool {
	return g.answered[thread{call.FromPID, call.FromTID}] > call.ID
}

// owner returns the owner of the lock that a thread wants.
func (g *graph) owner(p *anr.Process, t *anr.Thread, step *Step) *anr.Thread {
	wanted := wantedOf(t)
	if wanted == nil {
		return nil
	}
	if wanted.Owner != 0 && wanted.Owner != t.VMTID {
		next := g.runtimes[thread{p.PID, wanted.Owner}]
		if next == nil {
			step.Peer = fmt.Sprintf("thread %d", wanted.Owner)
		}
		return next
	}
	if next := g.owners[lock{p.PID, wanted.ID}]; wanted.ID != "" && next != t {
		return next
	}
	return nil
}

// wantedOf returns the lock that a thread waits for.
func wantedOf(t *anr.Thread) *anr.Lock {
	for i := range t.Locks {
		if t.Locks[i].Kind == anr.Wanted {
			return &t.Locks[i]
		}
	}
	return nil
}

// answers returns the thread that answers a thread's call.
func (g *graph) answers(p *anr.Process, t *anr.Thread, step *Step) server {
	call, listed := g.calls[thread{p.PID, t.TID}]
	if !listed {
		return g.onlyServer(t, step)
	}
	to := g.processes[call.ToPID]
	switch {
	case to == nil:
		step.Peer = fmt.Sprintf("process %d", call.ToPID)
		return server{}
	case call.ToTID == 0:
		step.Peer = fmt.Sprintf("%s, none of whose threads has taken the call", nameOf(to))
		return server{}
	}
	next := g.threads[thread{call.ToPID, call.ToTID}]
	if next == nil {
		step.Peer = fmt.Sprintf("thread %d of %s", call.ToTID, nameOf(to))
	}
	return server{to, next}
}

// onlyServer returns the only thread of the dump that answers calls of the same method.
func (g *graph) onlyServer(t *anr.Thread, step *Step) server {
	var found server
	for _, s := range g.serving[step.What] {
		if s.thread == t {
			continue
		}
		if found.thread != nil {
			return server{}
		}
		found = s
	}
	step.Likely = found.thread != nil
	return found
}

// joined returns the thread whose end another one waits for. Dalvik identifies it, since the wait
// is on an object of that thread; ART does if the lock is an address.
func (g *graph) joined(p *anr.Process, t *anr.Thread) *anr.Thread {
	for _, l := range t.Locks {
		if l.Kind != anr.WaitedOn {
			continue
		}
		if l.Class == dalvikThread && l.Owner != 0 && l.Owner != t.VMTID {
			return g.runtimes[thread{p.PID, l.Owner}]
		}
		if address := addressOf(l.ID); address != 0 {
			if other := g.objects[object{p.PID, address}]; other != nil && other != t {
				return other
			}
		}
	}
	return nil
}

// addressOf returns the address of a lock without a number ("@addr=0x13782c90"), 0 for others:
// their names are numbers that ART generated.
func addressOf(id string) uint64 {
	digits, _ := strings.CutPrefix(id, "@addr=0x")
	address, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0
	}
	return address
}

// dalvikThread is the class that Dalvik's Thread.join, park and sleep wait on: in the latter two,
// the thread's own object (dalvik/vm/interp/Stack.cpp, dumpFrames).
const dalvikThread = "java.lang.VMThread"

// nameOf returns a process's name, or else its id.
func nameOf(p *anr.Process) string { return cmp.Or(p.Name, numberOf(p.PID)) }

// numberOf names a process by its id; 0 is an unknown one.
func numberOf(pid int) string {
	if pid == 0 {
		return "a process without a number"
	}
	return fmt.Sprintf("process %d", pid)
}
