package systrace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zlib"

	"github.com/apkgate/apkgate/trace/systrace"
)

// head is the header that the kernel prints before a trace.
const head = "# tracer: nop\n#\n#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"

// sleeper is a thread that sleeps for I/O, is woken, and runs on a CPU again.
const sleeper = `          <idle>-0     (-----) [000] d..2    10.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=RenderThread next_pid=101 next_prio=110
    RenderThread-101   (  100) [000] d..2    10.001000: sched_switch: prev_comm=RenderThread prev_pid=101 prev_prio=110 prev_state=D|K ==> next_comm=swapper/0 next_pid=0 next_prio=120
     kworker/0:1-7     (    7) [001] d..3    10.001500: sched_blocked_reason: pid=101 iowait=1 caller=wait_on_page+0x10/0x80
     kworker/0:1-7     (    7) [001] d..3    10.002000: sched_waking: comm=RenderThread pid=101 prio=110 target_cpu=000
          <idle>-0     (-----) [000] d..2    10.003000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=RenderThread next_pid=101 next_prio=110
    RenderThread-101   (  100) [000] d..2    10.005000: sched_switch: prev_comm=RenderThread prev_pid=101 prev_prio=110 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120
`

// table returns the rows of a table, with "|" between the cells, and its warnings.
func table(t *testing.T, text, name string) (rows []string, warnings string) {
	t.Helper()
	read, err := systrace.Table(strings.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	for row := range read.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cell != nil {
				cells[i] = fmt.Sprint(cell)
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows, fmt.Sprint(read.Warnings)
}

// holds checks that each row of a table begins with the wanted text.
func holds(t *testing.T, text, name string, want ...string) {
	t.Helper()
	got, warnings := table(t, text, name)
	for i := range min(len(got), len(want)) {
		got[i] = got[i][:min(len(got[i]), len(want[i]))]
	}
	if diff := cmp.Diff(want, got); diff != "" || warnings != "[]" {
		t.Errorf("%s: %s%s", name, diff, warnings)
	}
}

func TestTableSched(t *testing.T) {
	t.Parallel()
	holds(t, head+sleeper, "sched",
		"10000000000|1000000|0|101|DK|110|", "10001000000|2000000|0|0|R|120|0",
		"10003000000|2000000|0|101|R+|110|", "10005000000|-1|0|0||120|0")
	holds(t, head+sleeper, "thread-states",
		"10000000000|1000000|101|Running|0||", "10001000000|1000000|101|DK|||1|wait_on_page+0x10/0x80",
		"10002000000|1000000|101|R||7|", "10003000000|2000000|101|Running|0", "10005000000|-1|101|R+|")
	holds(t, head+sleeper, "threads", "0|0|swapper|0|0|1||", "1|101|RenderThread|1|100|0||", "2|100||1|100|1||", "3|7|kworker/0:1|2|7|1||")
}

func TestTableSlicesAndCounters(t *testing.T) {
	t.Parallel()
	text := `com.example-100   (  100) [000] ...1 1.000000: tracing_mark_write: B|100|Choreographer#doFrame
 com.example-100   (  100) [000] ...1 1.125000: tracing_mark_write: S|100|load|7
 com.example-100   (  100) [000] ...1 1.250000: tracing_mark_write: E|100
 com.example-100   (  100) [000] ...1 1.375000: tracing_mark_write: C|100|queue|-3
 com.example-100   (  100) [000] ...1 1.500000: tracing_mark_write: F|100|load|7
      worker-101   (  100) [001] ...1 1.625000: 0: I|100|mark
        <...>-50   (-----) [002] d..2 1.750000: cpu_frequency: state=1401000 cpu_id=2
        <...>-50   (-----) [002] d..2 1.875000: cpu_idle: state=4294967295 cpu_id=2
        <...>-50   (-----) [002] d..2 2.000000: clock_set_rate: gpu_clk state=19200000 cpu_id=2
      worker-101   (  100) [001] ...1 2.125000: rss_stat: size=8437760 member=1 curr=1 mm_id=2824390453
`
	holds(t, text, "slices",
		"0|1000000000|250000000|Choreographer#doFrame||0||0|thread_execution||100|100",
		"1|1125000000|375000000|load||0||1|atrace_async_slice|load||100",
		"2|1625000000|0|mark||0||2|thread_execution||101|100")
	holds(t, text, "counters",
		"1375000000|-3|0|queue|atrace_counter||100||", "1750000000|1.401e+06|1|cpufreq|cpu_frequency||||2",
		"1875000000|4.294967295e+09|2|cpuidle|cpu_idle||||2", "2000000000|1.92e+07|3|gpu_clk Frequency|clock_frequency||||",
		"2125000000|8.43776e+06|4|mem.rss.anon|process_memory||100||")
}

func TestTableBinder(t *testing.T) {
	t.Parallel()
	text := ` client-10 [000] ..... 5.000000: binder_transaction: transaction=9 dest_node=1 dest_proc=20 dest_thread=0 reply=0 flags=0x10 code=0x3
 server-20 [001] ..... 5.000100: binder_transaction_received: transaction=9
 server-20 [001] ..... 5.000300: binder_transaction: transaction=10 dest_node=0 dest_proc=10 dest_thread=10 reply=1 flags=0x0 code=0x0
 client-10 [000] ..... 5.000400: binder_transaction_received: transaction=10
`
	holds(t, text, "slices", "0|5000000000|400000|binder transaction|binder", "1|5000100000|200000|binder reply|binder")
	holds(t, text, "flows", "0|1")
}

func TestTableBlockIO(t *testing.T) {
	t.Parallel()
	// The first is as written by kernels before Linux 6.4, the second by later ones.
	text := ` com.example-10 (   10) [000] .... 5.000000: block_rq_issue: 253,300 WS 4096 () 1234 + 8 [com.example]
 com.example-10 (   10) [000] .... 5.125000: block_rq_issue: 8,1 R 8192 () 99 + 16 none,0,0 [Signal Catcher]
      <idle>-0  (-----) [000] .... 5.250000: block_rq_complete: 253,300 WS () 1234 + 8 [0]
      <idle>-0  (-----) [000] .... 5.500000: block_rq_complete: 8,1 R () 99 + 16 none,0,0 [-5]
 com.example-10 (   10) [000] .... 5.625000: block_bio_queue: 8,1 RA 7 + 2 [com.example]
`
	holds(t, text, "block-io",
		"5000000000|250000000|block_rq_issue|1113388|1234|8|4096|WS|com.example|0|10|10",
		"5125000000|375000000|block_rq_issue|2049|99|16|8192|R|Signal Catcher|-5|10|10",
		"5625000000|-1|block_bio_queue|2049|7|2|1024|RA|com.example|0|10|10")
}

func TestParseLinesOfSeveralKernels(t *testing.T) {
	t.Parallel()
	for title, line := range map[string]string{
		"no process":         "a-7     [000] ...2     0.002188: print: I|7|x",
		"no flags":           "a-7 [000]  0.002188: print: I|7|x",
		"five flags":         "a-7 ( 7) [000] dNsa. 0.002188: print: I|7|x",
		"no blank":           "a-7 ( 7) [000] d...0.002188: print: I|7|x",
		"a hyphenated name":  "task-1234-7 ( 7) [000] .... 0.002188: print: I|7|x",
		"brackets in a name": "a [0] b-7 ( 7) [000] .... 0.002188: print: I|7|x",
		"an idle thread":     "<idle>-7 ( 7) [000] .... 0.002188: print: I|7|x",
		"CR LF":              "a-7 [000] .... 0.002188: print: I|7|x\r",
		"a newer name":       "a-7 [000] .... 0.002188: tracing_mark_write: I|7|x",
	} {
		got, warnings := table(t, line+"\n", "slices")
		if len(got) != 1 || !strings.HasPrefix(got[0], "0|2188000|0|x|") || !strings.HasSuffix(got[0], "|7|7") || warnings != "[]" {
			t.Errorf("%s: %q %s", title, got, warnings)
		}
	}
}

func TestParseNamesWithBlanks(t *testing.T) {
	t.Parallel()
	text := ` Signal Catcher-7 ( 5) [000] d..2 1.000000: sched_switch: prev_comm=Signal Catcher prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=Jit thread pool next_pid=8 next_prio=129
`
	holds(t, text, "threads", "0|0|swapper", "1|7|Signal Catcher|", "2|5||", "3|8|Jit thread pool|")
}

func TestUnknownNamesReplaceNoKnownName(t *testing.T) {
	t.Parallel()
	text := ` real-7 [000] .... 1.0: print: I|7|x
 <...>-7 [000] .... 2.0: print: I|7|x
`
	holds(t, text, "threads", "0|0|swapper|", "1|7|real|")
}

// TestWakeups has one kernel that writes only sched_wakeup, and one that writes both.
func TestWakeups(t *testing.T) {
	t.Parallel()
	woken := func(s int, event string) string {
		return fmt.Sprintf("a-7 [000] .... %d.500000: %s: comm=b pid=8 prio=120 success=1 target_cpu=000\n", s, event)
	}
	holds(t, woken(1, "sched_wakeup"), "thread-states", "1500000000|-1|8|R||7|")
	holds(t, woken(1, "sched_waking")+woken(2, "sched_wakeup"), "thread-states", "1500000000|-1|8|R||7|")
}

func TestTaskStartAndEnd(t *testing.T) {
	t.Parallel()
	text := ` a-7 ( 7) [000] .... 1.0: task_newtask: pid=8 comm=a clone_flags=1200000 oom_score_adj=0
 a-7 ( 7) [000] .... 2.0: task_newtask: pid=9 comm=a clone_flags=3d0f00 oom_score_adj=0
 b-8 ( 8) [001] .... 3.0: task_rename: pid=8 oldcomm=a newcomm=b oom_score_adj=0
 c-3 ( 3) [001] .... 4.0: sched_process_free: comm=b pid=8 prio=120
`
	holds(t, text, "threads", "0|0|swapper|", "1|7|a|1|7|1||", "2|8|b|2|8|1|1000000000|4000000000", "3|9|a|1|7|0|2000000000|", "4|3|c|3|3|1||")
}

// html is a systrace page: ps, then the trace, each embedded.
func html(trace string) string {
	return "<!DOCTYPE html>\n<html>\n<script>a-7 [000] .... 1.0: print: B|7|no\n</script>\n" +
		"<script class=\"trace-data\" type=\"application/text\">\nPROCESS DUMP\nUSER PID PPID VSZ RSS WCHAN PC S NAME COMM\n" +
		"u0_a1 100 50 1 2 0 0 S com.example.app example.app\nUSER PID TID CMD\nu0_a1 100 102 Binder:100_1\n</script>\n" +
		"<script class=\"trace-data\" type=\"application/text\">\n" + trace + "</script>\n" +
		"<script class=\"trace-data\" type=\"application/text\">\nCGROUP DUMP\na-7 [000] .... 1.0: print: B|7|no\n</script>\n</html>\n"
}

func TestTableOfAnHTMLPage(t *testing.T) {
	t.Parallel()
	holds(t, html(head+sleeper), "sched", "10000000000|1000000|0|101|DK|110|", "10001000000|", "10003000000|", "10005000000|")
	holds(t, html(head+sleeper), "processes", "0|0||", "1|50|||", "2|100|com.example.app||||50|com.example.app", "3|7|")
	holds(t, html(head+sleeper), "slices")
	got, _ := table(t, html(head+sleeper), "threads")
	if all := strings.Join(got, "\n"); !strings.Contains(all, "|102|Binder:100_1|2|100|0|") {
		t.Error(all)
	}
}

// TestProcessNamesFromPSAfterTheTrace has the output of ps after the trace, as systrace writes it: the
// process has its name by then.
func TestProcessNamesFromPSAfterTheTrace(t *testing.T) {
	t.Parallel()
	const begins = "zygote-100 (  100) [000] d..2 1.500000: task_newtask: pid=500 comm=zygote clone_flags=1200011 oom_score_adj=0\n"
	const ps = "PROCESS DUMP\nUSER PID PPID VSZ RSS WCHAN PC S NAME CMD\nu0_a1 500 100 1 2 0 0 S com.example.app app\n"
	page := html(head+begins) + `<script class="trace-data" type="application/text">` + "\n" + ps + "</script>\n"
	rows, _ := table(t, page, "processes")
	found := 0
	for _, row := range rows {
		if cells := strings.Split(row, "|"); cells[1] == "500" {
			found++
			if cells[2] != "com.example.app" || cells[4] != "1500000000" {
				t.Error(row)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d processes 500: %q", found, rows)
	}
}

func TestTableOfAnOldHTMLPage(t *testing.T) {
	t.Parallel()
	page := "<html>\n<script>\n  var linuxPerfData = \"\\\n" + strings.ReplaceAll(head+sleeper, "\n", "\\n\\\n") + "\";\n</script>\n</html>\n"
	got, _ := table(t, page, "sched")
	if len(got) != 4 || !strings.HasPrefix(got[0], "10000000000|1000000|0|101|DK|110|") {
		t.Errorf("%q", got)
	}
}

// packed is the output of atrace -z.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return append([]byte("TRACE:\n"), out.Bytes()...)
}

func TestCompressedTraces(t *testing.T) {
	t.Parallel()
	// Bytes that repeat little, so that some of them are line ends.
	text := head + sleeper
	for i := range 4_000 {
		text += fmt.Sprintf("a-7 [000] .... 20.%06d: print: I|7|%x\n", i, i*i*2_654_435_761)
	}
	plain := packed(t, text)
	for title, trace := range map[string][]byte{
		"as written":   plain,
		"with a line":  append([]byte("capturing trace... done\n"), plain...),
		"by old adb":   bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n")),
		"by older adb": bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\r\n")),
	} {
		if got, warnings := table(t, string(trace), "slices"); len(got) != 4_000 || warnings != "[]" {
			t.Errorf("%s: %d slices, want 4000; %s", title, len(got), warnings)
		}
	}
	if !bytes.Contains(plain[8:], []byte("\n")) {
		t.Error("the compressed trace has no line end in it: it shows nothing of adb's")
	}
	got, warnings := table(t, string(plain[:len(plain)*2/3]), "sched")
	if len(got) != 4 || !strings.Contains(warnings, "can't be unpacked completely") {
		t.Errorf("cut short: %q %s", got, warnings)
	}
}

func TestTableWarnings(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct{ text, table, want string }{
		"another file": {"hello\nworld\n", "sched", "2 lines are no events of the kernel, this one first"},
		"nothing":      {"", "sched", "there is no event of the kernel"},
		"a part":       {"a-7 [000] .... 1.0: sched_switch: prev_comm=a prev_pid=7\n", "sched", "1 event lacks an argument of its kind"},
		"lost":         {sleeper + "CPU:2 [LOST 511 EVENTS]\n", "sched", "events of the kernel were lost in 1 place"},
		"many CPUs":    {"a-7 [99999] .... 1.0: print: I|7|x\n", "slices", "1 line is no event"},
		"no time":      {"a-7 [000] .... 1e300: print: I|7|x\na-7 [000] .... -1.0: print: I|7|x\n", "slices", "2 lines are no events"},
	} {
		if rows, warnings := table(t, c.text, c.table); !strings.Contains(warnings, c.want) {
			t.Errorf("%s: %q %s, want %q", title, rows, warnings, c.want)
		}
	}
}

func TestTableWarnsOfATruncatedText(t *testing.T) {
	t.Parallel()
	const line = "app-7 (  7) [000] d..2 1.500000: tracing_mark_write: B|7|load the list"
	for text, cut := range map[string]bool{
		line + "\n": false, line: true, line[:len(line)-5]: true, line + "\n          ": false, line + "\n/proc/7/task/8": false,
		html(line + "\n")[:len(html(line+"\n"))-1]: false,
	} {
		if _, warnings := table(t, text, "slices"); strings.Contains(warnings, "without the end of a line") != cut {
			t.Errorf("%q: %s, cut: %v", text, warnings, cut)
		}
	}
}

// TestParseAmbiguousLineInTime has a line of 1 MiB in which an event could begin every few bytes.
// Looking ahead from each would take minutes.
func TestParseAmbiguousLineInTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"-1 [0] ", "-1 (1) [0] d..2 ", "-1 [0] 1.0: ", "-1-1", "- "} {
		text := strings.Repeat(strings.Repeat(part, (1<<20)/len(part))+"\n", 4)
		if rows, warnings := table(t, text, "slices"); len(rows) != 0 || !strings.Contains(warnings, "4 lines are no events") {
			t.Errorf("%q: %d rows, %s", part, len(rows), warnings)
		}
	}
}

func TestTableReportsReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for title, text := range map[string][]byte{"text": []byte(sleeper), "compressed": packed(t, sleeper)[:40]} {
		_, err := systrace.Table(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)), "sched")
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestInspectTotals(t *testing.T) {
	t.Parallel()
	got, err := systrace.Inspect(strings.NewReader(head + sleeper))
	if err != nil {
		t.Fatal(err)
	}
	d := got.Details.(systrace.Details)
	if got.Metrics["cpu.time_ms"] != 3 || got.Nothing || d.Events != 6 || d.CPUs != 2 || d.Kinds["sched_switch"] != 4 {
		t.Errorf("%+v", got)
	}
	if len(d.Threads) != 1 || d.Threads[0].Name != "RenderThread" || d.Threads[0].PID != 100 || d.Processes[0].CPUMS != 3 {
		t.Errorf("%+v", d)
	}
	if empty, err := systrace.Inspect(strings.NewReader("{}")); err != nil || !empty.Nothing {
		t.Errorf("%v %+v", err, empty)
	}
}
