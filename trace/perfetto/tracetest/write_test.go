package tracetest_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// TestWriteTrace writes a trace of an app that scrolls, for other programs: APKGATE_TRACE is the
// file, APKGATE_TRACE_MB its size, and APKGATE_TRACE_HZ how many frames the app draws in a second
// (scripts/compare-trace-processor); without that it has rows of each kind, as written by RowsOf.
func TestWriteTrace(t *testing.T) {
	t.Parallel()
	path := os.Getenv("APKGATE_TRACE")
	if path == "" {
		t.Skip("APKGATE_TRACE names no file to write")
	}
	mb, err := strconv.Atoi(os.Getenv("APKGATE_TRACE_MB"))
	if err != nil {
		t.Fatalf("APKGATE_TRACE_MB: %v", err)
	}
	write := tracetest.RowsOf
	if rate := os.Getenv("APKGATE_TRACE_HZ"); rate != "" {
		hz, err := strconv.Atoi(rate)
		if err != nil {
			t.Fatalf("APKGATE_TRACE_HZ: %v", err)
		}
		write = tracetest.Scrolling(hz)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f, int64(mb)*1_000_000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
