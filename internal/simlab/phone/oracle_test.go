package phone

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
)

// TestPerfettoReadsTracesAsApkgateDoes has what a phone recorded of an app that waits for the
// disk, read by Perfetto's own engine: it takes the trace, and every table is the same.
func TestPerfettoReadsTracesAsApkgateDoes(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", still+"blocks disk 24ms after tap every 5 in measure\n")
	pid := strings.TrimSpace(output(t, p, "echo '"+causesConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	start(p, instrument)
	pass(t, p, 2*time.Second)
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	path := filepath.Join(t.TempDir(), "kernel.pftrace")
	if err := os.WriteFile(path, []byte(output(t, p, "cat "+kernelTrace)), 0o600); err != nil {
		t.Fatal(err)
	}
	tablestest.Same(t, path, nil)
}
