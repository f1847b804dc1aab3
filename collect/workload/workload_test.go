package workload

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

func TestInstrumentationJudge(t *testing.T) {
	t.Parallel()
	const begun = "INSTRUMENTATION_STATUS: class=A\nINSTRUMENTATION_STATUS: test=b\nINSTRUMENTATION_STATUS_CODE: 1\n"
	const same = "INSTRUMENTATION_STATUS: class=A\nINSTRUMENTATION_STATUS: test=b\n"
	for name, c := range map[string]struct {
		out   string
		is    error
		says  string
		final bool
	}{
		"good":                           {begun + same + "INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_RESULT: stream=\n\nOK (1 test)\nINSTRUMENTATION_CODE: -1\n", nil, "", false},
		"CR LF":                          {strings.ReplaceAll(begun+same+"INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_CODE: -1\n", "\n", "\r\n"), nil, "", false},
		"failed":                         {begun + same + "INSTRUMENTATION_STATUS: stack=java.lang.AssertionError: 3\n\tat A.b(A.java:1)\nINSTRUMENTATION_STATUS_CODE: -2\nINSTRUMENTATION_CODE: -1\n", loss.ErrTestFail, "A#b: java.lang.AssertionError: 3", false},
		"crashed under the Orchestrator": {begun + same + "INSTRUMENTATION_STATUS: stack=java.lang.Throwable: Test instrumentation process crashed. Check A#b.txt for details\nINSTRUMENTATION_STATUS_CODE: -2\nINSTRUMENTATION_CODE: -1\n", loss.ErrCrashed, "A#b", false},
		"skipped":                        {begun + same + "INSTRUMENTATION_STATUS_CODE: -3\nINSTRUMENTATION_CODE: -1\n", loss.ErrTestFail, "no test ran", true},
		"crashed":                        {begun + "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n", loss.ErrCrashed, "Process crashed.", false},
		"took no input":                  {begun + "INSTRUMENTATION_RESULT: shortMsg=keyDispatchingTimedOut\nINSTRUMENTATION_RESULT: longMsg=Input dispatching timed out (a/b)\nINSTRUMENTATION_CODE: 0\n", loss.ErrSilent, "keyDispatchingTimedOut: Input dispatching timed out (a/b)", false},
		"crashed, why":                   {"INSTRUMENTATION_RESULT: shortMsg=java.lang.Error\nINSTRUMENTATION_RESULT: longMsg=java.lang.Error: x\nINSTRUMENTATION_CODE: 0\n", loss.ErrCrashed, "java.lang.Error: java.lang.Error: x", false},
		"no such runner": {"INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{a/b}\nINSTRUMENTATION_STATUS_CODE: -1\nandroid.util.AndroidException: INSTRUMENTATION_FAILED: a/b\n",
			nil, "Unable to find instrumentation info", true},
		"failed, many": {strings.Repeat(same+"INSTRUMENTATION_STATUS: stack=x\nINSTRUMENTATION_STATUS_CODE: -2\n", 3) + "INSTRUMENTATION_CODE: -1\n", loss.ErrTestFail, "A#b: x (and 2 more)", false},
		"failed by the runner's word": {same + "INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_RESULT: stream=\n\nTime: 1\nFAILURES!!!\nTests run: 2,  Failures: 1\n\nINSTRUMENTATION_CODE: -1\n",
			loss.ErrTestFail, "FAILURES!!! Tests run: 2,  Failures: 1", false},
		"failures of the app's own words": {"INSTRUMENTATION_STATUS: stream=\nFAILURES!!!\n" + same + "INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_CODE: -1\n", nil, "", false},
		"one missing":                     {"INSTRUMENTATION_STATUS: numtests=2\n" + same + "INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_CODE: -1\n", loss.ErrTestFail, "of 2 tests 1 did not say how they ended", false},
		"one skipped": {"INSTRUMENTATION_STATUS: numtests=2\n" + same + "INSTRUMENTATION_STATUS_CODE: -3\n" + "INSTRUMENTATION_STATUS: numtests=2\n" + same + "INSTRUMENTATION_STATUS_CODE: 0\nINSTRUMENTATION_CODE: -1\n",
			nil, "", false},
		"nothing":   {"", loss.ErrTestFail, "in the middle of its output", false},
		"cut short": {begun, loss.ErrTestFail, "in the middle of its output", false},
		"empty":     {"INSTRUMENTATION_RESULT: stream=\n\nOK (0 tests)\nINSTRUMENTATION_CODE: -1\n", loss.ErrTestFail, "no test ran", true},
	} {
		err := judged(c.out)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if e := loss.As(err); (e != nil && e.Final) != c.final {
			t.Errorf("%s: trying again is of use: %v", name, !c.final)
		}
	}
}

// judged judges the raw output of am instrument, however it is split on the way.
func judged(out string) error {
	var r Running
	for i := range len(out) {
		_, _ = r.Write([]byte(out[i : i+1]))
	}
	return r.Judge(config.Workload{Instrumentation: &config.Instrumentation{}}, "com.example")
}

