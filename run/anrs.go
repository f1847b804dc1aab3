package run

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits on a record's list of processes that did not respond.
const (
	MaxANRs        = 100
	MaxANRThreads  = 16
	MaxStack       = 128 // frames of one stack
	MaxANRFeatures = 200
)

// ANR is one time that a process, or Android itself, did not respond.
type ANR struct {
	// Kind is what was waited for.
	Kind    string `json:"kind"`
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	// Reason is Android's own text.
	Reason string `json:"reason,omitempty"`
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	// AtMS is when Android detected it, by CLOCK_MONOTONIC of the repetition, and WaitedMS how long
	// it had waited; 0 where unknown.
	AtMS     float64 `json:"at_ms"`
	WaitedMS float64 `json:"waited_ms,omitempty"`
	// Threads are the threads that waited for each other: first the one that did not respond, last
	// the lock owner or the like that blocked the others.
	Threads []ANRThread `json:"threads,omitempty"`
	// Cycle is set where the last thread waits for an earlier one.
	Cycle bool `json:"cycle,omitempty"`
	// Features are what it has in common with similar ANRs besides its stacks, such as "cpu: high":
	// the set that the paper compares by the Jaccard index.
	Features []string `json:"features,omitempty"`
	// Signature is the same for the same fault in every run: lower-case hexadecimal digits; ""
	// where no stack could be read.
	Signature string `json:"signature,omitempty"`
	// Evidence are the digests of the files of Run.Evidence that show it.
	Evidence []string `json:"evidence,omitempty"`
}

// Kinds of ANRs (ANR.Kind).
const (
	ANRInput             = "input"
	ANRBroadcast         = "broadcast"
	ANRService           = "service"
	ANRForegroundService = "foreground-service"
	ANRProvider          = "content-provider"
	ANRJob               = "job"
	ANRStart             = "start" // the process did not start in time
	ANROther             = "other" // Android's text is unknown
	// SNR is Android itself not responding: its watchdog killed the system server.
	SNR = "watchdog"
)

// What a thread of an ANR waits for (ANRThread.Kind), in addition to what frames wait for:
// WaitLock, WaitBinder, WaitIO, WaitRunnable, WaitIdle and so on.
const (
	WaitJoin    = "join"    // the end of another thread
	WaitSignal  = "signal"  // to be woken by another thread: Object.wait, park, a condition
	WaitFutex   = "futex"   // a lock or a condition of native code
	WaitPoll    = "poll"    // a file, a socket or a pipe
	WaitGC      = "gc"      // the garbage collector
	WaitMemory  = "memory"  // memory that the kernel has to free or read first
	WaitStopped = "stopped" // stopped by a debugger, a signal, the freezer or a crash
	WaitUnknown = "unknown" // the dump does not show it
)

// ANRThread is the state of one thread.
type ANRThread struct {
	Name string `json:"name"`
	// Process is the thread's process, "" for the ANR's own.
	Process string `json:"process,omitempty"`
	State   string `json:"state,omitempty"` // as in the dump: "Blocked", "Native"
	// Kind is what it waits for, in a word; "" where that was not determined.
	Kind string `json:"kind,omitempty"`
	// WaitsFor is what it waits for, such as a lock or a binder call; "" for nothing.
	WaitsFor string `json:"waits_for,omitempty"`
	// Next is the index in ANR.Threads, from 1, of the thread that it waits for, where that is not
	// the next one.
	Next int `json:"next,omitempty"`
	// Critical marks a thread that all others wait for: the last one, or one of a cycle.
	Critical bool `json:"critical,omitempty"`
	// Stack has the innermost frame first, and Tells is the number, from 1, of the line that shows
	// what the thread waits for or does.
	Stack []string `json:"stack,omitempty"`
	Tells int      `json:"tells,omitempty"`
}

func (a ANR) validate() error {
	if err := errors.Join(word("kind", a.Kind), texts("process or reason", a.Process, a.Reason), texts("event", a.Event),
		repetition(a.Repetition, 1), counts("pid", a.PID), times("at_ms or waited_ms", a.AtMS, a.WaitedMS),
		atMost("threads", len(a.Threads), MaxANRThreads), atMost("features", len(a.Features), MaxANRFeatures),
		texts("features", a.Features...), atMost("evidence", len(a.Evidence), MaxEvidence), signature(a.Signature)); err != nil {
		return first(err)
	}
	for _, digest := range a.Evidence {
		if !isDigest(digest) {
			return reference(digest)
		}
	}
	for i, t := range a.Threads {
		if err := errors.Join(texts("name, process, state or waits_for", t.Name, t.Process, t.State, t.WaitsFor), t.validateWait(len(a.Threads)),
			atMost("stack", len(t.Stack), MaxStack), texts("stack", t.Stack...)); err != nil {
			return fmt.Errorf("threads[%d].%w", i, first(err))
		}
	}
	return nil
}

// validateWait checks the wait of a thread, of so many threads.
func (t ANRThread) validateWait(threads int) error {
	if t.Kind != "" && !isWord(t.Kind) {
		return word("kind", t.Kind)
	}
	if t.Next < 0 || t.Next > threads {
		return fmt.Errorf("next is %d, want 1 to %d, or nothing", t.Next, threads)
	}
	if t.Tells < 0 || t.Tells > len(t.Stack) {
		return fmt.Errorf("tells is %d, want 1 to %d, or nothing", t.Tells, len(t.Stack))
	}
	return nil
}

// signature returns an error for a text that is no signature.
func signature(s string) error {
	if len(s) > 64 {
		return fmt.Errorf("signature has %d digits, at most 64 are allowed", len(s))
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("signature is %q, want lower-case hexadecimal digits", prose.Short(s))
		}
	}
	return nil
}
