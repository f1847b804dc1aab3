// Package waits owns who waits for whom in a dump of threads: the wait-for graph
// of one or several processes, the thread that did not respond and the critical
// one, for which all others of the chain wait (section 2.3 of the paper on Android's
// responsiveness, "Aging or Glitching?").
//
// It says what was so when the dump was written, and no cause: on which frames the
// critical thread stands is a fact, what to make of it is diagnose's.
//
// It takes a stand: an edge is drawn where the dump tells whom a thread waits for,
// and nowhere else, but for a call through binder that only one thread of the dump
// answers: that one is named, as likely. A chain that ends in a wait for somebody whom
// the dump does not show ends there, and says so.
package waits

import (
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr"
)

// Step is one thread of a chain.
type Step struct {
	Process *anr.Process
	Thread  *anr.Thread
	// Kind is what it waits for, as run.ANRThread has it, and At the index of the frame
	// that tells, -1 where none does.
	Kind string
	At   int
	// What names it: a lock's class, a binder call as INTERFACE::METHOD, a function of
	// the kernel; "" where it has no name.
	What string
	// Peer is whom it waits for where the dump shows no such thread, "" where it does,
	// or does not tell.
	Peer string
	// Likely says that the next step is the only one of the dump that can be meant, and
	// not one that the dump names.
	Likely bool
}

// Chain is a chain of waiting, from the thread that did not respond.
type Chain struct {
	Steps []Step
	// Cycle is the index of the step for which the last one waits, -1 for none.
	Cycle int
	// Placed says that the first step's process is taken for the one that did not respond by
	// its place in the file, Untold that there is no step since nothing says which one it is.
	Placed, Untold bool
	// Missing is who did not respond where the dump does not show it, so that there is no step.
	Missing  string
	Warnings []run.Warning
}

// Critical are the threads for which the others wait: the last one, or each of a cycle.
func (c Chain) Critical() []Step {
	switch {
	case len(c.Steps) == 0:
		return nil
	case c.Cycle >= 0:
		return c.Steps[c.Cycle:]
	}
	return c.Steps[len(c.Steps)-1:]
}

// Of is the chain from the thread that a dump, and what else is known of it, says did
// not respond. It is empty, with a warning, where the dump does not show that thread.
func Of(d anr.Dump, about Subject) Chain {
	var w trace.Warnings
	c := Chain{Cycle: -1}
	s := blocked(&d, about, &w)
	if s.thread != nil {
		c = newGraph(&d, s.process.Part).from(s.process, s.thread)
	}
	c.Placed, c.Untold, c.Missing = s.placed, s.untold, s.missing
	for _, s := range c.Critical() {
		if len(s.Thread.Frames) == 0 {
			w.Addf(s.Thread.Line, "the dump has no stack of the critical thread %s: what it does is not known", trace.Quote(nameOfThread(s)))
		} else if s.Thread.Unread {
			w.Addf(s.Thread.Line, "the native part of the stack of the critical thread %s could not be read: what it does there is not known", trace.Quote(s.Thread.Name))
		}
	}
	c.Warnings = w.List()
	return c
}

// from follows the edges of the graph until there is none, or one leads back.
func (g *graph) from(p *anr.Process, t *anr.Thread) Chain {
	c := Chain{Cycle: -1}
	at := map[*anr.Thread]int{}
	for t != nil {
		if before, again := at[t]; again {
			c.Cycle = before
			break
		}
		at[t] = len(c.Steps)
		step, nextProcess, next := g.step(p, t)
		c.Steps = append(c.Steps, step)
		p, t = nextProcess, next
	}
	return c
}
