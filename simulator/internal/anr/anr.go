// Package anr is what Android says of an app that does not respond, and of a system that
// does not: the reason, the lines of the log with who used the CPUs meanwhile, the file of
// stacks in /data/anr, the entries of the drop box and the reasons for which processes
// ended. Each is written as the Android version does that the phone claims to run.
//
// It keeps what may be asked for later, and decides nothing: when an app is taken for one
// that does not respond, and what its threads are at, is told to it.
package anr

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Event is one app that does not respond, since At on the phone's clock.
type Event struct {
	API     int
	App     *simapp.App
	PID     int
	UID     int
	Timeout simapp.Timeout
	Why     string        // of simapp.Standstill
	Window  string        // that has the focus: its hash and title
	At      time.Duration // when the system said so
	Waited  time.Duration
	User    bool // a build as it is sold, which tells of input events no more than their kind
	Build   string
}

// Flags are those of the app's ApplicationInfo in am_anr.
const Flags = 550026948

// Reported reports whether this Android version says so of such a timeout. Before Android 14
// an app that is late with a job loses it (JobServiceContext), and one that does not come up
// is tried again or ended (ActivityManagerService.processStartTimedOutLocked), and no more.
func (e Event) Reported() bool {
	return e.API >= 34 || e.Timeout != simapp.JobTimeout && e.Timeout != simapp.StartTimeout
}

// Reason is what am_anr and the log say: of input in the words of each version's
// InputDispatcher, of the others those of TimeoutRecord and what it came from.
func (e Event) Reason() string {
	waited := ""
	if e.API >= 34 {
		waited = fmt.Sprintf(", waited %dms", e.Waited.Milliseconds())
	}
	pkg := e.App.Package
	switch e.Timeout {
	case simapp.BroadcastTimeout:
		return fmt.Sprintf("Broadcast of Intent { act=%s.action.SYNC flg=0x10000010 pkg=%s cmp=%s/.SyncReceiver }%s", pkg, pkg, pkg, waited)
	case simapp.ServiceTimeout:
		return fmt.Sprintf("executing service %s/.SyncService%s", pkg, waited)
	case simapp.ProviderTimeout:
		return "ContentProvider not responding"
	case simapp.JobTimeout:
		return "No response to onStartJob"
	case simapp.StartTimeout:
		return fmt.Sprintf("Process ProcessRecord{%x %d:%s/u0a%d} failed to complete startup", 0x1a2b000+e.PID, e.PID, pkg, e.UID-10000)
	}
	return e.input()
}

// input is the reason where the UI thread takes no input.
func (e Event) input() string {
	component := e.App.Package + "/" + e.App.ActivityClass()
	queue := fmt.Sprintf("Waiting to send non-key event because the touched window has not finished processing certain input events that were delivered to it over 500.0ms ago.  Wait queue length: 4.  Wait queue head age: %.1fms.",
		float64(e.Waited.Microseconds())/1000)
	event := "MotionEvent(action=DOWN)"
	if e.User {
		event = "MotionEvent"
	}
	silent := fmt.Sprintf("%s (server) is not responding. Waited %dms for %s", e.Window, e.Waited.Milliseconds(), event)
	switch {
	case e.API < 18: // ActivityRecord.keyDispatchingTimedOut
		return "keyDispatchingTimedOut"
	case e.API < 26:
		return fmt.Sprintf("Input dispatching timed out (%s)", queue)
	case e.API < 30:
		return fmt.Sprintf("Input dispatching timed out (%s, %s)", component, queue)
	case e.API < 31:
		return fmt.Sprintf("Input dispatching timed out (%s, %s)", component, silent)
	}
	return fmt.Sprintf("Input dispatching timed out (%s)", silent)
}

// activity is the activity that the log names: that of an app which gets no input.
func (e Event) activity() string {
	if e.Timeout != simapp.InputTimeout {
		return ""
	}
	return e.App.Component()
}

// Fields are those of the event am_anr, which has no user before Android 4.2.
func (e Event) Fields() []any {
	fields := []any{e.PID, e.App.Package, Flags, e.Reason()}
	if e.API >= 17 {
		fields = append([]any{0}, fields...)
	}
	return fields
}

