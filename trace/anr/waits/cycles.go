package waits

import (
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// MaxCycles bounds the cycles that are found in one file.
const MaxCycles = 20

// Cycles are the chains of a dump that lead back into themselves, of all its processes and
// whichever did not respond: each begins with a main thread where there is one in it.
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

// inOrder are the processes of the graph in the order of the file.
func (g *graph) inOrder(part int) (out []*anr.Process) {
	for i := range g.dump.Processes {
		if p := &g.dump.Processes[i]; p.Part == part && g.processes[p.PID] == p {
			out = append(out, p)
		}
	}
	return out
}

// cycle is the cycle that a thread's chain ends in, none where it ends otherwise or where
// that is of threads that were seen before.
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

// MaxMains bounds the chains of Mains.
const MaxMains = 50

// Mains are the chains of waiting that begin at the main threads of a dump, but for those
// that were idle: first of those that wait for a thread, a lock or another process.
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
