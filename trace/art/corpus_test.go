package art_test

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/art"
)

// Perfetto's trace_processor has these totals of slices: their count, their names, the longest.
func TestReadRealTraces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file           string
		format         art.Format
		calls, methods int
		longest        time.Duration
		open, unnamed  int // events less two for each call that ended; methods that no line of the file has
	}{
		{"firefox_art-trace-regular.trace.gz", art.Text, 6777, 2049, 4424534 * time.Microsecond, 2*6777 - 13295, 18},
		{"firefox_art-trace-streaming.trace.gz", art.Streaming, 19885, 3954, 4958605 * time.Microsecond, 2*19885 - 39377, 9},
		{"yamp_legacy.trace", art.Text, 8251, 287, 3049876 * time.Microsecond, 2*8251 - 16472, 0},
	} {
		calls := art.Calls{}
		entered, longest, open := 0, time.Duration(0), 0
		used := map[int]bool{}
		calls.Each = func(call art.Call) {
			if call.Open {
				open++
			} else {
				longest = max(longest, call.Took)
			}
		}
		got, err := art.Read(corpusFile(t, c.file), func(e art.Event) {
			if e.Action == art.Enter {
				entered++
				used[e.Method] = true
			}
			calls.Add(e)
		})
		calls.Finish()
		if err != nil || len(got.Warnings) > 1 || got.Format != c.format || got.Clock != art.Dual {
			t.Errorf("%s: %v, %s, %s, %v", c.file, got.Warnings, got.Format, got.Clock, err)
		}
		names := map[string]bool{}
		for place := range used {
			m := got.Methods[place]
			if m.Class == "" {
				continue
			}
			names[m.Class+"."+m.Name+": "+m.Signature] = true
		}
		unnamed := 0
		for _, m := range got.Methods {
			if m.Class == "" {
				unnamed++
			}
		}
		if open != c.open || calls.Early != 0 || unnamed != c.unnamed || unnamed > 0 != (len(got.Warnings) == 1) {
			t.Errorf("%s: %d calls without an end, %d without a begin, %d methods without a name, %v", c.file, open, calls.Early, unnamed, got.Warnings)
		}
		if entered != c.calls || len(names) != c.methods || longest != c.longest {
			t.Errorf("%s: %d calls of %d methods, the longest %v, want %d, %d and %v", c.file, entered, len(names), longest, c.calls, c.methods, c.longest)
		}
	}
}

func corpusFile(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(corpustest.Path(t, "arttrace", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
