package logcat_test

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Expected values are read off the texts of Android's sources, which state what timed out after how
// long.
func TestANRKindAndWaited(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]struct {
		kind, metric string
		waited       time.Duration
	}{
		"keyDispatchingTimedOut": {run.ANRInput, "anr.input", 0},
		"Input dispatching timed out (Waiting to send key event because the focused window has not finished processing all of the input events that were previously delivered to it.  Outbound queue length: 0.  Wait queue length: 2.  Wait queue head age: 5504.3ms.)": {run.ANRInput, "anr.input", 5504 * time.Millisecond},
		"Input dispatching timed out (f130cca com.example/com.example.Main (server) is not responding. Waited 5001ms for MotionEvent(action=DOWN))":                                                                                                                      {run.ANRInput, "anr.input", 5001 * time.Millisecond},
		"Input dispatching timed out (Application does not have a focused window)":                                               {run.ANRInput, "anr.input", 0},
		"Broadcast of Intent { act=com.example.SYNC flg=0x10 cmp=com.example/.R }":                                               {run.ANRBroadcast, "anr.broadcast", 0},
		"Broadcast of Intent { act=com.example.SYNC }, waited 10001ms":                                                           {run.ANRBroadcast, "anr.broadcast", 10001 * time.Millisecond},
		"executing service com.example/.Sync":                                                                                    {run.ANRService, "anr.service", 0},
		"executing service com.example/.Sync, waited 20002ms":                                                                    {run.ANRService, "anr.service", 20002 * time.Millisecond},
		"Context.startForegroundService() did not then call Service.startForeground(): ServiceRecord{846f722 u0 com.example/.S}": {run.ANRForegroundService, "anr.service", 0},
		"A foreground service of type shortService did not stop within a timeout: ComponentInfo{com.example/.S}":                 {run.ANRForegroundService, "anr.service", 0},
		"ContentProvider not responding":                                                                                         {run.ANRProvider, "anr.provider", 0},
		"No response to onStartJob for com.example/.Job":                                                                         {run.ANRJob, "anr.job", 0},
		"required notification not provided":                                                                                     {run.ANRJob, "anr.job", 0},
		"Process ProcessRecord{83d3a6 4711:com.example/u0a120} failed to complete startup":                                       {run.ANRStart, "anr.start", 0},
		"Process ProcessRecord{83d3a6 4711:com.example/u0a120} failed":                                                           {run.ANROther, "anr.other", 0},
		"App requested: hang":                                {run.ANROther, "anr.other", 0},
		"Input dispatching timed out (Waited 99999999999ms)": {run.ANRInput, "anr.input", 0},
		"": {run.ANROther, "anr.other", 0},
	} {
		if kind := logcat.ANRKind(reason); kind != want.kind || logcat.ANRMetric(kind) != want.metric || logcat.Waited(reason) != want.waited {
			t.Errorf("%q: %q, %q, %v; want %+v", reason, kind, logcat.ANRMetric(kind), logcat.Waited(reason), want)
		}
	}
}

// A reason in the events buffer is one field, including its commas.
func TestEventsANRReasonWithCommas(t *testing.T) {
	t.Parallel()
	ev := events(t, read(t, "1.000  1000  1  1 I am_anr  : [0,500,com.example,8,executing service com.example/.Sync, waited 20002ms]"))
	if len(ev) != 1 || ev[0].Detail != "executing service com.example/.Sync, waited 20002ms" {
		t.Errorf("%+v", ev)
	}
}

// The watchdog logs an event, then the stacks of many processes, then its last line: one event. A
// later one is separate. The same text from an app is ignored.
func TestEventsReportWatchdogOnce(t *testing.T) {
	t.Parallel()
	log := " 60.000  1000  1040  1100 I watchdog: Blocked in handler on i/o thread (android.io)\n" +
		" 95.000  1000  1040  1100 W Watchdog: *** WATCHDOG KILLING SYSTEM PROCESS: Blocked in handler on i/o thread (android.io) for 68s\n" +
		"110.000  1000  5200  5200 I boot_progress_system_run: 110000\n" +
		"111.000 10120  5400  5400 W Watchdog: *** WATCHDOG KILLING SYSTEM PROCESS: no\n" +
		"500.000  1000  5200  5300 W Watchdog: *** WATCHDOG KILLING SYSTEM PROCESS: null\n" +
		"500.100  1000  5200  5300 W Watchdog: *** GOODBYE!\n"
	ev := events(t, read(t, log))
	if len(ev) != 3 || ev[0].Kind != logcat.SNR || ev[0].Detail != "Blocked in handler on i/o thread (android.io)" || ev[0].Process != "system_server" ||
		ev[1].Kind != logcat.SystemStarted || ev[2].Kind != logcat.SNR || ev[2].Time != 500*time.Second {
		t.Errorf("%+v", ev)
	}
}
