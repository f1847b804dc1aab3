package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// ran is what a command line left behind.
type ran struct {
	status         int
	stdout, stderr string
}

// cli runs a command line in this process.
func cli(t *testing.T, stdin io.Reader, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	c := Command{
		Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	return ran{status: c.Main(args), stdout: stdout.String(), stderr: stderr.String()}
}
