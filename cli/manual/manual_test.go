package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// The page has what --help says, and no line of it is taken for a request of roff.
func TestManual(t *testing.T) {
	t.Parallel()
	got := clitest.Run(t, nil, "man", "check")
	for _, want := range []string{
		".TH \"APKGATE-CHECK\" 1 ", ".SH NAME\napkgate\\-check \\- Check measured runs", ".B apkgate check\nFILE…", ".B \\-\\-fail\\-on string\n",
		".SH EXAMPLES\n.nf\n  apkgate check run.json\n", ".BR apkgate (1)",
	} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in\n%s", want, got.Stdout)
		}
	}
	for line := range strings.Lines(got.Stdout) {
		if request, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !strings.Contains(".TH .SH .B .BR .TP .PP .nf .fi", request) {
			t.Errorf("a request: %s", line)
		}
	}
	clitest.Refuses(t, clitest.Run(t, nil, "man", "chek"), `apkgate has no command "chek"`)
}

// All commands have a page, which a formatter reads without a complaint.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := clitest.Run(t, nil, "man", "--dir", dir); got.Status != 0 {
		t.Fatal(got.Stderr)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "apkgate*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "apkgate-baseline-list.1")); err != nil {
		t.Error(err)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff here")
	}
	out, err := exec.Command(groff, append([]string{"-man", "-Tutf8", "-k", "-ww", "-z"}, pages...)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "warning: macro") {
		t.Errorf("%v: %.2000s", err, out)
	}
}
