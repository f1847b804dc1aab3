package phone

import (
	"strings"
	"testing"
	"time"
)

// The shell may not make an app write its stacks; run-as may for a debuggable app, and only
// root can read them.
func TestStacksNeedRootOrADebugBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		app        string
		root       bool
		own, runAs int // exit codes
	}{
		{still, false, 1, 1},
		{still + "debuggable\n", false, 1, 0},
		{still, true, 0, 1},
	} {
		p := newPhone(t, "pixel-7-android-14", c.app)
		p.files.Root = c.root
		output(t, p, "am start -n com.example.still/.MainActivity")
		pass(t, p, time.Second)
		pid := strings.TrimSpace(output(t, p, "pidof com.example.still"))
		_, errs, code := run(t, p, "kill -3 "+pid)
		if code != c.own || code != 0 && !strings.Contains(errs, "Operation not permitted") {
			t.Errorf("kill -3, root %v: %d, %s", c.root, code, errs)
		}
		if _, errs, code = run(t, p, "run-as com.example.still kill -3 "+pid); code != c.runAs || code != 0 && !strings.Contains(errs, "not debuggable") {
			t.Errorf("run-as: %d, %s", code, errs)
		}
		pass(t, p, time.Second)
		if got := strings.TrimSpace(output(t, p, "pidof com.example.still")); got != pid {
			t.Errorf("the app is process %q after it wrote its stacks, %q before", got, pid)
		}
		text, errs, _ := run(t, p, "cat /data/anr/trace_00")
		log := output(t, p, "logcat -d tombstoned:V '*:S'")
		switch written := c.own == 0 || c.runAs == 0; {
		case written != strings.Contains(log, "Traces for pid "+pid+" written to: trace_00\n"):
			t.Errorf("written %v, and the log says %q", written, log)
		case written != strings.Contains(text, `"main" prio=5`): // Android 14: everybody may read it
			t.Errorf("root %v reads %q, %s", c.root, text, errs)
		}
	}
}

// trace starts perfetto with a configuration and returns its process id.
func trace(t *testing.T, p *Phone, config string) string {
	t.Helper()
	put(t, p, "/data/local/tmp/a.cfg", config)
	return strings.TrimSpace(output(t, p, "cat /data/local/tmp/a.cfg | perfetto --txt -c - -o "+traceFile+" --background"))
}

// A session can be cloned by name since Android 14, and continues; the buffers of one that
// writes to its file contain only what it has not written yet.
func TestCloneSession(t *testing.T) {
	t.Parallel()
	const clone = "perfetto --clone-by-name mine -o /data/misc/perfetto-traces/clone.pftrace"
	config := "unique_session_name: \"mine\"\nbuffers { size_kb: 4096 }\ndata_sources { config { name: \"linux.ftrace\" } }\n"
	p := newPhone(t, "pixel-7-android-14", still)
	if _, errs, code := run(t, p, clone); code == 0 || !strings.Contains(errs, "mine") {
		t.Errorf("without a session: %d, %s", code, errs)
	}
	pid := trace(t, p, config)
	pass(t, p, 3*time.Second)
	output(t, p, clone)
	if size := len(output(t, p, "cat /data/misc/perfetto-traces/clone.pftrace")); size == 0 {
		t.Error("the clone is empty")
	}
	if got := strings.TrimSpace(output(t, p, "pidof perfetto")); got != pid {
		t.Errorf("perfetto is process %q after it was cloned, %q before", got, pid)
	}
	old := newPhone(t, "galaxy-s21-android-13", still)
	trace(t, old, config)
	if _, errs, code := run(t, old, clone); code == 0 || !strings.Contains(errs, "unrecognized option '--clone-by-name'") {
		t.Errorf("Android 13: %d, %s", code, errs)
	}
}
