package markdown

import "testing"

// A command can be copied from a comment as it is, and ends no code span.
func TestCode(t *testing.T) {
	for text, want := range map[string]string{
		"apkgate run --store 'origin#history' @x": "`apkgate run --store 'origin#history' @x`",
		"a`b": "a\\`b",
	} {
		if got := code(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}
