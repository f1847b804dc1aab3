package workload

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

// The text of an AssertionError of androidx.benchmark (ConfigurationError.kt).
func TestAdviceOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"EMULATOR": `measure on a real device; or measure anyway, at the cost of accuracy: args: {androidx.benchmark.suppressErrors: "EMULATOR"}`,
		"DEBUGGABLE LOW-BATTERY": "measure a build that is not debuggable; charge the device to 25 % or more; or measure anyway, at the cost of accuracy: " +
			`args: {androidx.benchmark.suppressErrors: "DEBUGGABLE,LOW-BATTERY"}`,
		"SOMETHING-NEW": `or measure anyway, at the cost of accuracy: args: {androidx.benchmark.suppressErrors: "SOMETHING-NEW"}`,
	} {
		err := judged("INSTRUMENTATION_STATUS: class=A\nINSTRUMENTATION_STATUS: test=b\nINSTRUMENTATION_STATUS: stack=java.lang.AssertionError: ERRORS (not suppressed): " + text +
			"\nWARNINGS (suppressed): \n\nINSTRUMENTATION_STATUS_CODE: -2\nINSTRUMENTATION_CODE: -1\n")
		e := loss.As(err)
		if e == nil || !e.Final || !errors.Is(err, loss.ErrTestFail) || e.Hint() != want {
			t.Errorf("%s: %v (%s), want (%s)", text, err, e.Hint(), want)
		}
	}
}

// A benchmark prints its measurements; another test doesn't.
func TestMeasures(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]bool{
		"INSTRUMENTATION_STATUS: android.studio.display.benchmark=Startup_cold\n  timeToInitialDisplayMs min 1\nINSTRUMENTATION_STATUS_CODE: 2\nINSTRUMENTATION_STATUS: class=A\nINSTRUMENTATION_STATUS_CODE: 0\n": true,
		"INSTRUMENTATION_STATUS: class=A\nINSTRUMENTATION_STATUS_CODE: 0\n":  false,
		"INSTRUMENTATION_RESULT: stream=android.studio.display.benchmark=\n": false,
	} {
		var r Running
		_, _ = r.Write([]byte(out))
		if r.Measures() != want {
			t.Errorf("%q: %v", out, r.Measures())
		}
	}
}

// The folder is the test's own media, unless another one is configured.
func TestOutputDir(t *testing.T) {
	t.Parallel()
	w := config.Instrumentation{TestPackage: "com.example.macro", Macrobenchmark: true, Args: map[string]string{"a": "b"}}
	p := Plan{Scenario: config.Scenario{Workload: config.Workload{Instrumentation: &w}}}
	if got := p.command(); !strings.Contains(got, "-e a b -e additionalTestOutputDir /sdcard/Android/media/com.example.macro/additional_test_output") || len(w.Args) != 1 {
		t.Errorf("%s, of %v", got, w.Args)
	}
	w.Args["additionalTestOutputDir"] = "/sdcard/mine"
	if got := p.command(); strings.Count(got, "additionalTestOutputDir") != 1 || !strings.Contains(got, "/sdcard/mine") || p.OutputDir() != "/sdcard/mine" {
		t.Errorf("%s", got)
	}
}

func TestLimited(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	l := &limited{to: &to, left: 10}
	if _, err := l.Write(make([]byte, 10)); err != nil || to.Len() != 10 {
		t.Errorf("%d bytes, %v", to.Len(), err)
	}
	if _, err := l.Write([]byte("x")); !errors.Is(err, ErrTooLarge) || to.Len() != 10 {
		t.Errorf("%d bytes, %v", to.Len(), err)
	}
}
