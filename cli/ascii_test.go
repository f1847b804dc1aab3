package cli_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Where the locale has no UTF-8, text is ASCII, and JSON is what it is anywhere.
func TestASCII(t *testing.T) {
	t.Parallel()
	checked := func(locale, format string) string {
		var stdout, stderr bytes.Buffer
		status := cli.Main(terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
			Getenv: func(name string) string { return map[string]string{"LC_ALL": locale}[name] },
		}, []string{"check", "--history", "../testdata/history.jsonl", "../testdata/bad.json", "--format", format})
		if status != exit.StatusRegression {
			t.Fatalf("exit status %d: %s", status, &stderr)
		}
		if at := strings.IndexFunc(stderr.String(), notASCII); locale == "C" && at >= 0 {
			t.Errorf("stderr %s", stderr.String()[at:])
		}
		return stdout.String()
	}
	text := checked("C", "text")
	if at := strings.IndexFunc(text, notASCII); at >= 0 {
		t.Errorf("%.40q", text[at:])
	}
	if strings.IndexFunc(checked("C.UTF-8", "text"), notASCII) < 0 {
		t.Error("the report has no other character anyway: the test shows nothing")
	}
	if a, b := checked("C", "json"), checked("C.UTF-8", "json"); a != b {
		t.Error("JSON depends on the locale")
	}
}

func notASCII(r rune) bool { return r > 0x7e }
