package logcat

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// reasons are how Android's texts begin that say why a process did not respond
// (frameworks/base: TimeoutRecord, AnrController, ActivityManagerService,
// ActiveServices, BroadcastQueue, ContentProviderHelper, JobServiceContext).
var reasons = []struct{ begins, kind string }{
	{"Input dispatching timed out", run.ANRInput},
	{"keyDispatchingTimedOut", run.ANRInput}, // until Android 4.2
	{"Broadcast of ", run.ANRBroadcast},
	{"executing service ", run.ANRService},
	{"Context.startForegroundService() did not then call ", run.ANRForegroundService},
	{"A foreground service of ", run.ANRForegroundService}, // a type whose time is short, Android 14
	{"ContentProvider not responding", run.ANRProvider},
	{"No response to on", run.ANRJob}, // Android 14
	{"Timed out while trying to bind", run.ANRJob},
	{"required notification not provided", run.ANRJob},
}

// startLate is how the text ends of a process that was started and did not bind its
// application in time (Android 14).
const startLate = "failed to complete startup"

// ANRKind says what was waited for, by Android's text of an ANR: one of run's kinds,
// run.ANROther where the text is none that is known.
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

// waited finds how long Android says that it had waited: "Waited 5001ms for MotionEvent"
// (input, Android 11), ", waited 20000ms" (services and broadcasts, Android 14), "Wait
// queue head age: 5504.3ms" (input, before).
var waited = regexp.MustCompile(`(?:[Ww]aited |Wait queue head age: )(\d{1,9})(?:\.\d+)?ms`)

// Waited is how long Android had waited when it called a process not responding, as its
// text tells; 0 where it doesn't.
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

// system is the name of Android's own process.
const system = "system_server"

// killed reads "*** WATCHDOG KILLING SYSTEM PROCESS: Blocked in handler on i/o thread
// (android.io) for 68s", by which Android's own process ends itself (Watchdog.java).
func killed(message string) (Event, bool) {
	blocked, ok := strings.CutPrefix(message, "*** WATCHDOG KILLING SYSTEM PROCESS")
	return Event{Kind: SNR, Process: system, Detail: strings.TrimSpace(strings.TrimPrefix(blocked, ":"))}, ok
}

// watchdogEvent reads the event "watchdog" (services/core/java/com/android/server/
// EventLogTags.logtags), which stands before it in the log and says the same.
func watchdogEvent(message string) (Event, bool) {
	return Event{Kind: SNR, Process: system, Detail: message}, message != ""
}

// systemStarted reads "boot_progress_system_run": Android's own process began, as it
// does when the device starts, and when that process is started again.
func systemStarted() (Event, bool) { return Event{Kind: SystemStarted, Process: system}, true }

// ANRMetric is the name in the catalogue of how many ANRs of a kind there were.
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

// ANRMetrics are the names in the catalogue of how many ANRs of each kind there were.
func ANRMetrics() []string {
	return []string{"anr.input", "anr.broadcast", "anr.service", "anr.provider", "anr.job", "anr.start", "anr.other"}
}
