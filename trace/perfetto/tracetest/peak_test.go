package tracetest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// readers are the measured readers: power alone, slices, an app's frames, all tables in turn, and
// five tables of a trace that has millions of rows of each of them.
var readers = map[string][]string{
	"power": {"power"}, "slices": {"slices"}, "rendering": {"rendering"}, "all": append([]string{"power"}, tables.Names()...),
	"frames": {"frames"}, "logs": {"logs"}, "args": {"args"}, "binder": {"binder"}, "block-io": {"block-io"},
}

// TestMain reads a trace and prints the cost, if the test below requests it in a process of its
// own.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "read" {
		if err := read(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// read reads a trace with a reader, and prints the MiB used.
func read(what, path string) error {
	for _, one := range readers[what] {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		switch one {
		case "power":
			_, err = powerdata.Read(f)
		case "rendering":
			err = drawn(f)
		default:
			err = table(f, one)
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		runtime.GC() // garbage of one reader must not count for the next
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, err := fmt.Println(m.Sys >> 20)
	return err
}

// table iterates over the rows of a table.
func table(f *os.File, name string) error {
	read, err := tables.Read(f, name)
	if err != nil {
		return err
	}
	for range read.Rows { // the rows must be iterated over
	}
	for _, w := range read.Warnings {
		if strings.Contains(w.Text, "than are kept") {
			return errors.New(w.Text)
		}
	}
	return errors.Join(read.Err(), read.Close())
}

// drawn reads the frames of the app that scrolls, each of which has a path.
func drawn(f *os.File) error {
	trace, err := rendering.Read(packets.Packets(f), rendering.App{Package: tracetest.App})
	if err != nil {
		return err
	}
	for i := range trace.Frames {
		if one := &trace.Frames[i]; one.Took != 8*time.Millisecond || len(one.Path) < 5 {
			return fmt.Errorf("frame %d took %v, in %d steps", one.Token, one.Took, len(one.Path))
		}
	}
	if len(trace.Frames) < 60 {
		return fmt.Errorf("%d frames", len(trace.Frames))
	}
	return nil
}

// TestMemoryIsBounded reads made-up traces, each reader in a process of its own, and reports its
// speed by CPU time, which other work on the machine hardly affects. Memory is what Go obtained
// from the system: a trace of 1 GB must be read in 256 MiB. All of its tables take minutes and 1 GB
// of disk (APKGATE_FULL=1).
func TestMemoryIsBounded(t *testing.T) {
	sizes, most := []int64{48_000_000}, map[string]uint64{"power": 112, "slices": 192, "rendering": 128} // MiB
	if os.Getenv("APKGATE_FULL") != "" {
		sizes = []int64{200_000_000, 1_000_000_000}
		for what := range readers {
			if what != "power" {
				most[what] = 256
			}
		}
	}
	for _, size := range sizes {
		busy, scrolling := tracetest.File(t, size, tracetest.Busy), tracetest.File(t, size, tracetest.Scrolling(120))
		rows := ""
		for what, bound := range most {
			path := busy
			switch what {
			case "power", "slices", "all":
			case "rendering":
				path = scrolling
			default:
				if rows == "" {
					rows = tracetest.File(t, size, tracetest.RowsOf)
				}
				path = rows
			}
			mib, took := measured(t, what, path)
			each := took / time.Duration(len(readers[what]))
			t.Logf("%d MB, %s: %.0f MB/s, %d MiB", size/1_000_000, what, float64(size)/1e6/each.Seconds(), mib)
			if mib > bound {
				t.Errorf("%d MB, %s: Go had %d MiB of the system, at most %d are meant", size/1_000_000, what, mib, bound)
			}
		}
	}
}

// measured reads a trace in a process of its own, and returns the MiB and the CPU time.
func measured(t *testing.T, what, path string) (mib uint64, took time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "read", what, path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscan(strings.TrimSpace(string(out)), &mib); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return mib, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
