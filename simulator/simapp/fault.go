package simapp

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// FaultKind is one way in which an app or a phone breaks a measurement.
type FaultKind string

// The faults. The first four are the app's, the others the phone's.
const (
	Crash   FaultKind = "crash"   // an uncaught exception ends the app
	ANR     FaultKind = "anr"     // the UI thread is blocked for so long that the system reports it
	Stuck   FaultKind = "stuck"   // the workload never ends
	Lost    FaultKind = "lost"    // the app's process is replaced, and its frames with it
	Drop    FaultKind = "drop"    // every adb connection breaks
	Hang    FaultKind = "hang"    // adb stops answering
	Offline FaultKind = "offline" // the phone goes offline
	NoSpace FaultKind = "nospace" // storage is full
	Reboot  FaultKind = "reboot"  // the phone restarts
	Garbage FaultKind = "garbage" // dumpsys prints random bytes between its lines
	Die     FaultKind = "die"     // the phone is permanently gone
	Refuse  FaultKind = "refuse"  // new adb connections are refused, existing ones stay
	Drip    FaultKind = "drip"    // adb's output is throttled
	Freeze  FaultKind = "freeze"  // adb answers, but the system does not
	NoBoot  FaultKind = "noboot"  // the phone restarts, and never completes the boot
	Dialog  FaultKind = "dialog"  // System UI does not respond, and its dialog is shown
)

// FaultKinds returns all kinds.
func FaultKinds() []FaultKind {
	return []FaultKind{Crash, ANR, Stuck, Lost, Drop, Hang, Offline, NoSpace, Reboot, Garbage, Die, Refuse, Drip, Freeze, NoBoot, Dialog}
}

// Fault is one fault and its time: after a scenario's start, or after one of its events.
type Fault struct {
	Kind       FaultKind
	After      string        // an event's name; "": the scenario's start
	At         time.Duration // since then
	For        time.Duration // its duration; 0: until it is mended
	Repetition int           // counted from 1 over a phone's life; 0: every one
	When       Condition     // the phones and networks that it applies to
	// Timeout and Because belong to an ANR: what the system waited for, and the reason. An ANR
	// without them appears only in the log.
	Timeout Timeout
	Because Standstill
}

// Explained reports whether the file has the details of an ANR.
func (f Fault) Explained() bool { return f.Timeout != "" }

// ParseFault parses "crash after open-message repetition 3 when sdk=9", the words after
// `fault` in an app's file; for an anr also "kind broadcast because lock DatabaseWriter".
func ParseFault(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("fault is empty; want one of %s", kinds())
	}
	f := Fault{Kind: FaultKind(words[0])}
	if !slices.Contains(FaultKinds(), f.Kind) {
		return Fault{}, fmt.Errorf("fault %q is not one of %s", words[0], kinds())
	}
	pairs, err := f.explained(words[1:])
	if err != nil {
		return Fault{}, err
	}
	err = eachPair(pairs, func(key, value string) (err error) {
		switch key {
		case "after":
			f.After, err = name("an event's name", value)
		case "at":
			f.At, err = duration(value, time.Hour)
		case "for":
			f.For, err = duration(value, time.Hour)
		case "repetition":
			f.Repetition, err = number(value, 1, 1_000_000)
		case "when":
			f.When, err = condition(value)
		case "kind":
			f.Timeout, err = timeout(value)
		default:
			err = fmt.Errorf("%q is not one of after, at, for, repetition, when, kind, because", key)
		}
		return err
	})
	switch {
	case err != nil || !f.Explained():
	case f.Kind != ANR:
		return Fault{}, fmt.Errorf("kind and because belong to an anr, not to %s", f.Kind)
	case f.For > 0 && f.For < f.Timeout.Patience():
		return Fault{}, fmt.Errorf("for %v is too short: the system's timeout is %v", f.For, f.Timeout.Patience())
	}
	return f, err
}

// explained extracts the words after because, which end a fault: the reason for a standstill.
// Without them, the app is working.
func (f *Fault) explained(words []string) (pairs []string, err error) {
	at := slices.Index(words, "because")
	if at >= 0 {
		f.Timeout = InputTimeout
		f.Because, err = standstill(words[at+1:])
		return words[:at], err
	}
	if slices.Contains(words, "kind") {
		f.Because = Standstill{Why: OwnWork}
	}
	return words, nil
}

func kinds() string {
	var names []string
	for _, k := range FaultKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
