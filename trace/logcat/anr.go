package logcat

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// reasons are the beginnings of Android's texts about why a process did not respond
// (frameworks/base: TimeoutRecord, AnrController, ActivityManagerService, ActiveServices,
// BroadcastQueue, ContentProviderHelper, JobServiceContext).
var reasons = []struct{ begins, kind string }{
	{"Input dispatching timed out", run.ANRInput},
	{"keyDispatchingTimedOut", run.ANRInput}, // until Android 4.2
	{"Broadcast of ", run.ANRBroadcast},
	{"executing service ", run.ANRService},
	{"Context.startForegroundService() did not then call ", run.ANRForegroundService},
	{"A foreground service of ", run.ANRForegroundService}, // a type with a short limit, Android 14
	{"ContentProvider not responding", run.ANRProvider},
	{"No response to on", run.ANRJob}, // Android 14
	{"Timed out while trying to bind", run.ANRJob},
	{"required notification not provided", run.ANRJob},
}

// startLate ends the text about a process that was started but did not bind its application in time
// (Android 14).
const startLate = "failed to complete startup"

// ANRKind returns what the process failed to respond to, derived from Android's text: one of run's
// kinds, run.ANROther if the text is unknown.
func ANRKind(reason string) string {
	for _, r := range reasons {
		if strings.HasPrefix(reason, r.begins) {
			return r.kind
		}
	}
	if strings.HasPrefix(reason, "Process ") && strings.HasSuffix(strings.TrimSpace(reason), startLate) {
		return run.ANRStart
	}
	return run.ANROther
}

// waited matches how long Android had waited: "Waited 5001ms for MotionEvent" (input, Android 11),
// ", waited 20000ms" (services and broadcasts, Android 14), "Wait queue head age: 5504.3ms" (input,
// before).
var waited = regexp.MustCompile(`(?:[Ww]aited |Wait queue head age: )(\d{1,9})(?:\.\d+)?ms`)

// Waited returns how long Android had waited when it declared the process unresponsive, as stated
// in its text; 0 if the text does not state it.
func Waited(reason string) time.Duration {
	m := waited.FindStringSubmatch(reason)
	if m == nil {
		return 0
	}
	ms, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// system is the name of Android's system process.
const system = "system_server"

// killed parses "*** WATCHDOG KILLING SYSTEM PROCESS: Blocked in handler on i/o thread (android.io)
// for 68s", which the system process logs before it ends itself (Watchdog.java).
func killed(message string) (Event, bool) {
	blocked, ok := strings.CutPrefix(message, "*** WATCHDOG KILLING SYSTEM PROCESS")
	return Event{Kind: SNR, Process: system, Detail: strings.TrimSpace(strings.TrimPrefix(blocked, ":"))}, ok
}

// watchdogEvent parses the event "watchdog" (services/core/java/com/android/server/
// EventLogTags.logtags), which precedes that line in the log and states the same.
func watchdogEvent(message string) (Event, bool) {
	return Event{Kind: SNR, Process: system, Detail: message}, message != ""
}

// systemStarted returns the event for "boot_progress_system_run": the system process started, at
// boot or after it had ended.
func systemStarted() (Event, bool) { return Event{Kind: SystemStarted, Process: system}, true }

// ANRMetric returns the catalogue's name for the number of ANRs of a kind.
func ANRMetric(kind string) string {
	switch kind {
	case run.ANRInput, run.ANRBroadcast, run.ANRService, run.ANRJob, run.ANRStart:
		return "anr." + kind
	case run.ANRForegroundService:
		return "anr." + run.ANRService
	case run.ANRProvider:
		return "anr.provider"
	}
	return "anr." + run.ANROther
}

// ANRMetrics returns the catalogue's names for the number of ANRs of each kind.
func ANRMetrics() []string {
	return []string{"anr.input", "anr.broadcast", "anr.service", "anr.provider", "anr.job", "anr.start", "anr.other"}
}
