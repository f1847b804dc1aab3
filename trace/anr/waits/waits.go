// Package waits owns who waits for whom in a dump of threads: the wait-for graph
// of one or several processes, the thread that did not respond and the critical
// one, for which all others of the chain wait (section 2.3 of the paper).
//
// It says what is so when the dump was written, and no cause: on which frames the
// critical thread stands is a fact, what to make of it is diagnose's.
//
// It takes a stand: an edge is drawn where the dump tells whom a thread waits for,
// and nowhere else. A chain that ends in a wait for somebody unknown ends there, and
// says so.
package waits

import "github.com/apkgate/apkgate/trace/anr"

// Step is one thread of a chain.
type Step struct {
	Process *anr.Process
	Thread  *anr.Thread
	// Kind is what it waits for, as run.ANRThread has it, and At the index of the frame
	// that tells, -1 where none does.
	Kind string
	At   int
	// What names it: a lock's class, a binder call as INTERFACE::METHOD, a kernel's
	// function; "" where it has no name.
	What string
	// Peer is the process that it waits for and that the dump does not show, "" where
	// it shows it, or there is none.
	Peer string
}

// Chain is a chain of waiting, from the thread that did not respond.
type Chain struct {
	Steps []Step
	// Cycle is the index of the step for which the last one waits, -1 for none.
	Cycle int
}

// Critical are the threads for which the others wait: the last one, or each of a cycle.
func (c Chain) Critical() []Step {
	if len(c.Steps) == 0 {
		return nil
	}
	if c.Cycle >= 0 {
		return c.Steps[c.Cycle:]
	}
	return c.Steps[len(c.Steps)-1:]
}