// Log is the text that the log has, with who used the CPUs (ProcessErrorStateRecord,
// before Android 12 ProcessRecord, before 10 AppErrors, before 7 ActivityManagerService).
func (e Event) Log(u Usage) string {
	var b strings.Builder
	b.WriteString("ANR in " + e.App.Package)
	if a := e.activity(); a != "" {
		b.WriteString(" (" + a + ")")
	}
	fmt.Fprintf(&b, "\nPID: %d\nReason: %s\n", e.PID, e.Reason())
	if a := e.activity(); a != "" && e.API >= 29 {
		b.WriteString("Parent: " + a + "\n")
	}
	if e.API >= 33 {
		fmt.Fprintf(&b, "ErrorId: %s\nFrozen: false\n", e.errorID())
	}
	b.WriteString(u.load(e.Why) + e.pressure() + u.text(e))
	return b.String()
}

// errorID is the number by which traces tell of it (TraceErrorLogger).
func (e Event) errorID() string {
	n := uint64(e.At)*0x9e3779b97f4a7c15 + uint64(e.PID)
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(n), n>>32&0xffff, n>>16&0xfff, n>>40&0xfff, n*31&(1<<48-1))
}

// pressure is what /proc/pressure says, of memory since Android 10, of all since 14
// (MemoryPressureUtil, ResourcePressureUtil).
func (e Event) pressure() string {
	short := map[string]string{simapp.LowMemory: "memory", simapp.BusyCPUs: "cpu", simapp.SlowDisk: "io"}[e.Why]
	stanza := func(of string) string {
		some, full := "avg10=0.12 avg60=0.08 avg300=0.02 total=1442007", "avg10=0.00 avg60=0.00 avg300=0.00 total=451453"
		if of == short {
			some = "avg10=71.42 avg60=38.20 avg300=11.90 total=98230411"
			if of != "cpu" {
				full = "avg10=48.77 avg60=22.15 avg300=6.04 total=61120934"
			}
		}
		return fmt.Sprintf("----- Output from /proc/pressure/%s -----\nsome %s\nfull %s\n----- End output from /proc/pressure/%s -----\n", of, some, full, of)
	}
	switch {
	case e.API < 29:
		return ""
	case e.API < 34:
		return stanza("memory") + "\n"
	}
	return stanza("memory") + stanza("cpu") + stanza("io") + "\n"
}

// Path is the file in /data/anr: one for each since Android 8, before that always the same
// (ActivityManagerService.dumpStackTraces).
func (e Event) Path() string {
	if e.API < 26 {
		return "/data/anr/traces.txt"
	}
	return "/data/anr/anr_" + strings.Replace(clock.Wall(e.At).Format("2006-01-02-15-04-05.000"), ".", "-", 1)
}

// Mode is who may read it. Since Android 8 that is the system alone.
func (e Event) Mode() uint32 {
	if e.API < 26 {
		return 0o666
	}
	return 0o600
}

// Header is how the file begins.
func (e Event) Header() string {
	switch {
	case e.API < 31:
		return ""
	case e.API < 33:
		return "Subject: " + e.Reason() + "\n\n"
	}
	return fmt.Sprintf("Subject: %s\nRssHwmKb: %d\nRssKb: %d\nRssAnonKb: %d\nRssShmemKb: 980\nVmSwapKb: 0\n\n\n--- CriticalEventLog ---\ncapacity: 20\ntimestamp_ms: %d\nwindow_ms: 300000\n\n",
		e.Reason(), e.App.MemoryKB*12/10, e.App.MemoryKB, e.App.MemoryKB*6/10, clock.Wall(e.At).UnixMilli())
}

// Dumping is the line before each process's stacks (ActivityManagerService.dumpJavaTracesTombstoned).
func (e Event) Dumping(pid int) string {
	if e.API < 33 {
		return "\n"
	}
	return fmt.Sprintf("----- dumping pid: %d at %d\n\n", pid, e.At.Milliseconds())
}

// foreground is what the drop box says of the app.
func (e Event) foreground() string {
	return cmp.Or(map[simapp.Timeout]string{simapp.JobTimeout: "No"}[e.Timeout], "Yes")
}
