package tables_test

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// rowsOf are the rows of the tables of a made-up trace. Thread 11 has the id 301, after the idle
// one, the main threads of 299 processes and that of their parent.
var rowsOf = map[string]func(made tracetest.Rows, i int) string{
	"frames": func(made tracetest.Rows, i int) string {
		return fmt.Sprintf("android_actual_frame_timeline|%d|%d|10|%d|layer %d|%d|%d|None|0|On-time Present|Unspecified Prediction|0|No Jank|None",
			at(i), made.Lag*tracetest.RowsStep, i, i%7, i, i)
	},
	"logs": func(_ tracetest.Rows, i int) string {
		return fmt.Sprintf("%d|4|tag%d|line %d|11|10|301", at(i), i%3, i)
	},
	"block-io": func(made tracetest.Rows, i int) string {
		return fmt.Sprintf("%d|%d|block_rq_issue|45824|%d|8|4096|R|app|0|11|10|301",
			at(i)+tracetest.RowIssued, made.Lag*tracetest.RowsStep+tracetest.RowDone-tracetest.RowIssued, 8*i)
	},
	"binder": func(made tracetest.Rows, i int) string {
		return fmt.Sprintf("AIDL::java::IFoo::m%d::server|IFoo|m%d|%d|com.example.p10|10|thread11|11|%d|0|%d|com.example.p20|20|thread21|21|%d|0|0|0|%d|",
			i%5, i%5, sent(made, i), at(i)+tracetest.RowSent, taken(made, i), at(i+made.Lag)+tracetest.RowTaken, i/100%1000)
	},
	"args": func(made tracetest.Rows, i int) string {
		slice := sent(made, i/2) + 1
		if i/2 >= made.Lag {
			slice += 2 // what is taken, and what is called, come between
		}
		if i%2 == 0 {
			return fmt.Sprintf("%d|debug.n|debug.n|%d|||int", slice, -i/2)
		}
		return fmt.Sprintf("%d|debug.text|debug.text||text %d||string", slice, i/2)
	},
}

func at(step int) int { return tracetest.RowsBegin + step*tracetest.RowsStep }

// sent is the id of the slice that is sent in a step. Each of the first steps has two slices, the
// sent one and a track event; the others have two more, the received one and the call.
func sent(made tracetest.Rows, i int) int { return 2*i + 2*max(i-made.Lag, 0) }

// taken is the id of the slice that receives what was sent in step i: it follows the one sent in
// its own step, as long as there is one.
func taken(made tracetest.Rows, i int) int {
	step := i + made.Lag
	if step < made.Number {
		return sent(made, step) + 1
	}
	return sent(made, made.Number) + 2*(step-made.Number)
}

// TestTablesSpill has 60 times as many rows as are held in memory, half of them ending when
// they are no longer there. With APKGATE_FULL it is 1,200,000 rows and as many as usual in memory;
// package tracetest measures that.
func TestTablesSpill(t *testing.T) {
	t.Parallel()
	made, read := tracetest.Rows{Number: 3_000, Lag: 200}, func(in *bytes.Reader, name string) (*tables.Table, error) {
		return tables.ReadHolding(in, name, 50)
	}
	if os.Getenv("APKGATE_FULL") != "" {
		made, read = tracetest.Rows{Number: 1_200_000, Lag: 20_000}, func(in *bytes.Reader, name string) (*tables.Table, error) { return tables.Read(in, name) }
	}
	var trace bytes.Buffer
	if err := made.Write(&trace); err != nil {
		t.Fatal(err)
	}
	for name, row := range rowsOf {
		t.Run(name, func(t *testing.T) {
			table, err := read(bytes.NewReader(trace.Bytes()), name)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for cells := range table.Rows {
				if want, got := row(made, n), joined(cells); got != want {
					t.Fatalf("row %d is %q, want %q", n, got, want)
				}
				n++
			}
			want := made.Number
			if name == "args" {
				want *= 2
			}
			if n != want || len(table.Warnings) > 0 {
				t.Errorf("%d rows, want %d; %v", n, want, table.Warnings)
			}
			if err := table.Err(); err != nil {
				t.Error(err)
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// joined returns a row's cells separated by "|".
func joined(row []any) string {
	cells := make([]string, len(row))
	for i, cell := range row {
		if cell != nil {
			cells[i] = fmt.Sprint(cell)
		}
	}
	return strings.Join(cells, "|")
}

// TestTablesAreTheSameFromFiles reads real traces with 100 rows of each list in memory and all
// others in files: the tables equal those read in memory, which other tests compare with
// trace_processor's.
func TestTablesAreTheSameFromFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		corpustest.Path(t, "perfetto", "api32_startup_warm.perfetto-trace"), corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace"),
	} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tables.Names() {
			whole, err := tables.Read(bytes.NewReader(raw), name)
			if err != nil {
				t.Fatal(err)
			}
			parted, err := tables.ReadHolding(bytes.NewReader(raw), name, 100)
			if err != nil {
				t.Fatal(err)
			}
			next, stop := iter.Pull(parted.Rows)
			n := 0
			for row := range whole.Rows {
				if got, _ := next(); !slices.Equal(row, got) {
					t.Fatalf("%s: row %d is %v, want %v", name, n, got, row)
				}
				n++
			}
			if more, any := next(); any {
				t.Errorf("%s: too many: %v", name, more)
			}
			stop()
			if fmt.Sprint(whole.Warnings) != fmt.Sprint(parted.Warnings) {
				t.Errorf("%s: %v, want %v", name, parted.Warnings, whole.Warnings)
			}
			if err := parted.Err(); err != nil {
				t.Error(err)
			}
			_ = parted.Close()
		}
	}
}

// TestRepeatedExpectedFrame repeats the expectation of a token: at once, and after 30 other
// tokens, with fewer remembered.
func TestRepeatedExpectedFrame(t *testing.T) {
	t.Parallel()
	expected := func(ns, token int64) message {
		return frame(ns, 3, message(nil).num(1, ns).num(2, token).num(3, token).num(4, 100))
	}
	trace := file(expected(10, 1), expected(11, 1))
	for i := range int64(30) {
		trace = append(trace, file(expected(100+i, 100+i))...)
	}
	trace = append(trace, file(expected(900, 1))...)
	for keep, want := range map[int]int{10: 32, 1000: 31} {
		table, err := tables.ReadHolding(bytes.NewReader(trace), "frames", keep)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range table.Rows {
			n++
		}
		if said := fmt.Sprint(table.Warnings); n != want || strings.Contains(said, "of 1 frame comes long after") != (want == 32) {
			t.Errorf("%d are held: %d rows, want %d; %s", keep, n, want, said)
		}
		_ = table.Close()
	}
}

// TestSlicesThatOnlyLookLikeBinder has track events with the names of a transaction and its reply
// and a flow between them, on tracks of no thread.
func TestSlicesThatOnlyLookLikeBinder(t *testing.T) {
	t.Parallel()
	on := func(ns, track int64, name string) message {
		return trackEvent(ns, 3, message(nil).num(11, track).text(23, name).flowing(47, 9))
	}
	check(t, file(message(nil).num(10, 1).num(13, 1), on(10, 70, "binder transaction async"), on(20, 71, "binder async rcv")), "binder")
}
