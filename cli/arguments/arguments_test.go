package arguments

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/usecase/exit"
)

// The error for a missing --run contains the intended command line, safe to paste.
func TestNoneSuggestsTheRunFlag(t *testing.T) {
	cmd := &cobra.Command{Use: "check"}
	cmd.Flags().String("run", "", "")
	for file, want := range map[string]string{
		"runs.jsonl":    "files of runs are named with --run: check --run runs.jsonl",
		"my runs.jsonl": "files of runs are named with --run: check --run 'my runs.jsonl'",
	} {
		if got := exit.HintOf(None(cmd, []string{file})); got != want {
			t.Errorf("the hint is %q, want %q", got, want)
		}
	}
}
