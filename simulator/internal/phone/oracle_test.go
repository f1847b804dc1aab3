package phone

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
)

// TestPerfettoReadsTracesAsApkgateDoes compares with Perfetto's own engine: it accepts a
// phone's recording of an app that waits for the disk, and every table is the same.
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

// TestShownFramesEqualTheOracles compares the buffers of an app that draws by itself with
// Perfetto's own engine, for a trace with everything that real ones omit, write twice or
// report late: every table is the same, and for each buffer of the app both report when it was
// queued, drawn, latched and shown. (With a frame timeline the engine of v58 ends a slice of
// the trace's first track at the first shown buffer of each layer.)
func TestShownFramesEqualTheOracles(t *testing.T) {
	const config = `buffers { size_kb: 8192 } data_sources { config { name: "android.surfaceflinger.frame" } }`
	const profile = "pixel-5-android-11"
	p := newPhone(t, profile, still+"surface\nblocks lock Writer 40ms after tap every 5\n")
	pid := strings.TrimSpace(output(t, p, "echo '"+config+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	start(p, instrument)
	pass(t, p, 4*time.Second)
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	path := filepath.Join(t.TempDir(), "buffers.pftrace")
	raw := []byte(output(t, p, "cat "+kernelTrace))
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	tablestest.Same(t, path, nil)
	trace, err := shown.Read(bytes.NewReader(raw), func(layer string) bool { return shown.Of(layer, "com.example.still") })
	if err != nil || trace.Lost > 0 {
		t.Fatalf("%v; %d lost", err, trace.Lost)
	}
	got := map[string]time.Duration{}
	for _, l := range trace.Layers {
		for _, b := range l.Buffers {
			for kind, at := range map[string]time.Duration{"Queue": b.Queued, "AcquireFenceSignaled": b.Drawn, "Latch": b.Taken, "PresentFenceSignaled": b.Shown} {
				if at != shown.None && !(kind == "PresentFenceSignaled" && b.Guessed) {
					got[fmt.Sprint(l.Name, " ", b.Number, " ", kind)] = at
				}
			}
		}
	}
	want, firsts := map[string]time.Duration{}, tablestest.Query(t, path, `SELECT layer_name, frame_number, name, min(ts) AS ts FROM frame_slice
		WHERE layer_name GLOB '*com.example.still/*' AND name IN ('Queue', 'AcquireFenceSignaled', 'Latch', 'PresentFenceSignaled') GROUP BY 1, 2, 3`)
	for _, row := range firsts {
		ns, _ := strconv.ParseInt(row["ts"], 10, 64)
		want[row["layer_name"]+" "+row["frame_number"]+" "+row["name"]] = time.Duration(ns) - clock.Slept
	}
	if len(want) < 200 || !maps.Equal(got, want) {
		t.Errorf("%s: %d times, and %d of trace_processor", profile, len(got), len(want))
		for key, at := range want {
			if got[key] != at {
				t.Fatalf("%s: %v, want %v", key, got[key], at)
			}
		}
	}
}
