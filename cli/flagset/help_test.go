package flagset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/flagset"
)

// help returns the help of a command with these flags.
func help(t *testing.T, flags ...string) string {
	t.Helper()
	root, cmd := &cobra.Command{Use: "apkgate"}, &cobra.Command{Use: "run", Long: "Runs.", Run: func(*cobra.Command, []string) {}}
	for _, name := range flags {
		cmd.Flags().String(name, "", "the "+name)
	}
	root.AddCommand(cmd)
	var out strings.Builder
	root.SetOut(&out)
	flagset.GroupHelp(root)
	root.SetArgs([]string{"run", "--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Many flags are listed in groups, each once; a few are not.
func TestGroupHelp(t *testing.T) {
	t.Parallel()
	flags := []string{"sarif", "apk", "preset", "fail-on", "config", "commit", "html", "markdown", "json", "scenario"}
	if got := help(t, flags...); !strings.Contains(got, "\nFlags:\n      --apk string ") || strings.Contains(got, "What is measured") {
		t.Errorf("few flags:\n%s", got)
	}
	for i := range 7 {
		flags = append(flags, fmt.Sprintf("own-%d", i))
	}
	got := help(t, flags...)
	order := []string{
		"Runs.", "Usage:", "What is measured:\n      --apk", "What is read:\n      --config", "Where the builds come from:\n      --commit", "How it is judged:\n      --fail-on",
		"What is written:\n      --html", "--sarif", "The published technique and its rules:\n      --preset", "Other flags:\n  -h, --help", "--own-6",
	}
	at := make([]int, len(order))
	for i, part := range order {
		if at[i] = strings.Index(got, part); at[i] < 0 {
			t.Errorf("nothing of %q in\n%s", part, got)
		}
	}
	if !slices.IsSorted(at) {
		t.Errorf("the parts are at %v in\n%s", at, got)
	}
	for i := range 20 {
		flags = append(flags, fmt.Sprintf("more-%d", i))
	}
	if got := help(t, flags...); !strings.Contains(got, "\nFlags:\n      --apk string ") {
		t.Errorf("flags of which most are in no group:\n%s", got)
	}
	for _, name := range flags[:17] {
		if n := strings.Count(got, "--"+name+" string"); n != 1 {
			t.Errorf("--%s is listed %d times", name, n)
		}
	}
}
