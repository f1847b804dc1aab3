package demo_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/cli/clitest"
	"github.com/apkgate/apkgate/internal/cli/exit"
)

// The demo ends in a verdict: its phones are new to the history, so that the worse build
// is measured in turns with the good one, and fails. Recorded rounds name the method.
func TestTheDemoFindsTheWorseBuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures 45 runs and rounds of both builds")
	}
	keep := filepath.Join(t.TempDir(), "demo")
	got := clitest.Run(t, nil, "demo", "--keep", keep)
	for _, want := range []string{"measured in turns with 1.4.0", "Regression: in read-mail, ", "MessageView.decodeImages: ", "of the slowdown", "All 3 runs with sdk = 16", "Regression: energy after open-message"} {
		if got.Status != exit.StatusPass || !strings.Contains(got.Stdout, want) {
			t.Errorf("exit status %d, %q is not in\n%s%s", got.Status, want, got.Stdout, got.Stderr)
		}
	}
	for _, page := range []string{"report.html", "energy.html"} {
		if !strings.Contains(clitest.ReadFile(t, filepath.Join(keep, page)), "<svg") {
			t.Errorf("%s has no picture", page)
		}
	}
}
