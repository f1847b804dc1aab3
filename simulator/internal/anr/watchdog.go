package anr

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
)

// Watchdog is a system process that does not respond: its watchdog (Watchdog.java) reports it,
// and kills it.
type Watchdog struct {
	API  int
	At   time.Duration // when the watchdog checked
	Long time.Duration // for how long the system was blocked
}

// Subject describes the block: android.fg waits for the lock of the activity manager.
func (w Watchdog) Subject() string {
	subject := "Blocked in monitor com.android.server.am.ActivityManagerService on foreground thread (android.fg)"
	if w.API >= 33 {
		subject += fmt.Sprintf(" for %ds", int(w.Long.Seconds()))
	}
	return subject
}

// Kills logs the kill: the event, the subject with the stack of the blocked thread, and the
// signal.
func (w Watchdog) Kills(log *logcat.Log) {
	log.Event("watchdog", w.Subject())
	say := func(format string, args ...any) { log.System("system", 'W', "Watchdog", format, args...) }
	say("*** WATCHDOG KILLING SYSTEM PROCESS: %s", w.Subject())
	how := "annotated stack trace"
	if w.API < 26 {
		how = "stack trace"
	}
	say("foreground thread %s:\n    at com.android.server.am.ActivityManagerService.monitor(ActivityManagerService.java:21070)\n    at com.android.server.Watchdog$HandlerChecker.run(Watchdog.java:209)\n    at android.os.Handler.handleCallback(Handler.java:938)\n    at android.os.Handler.dispatchMessage(Handler.java:102)\n    at android.os.Looper.loop(Looper.java:223)\n    at android.os.HandlerThread.run(HandlerThread.java:67)", how)
	say("*** GOODBYE!")
	log.System("main", 'I', "Process", "Sending signal. PID: %d SIG: 9", logcat.SystemPID)
	log.Add(logcat.Entry{Buffer: "main", PID: 600, Priority: 'E', Tag: "Zygote", Text: fmt.Sprintf("Exit zygote because system server (pid %d) has terminated", logcat.SystemPID)})
}

// Starts logs the steps of the system's start (EventLogTags.logtags).
func (w Watchdog) Starts(log *logcat.Log, step string, at time.Duration) {
	log.Event("boot_progress_"+step, at.Milliseconds())
}

// Keep adds it to the drop box, with the stacks of the system process.
func (w Watchdog) Keep(b *Book, tag, build, stacks string) {
	b.Keep(w.At, "system_server_"+tag, fmt.Sprintf("Process: system_server\nSubject: %s\nBuild: %s\n\n%s", w.Subject(), build, stacks))
}
