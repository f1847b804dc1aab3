package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

func rendered(t *testing.T, width int) string {
	t.Helper()
	var out bytes.Buffer
	table := NewTable(Console{Stdout: &out, Width: width}, "name", "what it is", "n")
	for _, row := range [][]any{{"a", "one two three four", 1}, {"com.example.mail.Feed.parse", "short", 22}} {
		if err := table.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Render(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// In a pipe each row is one line.
func TestTable(t *testing.T) {
	t.Parallel()
	const want = `name                         what it is          n
───────────────────────────  ──────────────────  ──
a                            one two three four  1
com.example.mail.Feed.parse  short               22
`
	if got := rendered(t, 0); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// On a terminal it is no wider than that, and loses nothing.
func TestTableOnATerminal(t *testing.T) {
	t.Parallel()
	const want = `name           what it is     n
─────────────  ─────────────  ──
a              one two three  1
               four
com.example.m  short          22
ail.Feed.pars
e
`
	if got := rendered(t, 32); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for width := 22; width < 60; width++ {
		for line := range strings.Lines(rendered(t, width)) {
			if n := twwidth.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, line)
			}
		}
	}
}
