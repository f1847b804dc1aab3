package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// The README's commands with the example in testdata work as written, with the verdict in their
// comments.
func TestReadmeExample(t *testing.T) {
	t.Chdir("..") // where a newcomer types it
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    apkgate (check .*testdata/.*?) +# (pass|regression), status ([01])$`).FindAllStringSubmatch(string(text), -1)
	if len(commands) != 2 {
		t.Fatalf("the README has %d commands with the example, want 2", len(commands))
	}
	for _, c := range commands {
		got := clitest.RunAtNight(t, 0, strings.Fields(c[1])...)
		said := strings.ToLower(strings.SplitN(got.Stdout, ":", 2)[0])
		if status := map[string]int{"0": exit.StatusPass, "1": exit.StatusRegression}[c[3]]; got.Status != status || said != c[2] || got.Stderr != "" {
			t.Errorf("apkgate %s\nstatus %d: %s\n%s\nwant %s, status %d", c[1], got.Status, said, got.Stderr, c[2], status)
		}
		if !strings.Contains(got.Stdout, "The devices are simulated.") {
			t.Errorf("apkgate %s does not say that its phones are simulated", c[1])
		}
	}
}
