// Package anr prints Android's reports on an app, or a system, that does not respond: the
// reason, the lines of the log with the CPU usage, the file of stacks in /data/anr, the
// entries of the drop box and the reasons for processes' exits. Each is in the form of the
// Android version that the phone simulates.
//
// It keeps what can be queried later. It does not decide when an app counts as not responding,
// nor what its threads are doing: its caller does.
package anr

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Event is one app that does not respond, from At on the phone's clock.
type Event struct {
	API     int
	App     *simapp.App
	PID     int
	UID     int
	Timeout simapp.Timeout
	Why     string        // of simapp.Standstill
	Window  string        // with the focus: its hash and title
	At      time.Duration // when the system reported it
	Waited  time.Duration
	User    bool // a user build, which reports only the kind of input events
	Build   string
}

// Flags are the app's ApplicationInfo flags in am_anr.
const Flags = 550026948

// Reported reports whether this Android version reports such a timeout. Before Android 14 an
// app that is late with a job only loses it (JobServiceContext), and one that does not start
// is only retried or killed (ActivityManagerService.processStartTimedOutLocked).
func (e Event) Reported() bool {
	return e.API >= 34 || e.Timeout != simapp.JobTimeout && e.Timeout != simapp.StartTimeout
}

// Reason returns the reason in am_anr and the log: for input in the wording of each version's
// InputDispatcher, otherwise that of TimeoutRecord and its predecessors.
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

// input returns the reason for a UI thread that handles no input.
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

// activity returns the activity that the log names: that of an app which receives no input.
func (e Event) activity() string {
	if e.Timeout != simapp.InputTimeout {
		return ""
	}
	return e.App.Component()
}

// Fields returns the fields of the event am_anr, which has no user before Android 4.2.
func (e Event) Fields() []any {
	fields := []any{e.PID, e.App.Package, Flags, e.Reason()}
	if e.API >= 17 {
		fields = append([]any{0}, fields...)
	}
	return fields
}

// Log returns the text in the log, with the CPU usage (ProcessErrorStateRecord, before Android
// 12 ProcessRecord, before 10 AppErrors, before 7 ActivityManagerService).
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

// errorID returns the number that identifies it in traces (TraceErrorLogger).
func (e Event) errorID() string {
	n := uint64(e.At)*0x9e3779b97f4a7c15 + uint64(e.PID)
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(n), n>>32&0xffff, n>>16&0xfff, n>>40&0xfff, n*31&(1<<48-1))
}

// pressure returns the contents of /proc/pressure, for memory since Android 10, for all since
// 14 (MemoryPressureUtil, ResourcePressureUtil).
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

// Path returns the file in /data/anr: one for each ANR since Android 8, before that always the
// same (ActivityManagerService.dumpStackTraces).
func (e Event) Path() string {
	if e.API < 26 {
		return "/data/anr/traces.txt"
	}
	return "/data/anr/anr_" + strings.Replace(clock.Wall(e.At).Format("2006-01-02-15-04-05.000"), ".", "-", 1)
}

// Mode returns the file's permissions. Since Android 8 only the system may read it.
func (e Event) Mode() uint32 {
	if e.API < 26 {
		return 0o666
	}
	return 0o600
}

// Header returns the beginning of the file.
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

// Dumping returns the line before each process's stacks
// (ActivityManagerService.dumpJavaTracesTombstoned).
func (e Event) Dumping(pid int) string {
	if e.API < 33 {
		return "\n"
	}
	return fmt.Sprintf("----- dumping pid: %d at %d\n\n", pid, e.At.Milliseconds())
}

// foreground returns the drop box's value for the app.
func (e Event) foreground() string {
	return cmp.Or(map[simapp.Timeout]string{simapp.JobTimeout: "No"}[e.Timeout], "Yes")
}
