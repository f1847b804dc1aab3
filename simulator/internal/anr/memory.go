package anr

import (
	"fmt"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
)

// The cached process that is killed when memory is low.
const (
	cached    = "com.example.cached"
	cachedPID = 3021
	cachedUID = 10077
)

// LowMemory logs a process killed for lack of memory: by lmkd since Android 9 (lmkd.cpp,
// kill_one_process), by the activity manager (EventLogTags) in all versions. Before Android 9
// the kernel kills, which logcat does not show.
func LowMemory(log *logcat.Log) {
	how, why := "oom_adj 906 to free 51200kB", "; reason: low watermark is breached and swap is low"
	switch {
	case log.API < 30:
		why = ""
	case log.API >= 31:
		how = "oom_score_adj 906 to free 51200kB rss, 10240kB swap"
	}
	if log.API >= 28 {
		log.Add(logcat.Entry{Buffer: "main", PID: lmkdPID, Priority: 'I', Tag: "lowmemorykiller", Text: fmt.Sprintf("Kill '%s' (%d), uid %d, %s%s", cached, cachedPID, cachedUID, how, why)})
	}
	died := []any{cachedPID, cached}
	if log.API >= 17 {
		died = append([]any{0}, died...)
	}
	if log.API >= 26 {
		died = append(died, 906, 16)
	}
	log.Event("am_proc_died", died...)
	log.Event("am_low_memory", 4)
	log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died: cch +6 CEM", cached, cachedPID)
}
