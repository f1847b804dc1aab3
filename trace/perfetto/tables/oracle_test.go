package tables_test

import (
	"io"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// TestTablesAgreeWithTheOracle compares every table of real traces, and of a made-up one with an app
// that scrolls, with Perfetto's own engine.
func TestTablesAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(t *testing.T) string{
		"a start":   func(t *testing.T) string { return corpustest.Path(t, "perfetto", "api32_startup_warm.perfetto-trace") },
		"frames":    func(t *testing.T) string { return corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace") },
		"scrolling": func(t *testing.T) string { return tracetest.File(t, 500_000, scrolling) },
	} {
		t.Run(name, func(t *testing.T) { tablestest.Same(t, path(t), nil) })
	}
}

func scrolling(w io.Writer, size int64) error { return tracetest.Scrolling(120)(w, size) }
