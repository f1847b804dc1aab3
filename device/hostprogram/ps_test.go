//go:build unix

package hostprogram

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// Lines of ps as macOS prints them, and lines that are skipped.
func TestParsePS(t *testing.T) {
	t.Parallel()
	found := parsePS("  501 S+   Sun Nov 22 09:05:01 2026     /sdk/qemu-system-x86_64 -avd apkgate-a\n" +
		"77 Z Sun Nov 22 09:05:01 2026 (emulator)\n" +
		"78 S Sun Nov 22 09:05:01 2026\nPID STAT STARTED COMMAND\nx S Sun Nov 22 09:05:01 2026 emulator\n")
	if len(found) != 1 || found[0].ID != (ID{501, "Sun Nov 22 09:05:01 2026"}) || !slices.Equal(found[0].Args, []string{"/sdk/qemu-system-x86_64", "-avd", "apkgate-a"}) {
		t.Errorf("%v", found)
	}
}

// The ps of this computer prints what is parsed.
func TestPSOfThisComputer(t *testing.T) {
	t.Parallel()
	ps, err := exec.LookPath("ps")
	if err != nil {
		t.Skip("there is no ps here")
	}
	out, err := exec.Command(ps, "-x", "-o", "pid=,stat=,lstart=,args=", "-ww").Output()
	if err != nil {
		t.Skipf("its ps has other options: %v", err)
	}
	if !slices.ContainsFunc(parsePS(string(out)), func(f Found) bool { return f.PID == os.Getpid() && f.Args[0] == os.Args[0] }) {
		t.Errorf("it does not list this process, %d: %s", os.Getpid(), out)
	}
}

func FuzzParsePS(f *testing.F) {
	f.Add("501 S+ Sun Nov 22 09:05:01 2026 emulator -avd a\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parsePS(text) {
			if p.Began == "" || len(p.Args) == 0 {
				t.Errorf("%v of %q", p, text)
			}
		}
	})
}