// One failed test among thousands is found, though their output is not kept.
func TestAFailedTestAmongThousands(t *testing.T) {
	t.Parallel()
	const tests, bad = 6000, 3000
	for _, said := range []string{"\nTime: 1\nFAILURES!!!\nTests run: 6000,  Failures: 1\n", ""} {
		var r Running
		for i := range tests {
			stack, code := "", 0
			if i == bad {
				stack, code = "INSTRUMENTATION_STATUS: stack=java.lang.AssertionError: wrong\n", -2
			}
			for _, end := range []string{"INSTRUMENTATION_STATUS_CODE: 1\n", fmt.Sprintf("%sINSTRUMENTATION_STATUS_CODE: %d\n", stack, code)} {
				_, _ = fmt.Fprintf(&r, "INSTRUMENTATION_STATUS: class=com.example.app.SomeRatherLongTestClassName\nINSTRUMENTATION_STATUS: numtests=%d\n"+
					"INSTRUMENTATION_STATUS: stream=.\nINSTRUMENTATION_STATUS: test=testNumber%d\n%s", tests, i, end)
			}
		}
		_, _ = fmt.Fprintf(&r, "INSTRUMENTATION_RESULT: stream=\n%s\nINSTRUMENTATION_CODE: -1\n", said)
		err := r.Judge(config.Workload{Instrumentation: &config.Instrumentation{}}, "com.example")
		if !errors.Is(err, loss.ErrTestFail) || !strings.Contains(err.Error(), "SomeRatherLongTestClassName#testNumber3000: java.lang.AssertionError: wrong") {
			t.Errorf("%v, want the failure of test %d", err, bad)
		}
	}
}

// An endless line takes no memory.
func TestInstrumentationWithALongLine(t *testing.T) {
	t.Parallel()
	var in instrumentation
	for range 10_000 {
		_, _ = in.Write(bytes.Repeat([]byte("x"), 1000))
	}
	if len(in.line) > maxStatusLine || cap(in.line) > 4*maxStatusLine {
		t.Errorf("%d bytes are kept of a line", cap(in.line))
	}
	_, _ = in.Write([]byte("\nINSTRUMENTATION_CODE: -1"))
	if in.end(); !in.finished {
		t.Error("what came after it is not read")
	}
}

func TestJudgeMonkey(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]error{
		":Monkey: seed=1 count=10\nEvents injected: 10\n// Monkey finished\n":                                       nil,
		"// CRASH: com.example (pid 12)\n// Short Msg: java.lang.Error\n** Monkey aborted due to error.\n":          loss.ErrCrashed,
		"** No activities found to run, monkey aborted.\n":                                                          loss.ErrTestFail,
		":Monkey: seed=1 count=10\n** System appears to have crashed at event 3 of 10 using seed 1\n":               loss.ErrTestFail,
		":Monkey: seed=1 count=10\n// NOT RESPONDING: com.example (pid 12)\n** Monkey aborted due to error.\nx=1\n": loss.ErrTestFail,
	} {
		if got := judgeMonkey([]byte(out), nil, 0); !errors.Is(got, want) {
			t.Errorf("%q: %v, want %v", out, got, want)
		}
	}
	// What Android's monkey writes to its standard error, with the status of event 256.
	crashed := "// CRASH: com.example (pid 12)\n// Short Msg: java.lang.Error\n** System appears to have crashed at event 256 of 600 using seed 1\n"
	if err := judgeMonkey([]byte("** Monkey aborted due to error.\nEvents injected: 256\n"), []byte(crashed), 0); !errors.Is(err, loss.ErrCrashed) {
		t.Errorf("a crash on the standard error: %v", err)
	}
	if err := judgeMonkey([]byte("Events injected: 256\n"), []byte("** System appears to have crashed at event 256 of 600 using seed 1\n"), 0); !errors.Is(err, loss.ErrTestFail) {
		t.Errorf("an end of the system on the standard error: %v", err)
	}
	if err := judgeMonkey(nil, nil, 3); !errors.Is(err, loss.ErrTestFail) {
		t.Errorf("exit status 3: %v", err)
	}
}

// A workload's standard error is reported before its output.
func TestJudgeReportsStandardError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workload  config.Workload
		out, errs string
		says      string
	}{
		{config.Workload{Shell: &config.Shell{}}, "step 1\nstep 2\n", "work.sh[3]: tap: not found\n", "exit status 127: work.sh[3]: tap: not found"},
		{config.Workload{Shell: &config.Shell{}}, "step 1\nstep 2\n", " \n", "exit status 127: step 2"},
		{config.Workload{Shell: &config.Shell{}}, "", "", "exit status 127: (no output)"},
		{config.Workload{Monkey: &config.Monkey{}}, "", "** Error: bad arguments\n", "** Error: bad arguments"},
		{config.Workload{Instrumentation: &config.Instrumentation{}}, "", "java.lang.SecurityException: not allowed\n\tat android.os.Parcel\n", "SecurityException: not allowed"},
	} {
		r := Running{code: 127, errs: func() []byte { return []byte(c.errs) }}
		_, _ = r.out.Write([]byte(c.out))
		if err := r.Judge(c.workload, "com.example"); !errors.Is(err, loss.ErrTestFail) || !strings.HasSuffix(err.Error(), c.says) {
			t.Errorf("%v, want it to end with %q", err, c.says)
		}
	}
}

