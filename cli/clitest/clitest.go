// Package clitest drives apkgate in tests as a user does: by a command line, in this process or in
// its own, on simulated phones and on files that it writes.
//
// It is only for tests of the packages of cli.
package clitest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Result is the result of a command line.
type Result struct {
	Status         int
	Stdout, Stderr string
	// Unchecked are the notes on files of runs without checksums, as tests write them: they are
	// left out of Stderr.
	Unchecked []string
}

// resultOf returns a command's output, with its notes apart.
func resultOf(status int, stdout, stderr string) Result {
	r := Result{Status: status, Stdout: stdout}
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "note: ") && strings.Contains(line, " no checksum, so that ") {
			r.Unchecked = append(r.Unchecked, strings.TrimSuffix(line, "\n"))
		} else {
			r.Stderr += line
		}
	}
	return r
}

// Run runs a command line in this process.
func Run(t *testing.T, stdin io.Reader, args ...string) Result {
	t.Helper()
	return runIn(t, stdin, nil, args...)
}

// InSession runs a command line as in that session of the simulated phones, each of which is on
// another day.
func InSession(t *testing.T, session int, args ...string) Result {
	t.Helper()
	return runIn(t, nil, map[string]string{simulated.Session: strconv.Itoa(session)}, args...)
}

// WithFaults runs a command line with these faults of simulated stations.
func WithFaults(t *testing.T, faults string, args ...string) Result {
	t.Helper()
	return runIn(t, nil, map[string]string{simulated.Faults: faults}, args...)
}

// session returns the session of the simulated phones in an environment, 0 for none.
func session(env map[string]string) int {
	n, _ := strconv.Atoi(env[simulated.Session])
	return n
}

func runIn(t *testing.T, stdin io.Reader, env map[string]string, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	c := terminal.Console{
		Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] },
		Now: func() time.Time { return time.Date(2026, 1, 2+session(env), 3, 4, 5, 0, time.UTC) },
	}
	status := cli.Main(c, args)
	return resultOf(status, stdout.String(), stderr.String())
}

// Refuses asserts status 2, an empty standard output, and one line on the standard error that
// contains the wanted words.
func Refuses(t *testing.T, got Result, want ...string) {
	t.Helper()
	if got.Status != exit.StatusUsage || got.Stdout != "" {
		t.Errorf("exit status %d, want %d; stdout %.200q, want none", got.Status, exit.StatusUsage, got.Stdout)
	}
	if err := OneClearLine(got.Stderr); err != nil {
		t.Error(err)
	}
	for _, w := range want {
		if !strings.Contains(got.Stderr, w) {
			t.Errorf("stderr %q\nsays nothing of %q", got.Stderr, w)
		}
	}
}

// OneClearLine returns what is wrong with the form of an error message.
func OneClearLine(stderr string) error {
	message, ended := strings.CutSuffix(stderr, "\n")
	lines := strings.Split(message, "\n")
	switch {
	case !ended || !strings.HasPrefix(lines[0], "error: "):
		return fmt.Errorf("stderr %q: want a line that begins with \"error:\"", stderr)
	case len(lines) > 2, len(lines) == 2 && !strings.HasPrefix(lines[1], "hint: "):
		return fmt.Errorf("stderr %q: want one line and at most one with a hint", stderr)
	case strings.Contains(lines[0], "failed"+" to"), strings.Contains(lines[0], "panic"):
		return fmt.Errorf("stderr %q: want what was being done, on what, and what is allowed", stderr)
	case len(lines[0]) > 600:
		return fmt.Errorf("stderr has a line of %d bytes: nobody reads that", len(lines[0]))
	}
	for _, r := range message {
		if r != '\n' && !strconv.IsPrint(r) {
			return fmt.Errorf("stderr %q: %q is not to be seen", stderr, r)
		}
	}
	return nil
}

// Fails asserts an exit status and one line on the standard error that contains the wanted words;
// other output is tested elsewhere.
func Fails(t *testing.T, got Result, status int, want ...string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("exit status %d, want %d", got.Status, status)
	}
	if err := OneClearLine(got.Stderr); err != nil {
		t.Error(err)
	}
	for _, w := range want {
		if !strings.Contains(got.Stderr, w) {
			t.Errorf("stderr %q\nsays nothing of %q", got.Stderr, w)
		}
	}
}

// Complaint returns the error of a command that printed a report, and its hint.
func Complaint(t *testing.T, got Result) (message, hint string) {
	t.Helper()
	for line := range strings.Lines(got.Stderr) {
		switch {
		case strings.HasPrefix(line, "error: ") && message != "":
			t.Errorf("more than one error:\n%s", got.Stderr)
		case strings.HasPrefix(line, "error: "):
			message = line
		case strings.HasPrefix(line, "hint: "):
			hint = line
		}
	}
	if message != "" {
		if err := OneClearLine(message + hint); err != nil {
			t.Error(err)
		}
	}
	return message, hint
}

// RunAtNight runs a command line so many days later.
func RunAtNight(t *testing.T, n int, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).AddDate(0, 0, n) },
	}
	status := cli.Main(c, args)
	return resultOf(status, stdout.String(), stderr.String())
}
