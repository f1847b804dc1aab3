package waits

import (
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// MaxCycles limits the cycles found in one file.
const MaxCycles = 20

// Cycles returns the wait chains of a dump that are cycles, over all its processes: each begins
// with a main thread if it contains one.
func Cycles(d anr.Dump) (out []Chain) {
	for part := range d.Parts {
		g := newGraph(&d, part)
		seen := map[*anr.Thread]bool{}
		for _, p := range g.inOrder(part) {
			for i := range p.Threads {
				if len(out) < MaxCycles && !seen[&p.Threads[i]] {
					out = append(out, g.cycle(p, &p.Threads[i], seen)...)
				}
			}
		}
	}
	return out
}

// inOrder returns the processes of the graph in the order of the file.
func (g *graph) inOrder(part int) (out []*anr.Process) {
	for i := range g.dump.Processes {
		if p := &g.dump.Processes[i]; p.Part == part && g.processes[p.PID] == p {
			out = append(out, p)
		}
	}
	return out
}

// cycle returns the cycle that a thread's chain ends in, none if it ends otherwise or in a cycle
// already seen.
func (g *graph) cycle(p *anr.Process, t *anr.Thread, seen map[*anr.Thread]bool) []Chain {
	var steps []Step
	at := map[*anr.Thread]int{}
	for t != nil && !seen[t] {
		seen[t], at[t] = true, len(steps)
		step, nextProcess, next := g.step(p, t)
		steps = append(steps, step)
		p, t = nextProcess, next
	}
	from, closes := at[t]
	if t == nil || !closes {
		return nil
	}
	steps = steps[from:]
	for i, s := range steps {
		if s.Thread == g.mains[s.Process] {
			steps = append(steps[i:len(steps):len(steps)], steps[:i]...)
			break
		}
	}
	return []Chain{{Steps: steps, Cycle: 0}}
}

// MaxMains limits the chains returned by Mains.
const MaxMains = 50

// Mains returns the wait chains that begin at the main threads of a dump, except for idle ones:
// first those that wait for a thread, a lock or another process.
func Mains(d anr.Dump) []Chain {
	type main struct {
		of *graph
		Step
	}
	var waiting, others []main
	for part := range d.Parts {
		g := newGraph(&d, part)
		for _, p := range g.inOrder(part) {
			t := g.mains[p]
			if t == nil || len(t.Frames) == 0 {
				continue
			}
			switch step, _, next := g.step(p, t); {
			case step.Kind == run.WaitIdle:
			case next != nil, step.Kind == run.WaitLock, step.Kind == run.WaitBinder:
				waiting = append(waiting, main{g, step})
			default:
				others = append(others, main{g, step})
			}
		}
	}
	var out []Chain
	all := append(waiting, others...)
	for _, m := range all[:min(len(all), MaxMains)] {
		out = append(out, m.of.from(m.Process, m.Thread))
	}
	return out
}