// A workload that prints its end has the exit code of its own command, not that of later ones.
func TestSaid(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]struct {
		out  string
		code int
	}{
		"done\napkgate-exit 0\n":                  {"done\n", 0},
		"apkgate-exit 7\r\n":                      {"", 7},
		"apkgate-exit 0\nagain\napkgate-exit 3\n": {"apkgate-exit 0\nagain\n", 3},
		"killed":              {"killed", 137},
		"apkgate-exit none\n": {"apkgate-exit none\n", 137},
	} {
		r := Running{exitInOutput: true, code: 137}
		_, _ = r.out.Write([]byte(out))
		if got, code := r.said(); string(got) != want.out || code != want.code {
			t.Errorf("%q: %q and %d, want %q and %d", out, got, code, want.out, want.code)
		}
	}
	r := Running{}
	_, _ = r.out.Write([]byte("apkgate-exit 7\n"))
	if _, code := r.said(); code != 0 {
		t.Errorf("a workload's own words are taken for its end: %d", code)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]config.Workload{
		"am start -W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -n com.example/.Main; sleep 1":               {Startup: &config.Startup{Mode: config.StartHot}},
		"am start -W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -f 0x10008000 -n com.example/.Main; sleep 1": {Startup: &config.Startup{Mode: config.StartWarm}},
		"CLASSPATH=$(pm path androidx.test.services) app_process / androidx.test.services.shellexecutor.ShellMain am instrument -w -r -e targetInstrumentation t/R -e class 'A#it'\\''s' androidx.test.orchestrator/.AndroidTestOrchestrator": {
			Instrumentation: &config.Instrumentation{TestPackage: "t", Runner: "R", Class: "A#it's", Orchestrator: true}},
		"am instrument -w -r -e additionalTestOutputDir /sdcard/Android/media/t/additional_test_output t/R": {
			Instrumentation: &config.Instrumentation{TestPackage: "t", Runner: "R", Macrobenchmark: true}},
		"monkey -p com.example -s 7 --throttle 50 --pct-syskeys 0 300": {Monkey: &config.Monkey{Seed: 7, Events: 300, Throttle: 50 * time.Millisecond}},
		"monkey -p com.example -s 0 --pct-syskeys 0 1":                 {Monkey: &config.Monkey{Events: 1}},
		"monkey -p com.example -s 0 --pct-syskeys 0 --pct-syskeys 5 '$(rm)' 1": {
			Monkey: &config.Monkey{Events: 1, Args: []string{"--pct-syskeys", "5", "$(rm)"}}},
		"sh /data/local/tmp/apkgate-workload.sh": {Shell: &config.Shell{Script: "/home/me/x y.sh"}},
		"am instrument -w -r -e a '1 2' -e b '$(rm)' t/R": {Instrumentation: &config.Instrumentation{
			TestPackage: "t", Runner: "R", Args: map[string]string{"b": "$(rm)", "a": "1 2"}}},
	} {
		if got := (Plan{Scenario: config.Scenario{Workload: w}, App: "com.example", activity: "com.example/.Main"}).command(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var kept tail
	for i := range 200_000 {
		_, _ = fmt.Fprintf(&kept, "line %d of the output\n", i)
	}
	got := string(kept.Bytes())
	if len(got) > 4*tailLimit || !strings.Contains(got, " bytes are left out)\n") || !strings.HasPrefix(got, "line 0 ") || !strings.HasSuffix(got, "line 199999 of the output\n") {
		t.Errorf("%d bytes, from %q to %q", len(got), got[:20], got[len(got)-40:])
	}
}

func FuzzInstrumentation(f *testing.F) {
	f.Add("INSTRUMENTATION_STATUS: stack=a: b\nINSTRUMENTATION_STATUS_CODE: -2\nINSTRUMENTATION_CODE: -1\n")
	f.Add("INSTRUMENTATION_RESULT: shortMsg=x\nINSTRUMENTATION_FAILED: a/b\n")
	f.Fuzz(func(t *testing.T, out string) {
		var in instrumentation
		_, _ = in.Write([]byte(out))
		in.end()
		if err := in.judge(0, nil); err == nil && (in.ran == 0 || !in.finished || in.failed > 0 || in.summary != "") {
			t.Errorf("taken for a success: %+v", in)
		}
		if err := judgeMonkey([]byte(out), nil, 1); err == nil {
			t.Error("exit status 1 is taken for a success")
		}
	})
}

// No output of a workload gives an impossible exit code.
func FuzzExitCode(f *testing.F) {
	f.Add("apkgate-exit 12\n")
	f.Fuzz(func(t *testing.T, text string) {
		w := Running{exitInOutput: true}
		_, _ = w.out.Write([]byte(text))
		if _, code := w.said(); code < 0 || code > 999 {
			t.Errorf("exit code %d", code)
		}
	})
}
