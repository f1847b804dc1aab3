package setup

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func checked(t *testing.T, text string, files bool, format output.Format) (stdout string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	// No environment and no adb: a console that is asked for either would panic.
	err = checkConfig(terminal.Console{Stdout: &out}, path, files, format)
	return strings.ReplaceAll(out.String(), path, "a.yml"), err
}

const someConfig = `app: {package: com.example.mail, apk: missing.apk}
scenarios:
  - {name: open, workload: {startup: {}}}
  - {name: scroll, workload: {monkey: {events: 9}}}
devices: [{serial: X1}]
`

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	got, err := checked(t, someConfig, false, output.FormatText)
	if want := "a.yml is valid: app com.example.mail, 2 scenarios (open, scroll), 1 device\n"; got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	got, err = checked(t, "app: {package: com.example.mail}\n", false, output.FormatText)
	if want := "a.yml is valid: app com.example.mail, no scenario, so that it can judge runs and measure none\n"; got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err = checked(t, someConfig, true, output.FormatText); err == nil || !strings.Contains(err.Error(), "missing.apk") {
		t.Errorf("a missing APK: %v", err)
	}
	if _, err = checked(t, someConfig, false, "yaml"); err == nil || !strings.Contains(err.Error(), "want one of text, json") {
		t.Errorf("format yaml: %v", err)
	}
}

func TestConfigCheckAsJSON(t *testing.T) {
	t.Parallel()
	type result struct {
		Format   string
		Valid    bool
		Problems []problem
	}
	read := func(text string) (out result) {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	text, err := checked(t, someConfig, false, output.FormatJSON)
	if got := read(text); err != nil || got.Format != "apkgate.config-check/1" || !got.Valid || got.Problems == nil || len(got.Problems) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	text, err = checked(t, "app: {package: com.example.mail}\nscenarios:\n  - {name: a, workload: {monkey: {events: 9}}, repetitions: 0}\ngate: {min-change: 5}\n", false, output.FormatJSON)
	got := read(text)
	if got.Valid || len(got.Problems) != 2 || exit.Finish(io.Discard, err) != exit.StatusUsage {
		t.Fatalf("%+v, %v", got, err)
	}
	// `  - {name: a, workload: {monkey: {events: 9}}, repetitions: 0}`: the 0 is the 61st character.
	if p := got.Problems[0]; p.Line != 3 || p.Column != 61 || p.Path != "scenarios[0].repetitions" || p.Text != "want a whole number from 1 to 1000, got 0" {
		t.Errorf("%+v", p)
	}
	if p := got.Problems[1]; p.Line != 4 || p.Hint != "write 5%" {
		t.Errorf("%+v", p)
	}
}
