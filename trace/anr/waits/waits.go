// Package waits derives which thread waits for which in a dump of threads: the wait-for graph of
// one or several processes, the unresponsive thread, and the critical one, for which all others of
// the chain wait (section 2.3 of the paper on Android's responsiveness, "Aging or Glitching?").
//
// It reports the state at the time of the dump, and no cause: the frames of the critical thread are
// a fact, and interpreting them is package diagnose's job.
//
// An edge is drawn only where the dump shows which thread another waits for. The one exception is a
// binder call that only one thread of the dump answers: that edge is marked as likely. A chain that
// leads to a thread outside the dump ends there and states so.
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
	// Kind is what it waits for, as in run.ANRThread, and At the index of the frame that shows it,
	// -1 if none does.
	Kind string
	At   int
	// What is the name of what it waits for: a lock's class, a binder call as INTERFACE::METHOD, a
	// function of the kernel; "" if it has none.
	What string
	// Peer is the thread or process that it waits for if the dump has no such thread, "" if it
	// does, or if unknown.
	Peer string
	// Likely is set if the next step is the only candidate in the dump, rather than stated by it.
	Likely bool
}

// Chain is a wait chain that begins with the unresponsive thread.
type Chain struct {
	Steps []Step
	// Cycle is the index of the step for which the last one waits, -1 if none.
	Cycle int
	// ByOrder is set if the first step's process is inferred from its place in the file, Unidentified if
	// there is no step because nothing identifies the process.
	ByOrder, Unidentified bool
	// Missing is the unresponsive process or thread if it is not in the dump, so that there is no
	// step.
	Missing  string
	Warnings []run.Warning
}

// Critical returns the threads for which the others wait: the last one, or all of a cycle.
func (c Chain) Critical() []Step {
	switch {
	case len(c.Steps) == 0:
		return nil
	case c.Cycle >= 0:
		return c.Steps[c.Cycle:]
	}
	return c.Steps[len(c.Steps)-1:]
}

// Of returns the chain from the thread that is unresponsive according to a dump and to about. It is
// empty, with a warning, if the dump does not have that thread.
func Of(d anr.Dump, about Subject) Chain {
	var w trace.Warnings
	c := Chain{Cycle: -1}
	s := blocked(&d, about, &w)
	if s.thread != nil {
		c = newGraph(&d, s.process.Part).from(s.process, s.thread)
	}
	c.ByOrder, c.Unidentified, c.Missing = s.byOrder, s.unidentified, s.missing
	for _, s := range c.Critical() {
		if len(s.Thread.Frames) == 0 {
			w.Addf(s.Thread.Line, "the dump has no stack of the critical thread %s: its activity is unknown", trace.Quote(nameOfThread(s)))
		} else if s.Thread.Unread {
			w.Addf(s.Thread.Line, "the native part of the stack of the critical thread %s could not be read: its activity there is unknown", trace.Quote(s.Thread.Name))
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
