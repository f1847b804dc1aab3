package simapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Timeout is the operation for which the system's timeout expires when an app does not
// respond.
type Timeout string

// The timeouts.
const (
	InputTimeout     Timeout = "input"
	BroadcastTimeout Timeout = "broadcast" // a foreground broadcast
	ServiceTimeout   Timeout = "service"   // a foreground service
	ProviderTimeout  Timeout = "provider"
	JobTimeout       Timeout = "job"   // reported since Android 14
	StartTimeout     Timeout = "start" // reported since Android 14
	TestTimeout      Timeout = "test"  // input of an app under am instrument
)

// patience is the duration of each timeout: InputDispatcher's
// DEFAULT_INPUT_DISPATCHING_TIMEOUT, BROADCAST_FG_TIMEOUT, SERVICE_TIMEOUT, that of a client
// of ContentProviderClient, JobServiceContext.OP_TIMEOUT_MILLIS, BIND_APPLICATION_TIMEOUT and
// INSTRUMENTATION_KEY_DISPATCHING_TIMEOUT.
var patience = map[Timeout]time.Duration{
	InputTimeout: 5 * time.Second, BroadcastTimeout: 10 * time.Second, ServiceTimeout: 20 * time.Second,
	ProviderTimeout: 10 * time.Second, JobTimeout: 8 * time.Second, StartTimeout: 15 * time.Second,
	TestTimeout: time.Minute,
}

// Patience returns the duration of the timeout.
func (t Timeout) Patience() time.Duration { return patience[t] }

// timeouts returns all timeouts.
func timeouts() []string {
	out := []string{}
	for _, t := range []Timeout{InputTimeout, BroadcastTimeout, ServiceTimeout, ProviderTimeout, JobTimeout, StartTimeout, TestTimeout} {
		out = append(out, string(t))
	}
	return out
}

// Standstill is why an app's UI thread is blocked. The zero value belongs to a fault without a
// reason.
type Standstill struct {
	Why    string // one of the reasons below
	Thread string // the lock owner, for HeldLock and Deadlock
	Method string // the running method, for OwnWork
	// Calls are the calls for which the UI thread waits, for SlowPeer: the first is the UI
	// thread's own, each other one is made by the thread that answers the previous one.
	Calls []Peer
	// There is what the thread that answers the last call waits for: HeldLock of Thread,
	// SlowDisk, or "": it is working on the answer.
	There string
}

// The reasons.
const (
	HeldLock  = "lock"     // another thread of the app holds a monitor
	SlowPeer  = "binder"   // another process answers late
	SlowDisk  = "disk"     // slow writes to storage
	Deadlock  = "deadlock" // two threads wait for each other's monitors
	LowMemory = "memory"   // the kernel reclaims memory
	BusyCPUs  = "cpu"      // other processes use the CPUs
	OwnWork   = "work"     // a method of the app runs
	NothingUp = "idle"     // nothing any more when the stacks are dumped
)

const (
	reasonForms = "lock THREAD, binder PROCESS INTERFACE::METHOD, disk, deadlock THREAD, memory, cpu, work METHOD, idle"
	maxCalls    = 12
)

// standstill parses the words after because: "lock DatabaseWriter", or "binder
// com.example.store com.example.IStore::load through system_server
// android.content.IContentService::get lock android.bg".
func standstill(w []string) (s Standstill, err error) {
	if len(w) == 0 {
		return s, errors.New("because names no reason; want one of " + reasonForms)
	}
	s.Why = w[0]
	rest := w[1:]
	switch s.Why {
	case HeldLock, Deadlock:
		rest, err = s.thread(rest)
	case OwnWork:
		if len(rest) == 0 {
			return s, errors.New("because work: want the method that runs")
		}
		s.Method, err = match(methodPattern, "a method's name", rest[0])
		rest = rest[1:]
		if err == nil && !strings.Contains(s.Method, ".") {
			err = fmt.Errorf("method %q has no class", prose.Short(s.Method))
		}
	case SlowPeer:
		rest, err = s.peers(rest)
	case SlowDisk, LowMemory, BusyCPUs, NothingUp:
	default:
		return s, fmt.Errorf("because %q is not one of %s", prose.Short(s.Why), reasonForms)
	}
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("because %s: unexpected %q after it", s.Why, prose.Short(rest[0]))
	}
	return s, err
}

// thread parses a thread's name.
func (s *Standstill) thread(w []string) (rest []string, err error) {
	if len(w) == 0 {
		return nil, fmt.Errorf("because %s: want the name of the thread that holds it", s.Why)
	}
	s.Thread, err = name("a thread's name", w[0])
	return w[1:], err
}

// peers parses PROCESS INTERFACE::METHOD [through PROCESS INTERFACE::METHOD]… [lock THREAD |
// disk]: a call passes through the others in order.
func (s *Standstill) peers(w []string) (rest []string, err error) {
	last, w, err := peerCall(w)
	for err == nil && len(w) > 0 && w[0] == "through" {
		var call Peer
		call, w, err = peerCall(w[1:])
		s.Calls = append(s.Calls, call)
	}
	if err != nil {
		return nil, err
	}
	if s.Calls = append(s.Calls, last); len(s.Calls) > maxCalls {
		return nil, fmt.Errorf("because binder: %d calls, want at most %d", len(s.Calls), maxCalls)
	}
	if len(w) > 0 && (w[0] == HeldLock || w[0] == SlowDisk) {
		s.There, w = w[0], w[1:]
		if s.There == HeldLock {
			return s.thread(w)
		}
	}
	return w, nil
}

// peerCall parses PROCESS INTERFACE::METHOD with the interface's package, which dumps of
// threads show.
func peerCall(w []string) (call Peer, rest []string, err error) {
	if len(w) < 2 {
		return call, nil, errors.New("because binder: want a process and INTERFACE::METHOD, such as system_server android.app.IActivityManager::getTasks")
	}
	if call, err = peer(w[0], w[1]); err != nil {
		return call, nil, err
	}
	_, err = match(packagePattern, "an interface with its package, such as android.app.IActivityManager", call.Interface)
	return call, w[2:], err
}

// timeout parses one of the timeouts.
func timeout(value string) (Timeout, error) {
	if !slices.Contains(timeouts(), value) {
		return "", fmt.Errorf("%q is not one of %s", prose.Short(value), strings.Join(timeouts(), ", "))
	}
	return Timeout(value), nil
}
