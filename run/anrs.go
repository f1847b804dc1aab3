package run

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits on what a record tells of processes that did not respond.
const (
	MaxANRs        = 100
	MaxANRThreads  = 16
	MaxStack       = 128 // frames of one stack
	MaxANRFeatures = 200
)

// ANR is one time that a process, or Android itself, did not respond.
type ANR struct {
	// Kind says what was waited for.
	Kind    string `json:"kind"`
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	// Reason is Android's own text.
	Reason string `json:"reason,omitempty"`
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	// AtMS is when Android noticed, by CLOCK_MONOTONIC of the repetition, and WaitedMS
	// how long it had waited; 0 where it does not say.
	AtMS     float64 `json:"at_ms"`
	WaitedMS float64 `json:"waited_ms,omitempty"`
	// Threads are those that waited for each other, the one that did not respond first,
	// the one that kept the others waiting last.
	Threads []ANRThread `json:"threads,omitempty"`
	// Cycle says that the last thread waits for one before it.
	Cycle bool `json:"cycle,omitempty"`
	// Features are what it has in common with others like it beside its stacks, such as
	// "cpu: high": the set that the paper compares by the Jaccard index.
	Features []string `json:"features,omitempty"`
	// Signature is the same for the same fault from run to run: lower-case hexadecimal
	// digits; "" where no stack could be read.
	Signature string `json:"signature,omitempty"`
	// Evidence are the digests of the files of Run.Evidence that show it.
	Evidence []string `json:"evidence,omitempty"`
}

// Kinds of not responding (ANR.Kind).
const (
	ANRInput             = "input"
	ANRBroadcast         = "broadcast"
	ANRService           = "service"
	ANRForegroundService = "foreground-service"
	ANRProvider          = "content-provider"
	ANRJob               = "job"
	ANRStart             = "start" // the process did not start in time
	ANROther             = "other" // Android's text is none that is known
	// SNR is Android itself not responding: its watchdog ended the system server.
	SNR = "watchdog"
)

// What a thread of an ANR waits for (ANRThread.Kind), beside what frames wait for too:
// WaitLock, WaitBinder, WaitIO, WaitRunnable, WaitIdle and so on.
const (
	WaitJoin    = "join"    // the end of another thread
	WaitSignal  = "signal"  // another thread to wake it: Object.wait, park, a condition
	WaitFutex   = "futex"   // a lock or a condition of native code
	WaitPoll    = "poll"    // a file, a socket or a pipe
	WaitGC      = "gc"      // the garbage collector
	WaitMemory  = "memory"  // memory that the kernel has to free or read first
	WaitStopped = "stopped" // a debugger, a signal, the freezer or a crash that has stopped it
	WaitUnknown = "unknown" // the dump does not say
)

// ANRThread is one thread as it stood.
type ANRThread struct {
	Name string `json:"name"`
	// Process is the one that it is of, "" for the ANR's own.
	Process string `json:"process,omitempty"`
	State   string `json:"state,omitempty"` // as the dump says: "Blocked", "Native"
	// Kind says what it waits for, in a word; "" where that was not looked at.
	Kind string `json:"kind,omitempty"`
	// WaitsFor is what it waits for, such as a lock or a binder call; "" for nothing.
	WaitsFor string `json:"waits_for,omitempty"`
	// Next is the place in ANR.Threads, from 1, of the thread that it waits for, where
	// that is not the one behind it.
	Next int `json:"next,omitempty"`
	// Critical says that it is one of those for which all others wait: the last one, or
	// one of a cycle.
	Critical bool `json:"critical,omitempty"`
	// Stack has the innermost frame first, and Tells is the place in it, from 1, of the
	// line that tells what the thread waits for or does.
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

// validateWait checks what a thread says of its wait, as one of so many.
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

// signature refuses what is no name made of digits.
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
