package farms

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device/farm"
)

// Names as androidx.benchmark gives them (Macrobenchmark.kt), also of tests with parameters.
func TestTraceOf(t *testing.T) {
	for name, want := range map[string]struct {
		class, test string
		iteration   int
	}{
		"gs://b/dir/artifacts/sdcard/Download/ListBenchmark_scroll_iter003_2026-11-27-10-15-00.perfetto-trace": {"ListBenchmark", "scroll", 3},
		"StartBenchmark_start_startup_COLD_iter010_2026.perfetto-trace":                                        {"StartBenchmark", "start_startup_COLD", 10},
		"trace.perfetto-trace": {"", "", -1},
		"_iter1_":              {"", "", -1},
	} {
		if class, test, n := traceOf(name); class != want.class || test != want.test || n != want.iteration {
			t.Errorf("%s is of %q, %q, %d; want %+v", name, class, test, n, want)
		}
	}
	all := []farm.Trace{{Name: "A_x_iter000_"}, {Name: "A_x_iter001_"}, {Name: "B_x_iter000_"}, {Name: "A_y_iter000_"}}
	if got := firsts(all); len(got) != 3 {
		t.Errorf("the first of each test are %+v, want three", got)
	}
	for scenario, want := range map[string]int{"start": 4, "start/com.example.A": 3, "start/com.example.C": 0} {
		if got := ofClass(all, scenario); len(got) != want {
			t.Errorf("of %s there are %d traces, want %d", scenario, len(got), want)
		}
	}
}

// Traces that are too large, by the farm's size or by their own, and those beyond the command's
// limit are not used.
func TestFetchLimits(t *testing.T) {
	s := &site{}
	writes := func(text string) func(context.Context, io.Writer) error {
		return func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	used := 0
	use := func(*os.File) error { used++; return nil }
	if err := s.fetch(t.Context(), farm.Trace{Bytes: farm.MostTrace + 1, Fetch: writes("x")}, use); err == nil || !strings.Contains(err.Error(), "more than 128 MiB") {
		t.Errorf("one that is too large: %v", err)
	}
	if err := s.fetch(t.Context(), farm.Trace{Bytes: -1, Fetch: writes("four")}, use); err != nil || used != 1 || s.fetched != 4 {
		t.Errorf("one of four bytes: %v, %d of them used, %d bytes", err, used, s.fetched)
	}
	s.fetched = mostFetched - 4
	if err := s.fetch(t.Context(), farm.Trace{Bytes: 5, Fetch: writes("fives")}, use); err == nil || !strings.Contains(err.Error(), "a command fetches at most 2048 MiB of traces") || used != 1 {
		t.Errorf("one beyond what is left: %v", err)
	}
}
