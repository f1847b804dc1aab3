package signature

import "github.com/apkgate/apkgate/run"

// threadRules are for a thread's name. Network addresses are removed first, since a host's name may
// contain a number that would be taken for a pool's.
var threadRules = rules{
	take(`^(OkHttp|Okio)(?: Dispatcher)? (?:https?://|[\w-]+(?:\.[\w-]+)+).*$`, "$1"),
	take(`\b(?:https?|wss?)://\S+`, "URL"),
	take(`^[Bb]inder(?:[:_ ].*| Thread #\d+)?$`, "Binder"), // "Binder_2", "Binder:1234_5", "binder:4473_4"
	take(`^HwBinder:.*$`, "HwBinder"),
	take(`@[0-9a-f]{4,}\b|\b0x[0-9a-f]+\b`, "@"),
	take(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "#"),
	take(`\d+`, "#"), // "pool-3-thread-7", "Thread-3662", "AsyncTask #7"
}

// threadName returns a thread's name without its counter. The main thread is "main", even where a
// dump names it after its process, of which the kernel keeps the last 15 characters.
func threadName(t run.ANRThread, a run.ANR) string {
	process := a.Process
	if t.Process != "" {
		process = t.Process
	}
	const kept = 15 // TASK_COMM_LEN
	if process != "" && (t.Name == process || t.Name == process[max(0, len(process)-kept):]) {
		return "main"
	}
	return threadRules.apply(t.Name)
}

// processRules are for a process's name: processes of one kind are numbered.
var processRules = rules{take(`\d+`, "#")} // "com.android.chrome:sandboxed_process3:…"

// processName returns the name of the thread's process, "" for the ANR's own.
func processName(t run.ANRThread, a run.ANR) string {
	if t.Process == "" || t.Process == a.Process {
		return ""
	}
	return processRules.apply(t.Process)
}
