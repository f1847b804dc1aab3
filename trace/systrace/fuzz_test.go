package systrace_test

import (
	"bytes"
	"testing"

	"github.com/apkgate/apkgate/trace/systrace"
)

// FuzzTable tests that no text makes a reader panic or return a row that does not fit its columns.
func FuzzTable(f *testing.F) {
	f.Add([]byte(head + sleeper))
	f.Add([]byte(html(head + sleeper)))
	f.Add([]byte("TRACE:\n\x78\x9c"))
	f.Add([]byte("TRACE:\r\n\x78\x9c\r\n"))
	f.Add([]byte("a-7 [000] .... 1.0: rss_stat: size=-1 member=99 curr=0 mm_id=x\nproc/1/task/2\n"))
	f.Add([]byte("<...>-1 (-----) [001] ...1 1.0: tracing_mark_write: F|1|a|b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range systrace.Tables {
			read, err := systrace.Table(bytes.NewReader(text), name)
			if err != nil {
				t.Fatal(err)
			}
			for row := range read.Rows {
				if len(row) != len(read.Columns) {
					t.Fatalf("%s: %d cells for %d columns", name, len(row), len(read.Columns))
				}
			}
		}
		if _, err := systrace.Inspect(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	})
}
