package tasksources_test

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks/arttasks"
	"github.com/apkgate/apkgate/trace/tasks/fridatasks"
	"github.com/apkgate/apkgate/trace/tasks/tasksources"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

const lines = `{"format":"apkgate.tasks/1","clock":"monotonic"}
{"scheduled":1000000,"id":1,"unit":"disk","kind":"handler-thread","queue":"a","capacity":1,"name":"com.example.Flush","thread":"main","stack":["com.example.Main.onClick(Main.java:12)"]}
{"started":3000000,"id":1,"thread":"disk"}
{"done":9000000,"id":1}
`

const traced = `# tracer: nop
#
             com-100   (  100) [001] ....     0.010000: tracing_mark_write: S|100|task:disk>com.example.Flush|1
            disk-101   (  100) [001] ....     0.012000: tracing_mark_write: B|100|task#1 com.example.Flush
            disk-101   (  100) [001] ....     0.030000: tracing_mark_write: E|100
`

func TestInspect(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		lines: {
			"frida: 1 task of 1 unit; it tells contexts, capacity and cancellation",
			"  disk (handler-thread, capacity 1): 1 scheduled, 1 started, 1 done, 0 cancelled; waited up to 2.000 ms, ran up to 6.000 ms",
			"  waited      2.000 ms, ran      6.000 ms: com.example.Flush in disk, scheduled at com.example.Main.onClick(Main.java:12)",
		},
		traced: {
			"sections: 1 task of 1 unit; it tells capacity and cancellation",
			"  disk (handler-thread): 1 scheduled, 1 started, 1 done, 0 cancelled; waited up to 2.000 ms, ran up to 18.000 ms",
			"  waited      2.000 ms, ran     18.000 ms: com.example.Flush in disk",
		},
	} {
		seen, err := tasksources.Inspect(strings.NewReader(file), "")
		if err != nil || seen.Nothing {
			t.Fatal(seen, err)
		}
		if diff := cmp.Diff(want, seen.Details.(tasksources.Details).Summary()); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
	}
}

// A file without tasks is wrong input, of whatever kind it is.
func TestInspectNothing(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "Flags,IntendedVsync\n", "SLOW\x03\x00", "\x0a\x02\x08\x01", "*version\n3\n"} {
		seen, err := tasksources.Inspect(strings.NewReader(file), "")
		if err != nil || !seen.Nothing {
			t.Errorf("%q: %+v, %v", file, seen, err)
		}
	}
}

// A new source is its package, its test, a line in a table of sources, and a row in docs/tasks.md,
// which this test finds by the source's word in records.
func TestSourcesAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(doc), "\n")
	for _, word := range []string{tracedtasks.MessagesSource, arttasks.Source, fridatasks.Source, tracedtasks.SectionsSource, tracedtasks.CoroutinesSource, tracedtasks.PoolsSource} {
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, "| ") && strings.Contains(row, "`"+word+"`") }) {
			t.Errorf("docs/tasks.md has no row of the source %s", word)
		}
	}
}

// A look at a trace's bytes never denies tasks that Read would find: in a packet, across two reads
// of a text, in compressed packets.
func TestLikely(t *testing.T) {
	t.Parallel()
	packet := func(content string) string {
		size := binary.AppendUvarint(nil, uint64(len(content)))
		return "\x0a" + string(size) + content
	}
	other := packet("\x08\x01" + strings.Repeat("x", 3<<20))
	for name, c := range map[string]struct {
		file string
		want bool
	}{
		"a message":        {other + packet("\x12message_queue_send"), true},
		"work":             {other + packet(strings.Repeat("y", 1<<20-8)+"B|1|task#7 a"), true},
		"compressed":       {other + packet("\x50\x01\x92\x03\x02ab"), true},
		"compressed, zstd": {packet("\xaa\x08\x02ab"), true},
		"neither":          {other + packet("\x08\x01B|1|tasks"), false},
		"cut off":          {other + "\x0a\x7f\x01", false},
		"not packets":      {other + "\x12\x01a", true},
		"text":             {traced, true},
		"text over reads":  {strings.Repeat("z", 1<<20-3) + "task#1", true},
		"text without":     {"# tracer: nop\n" + strings.Repeat("z", 3<<20), false},
		"compressed text":  {"TRACE:\nx", true},
	} {
		if got := tasksources.Likely(strings.NewReader(c.file)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// A trace without messages tells the sections of the processes that are asked for.
func TestOfTrace(t *testing.T) {
	t.Parallel()
	for pid, want := range map[int]string{100: tracedtasks.SectionsSource, 7: tracedtasks.MessagesSource} {
		list, err := tasksources.OfTrace(systrace.Source(strings.NewReader(traced)), func(one int) bool { return one == pid }, true)
		if err != nil || list.Source != want || (len(list.Tasks) == 1) != (pid == 100) {
			t.Errorf("of process %d: %+v, %v", pid, list, err)
		}
	}
}

// Classes and frames that R8 renamed get the names of the source.
func TestReadWithMapping(t *testing.T) {
	t.Parallel()
	mapping, err := r8map.Read(strings.NewReader("com.example.Store -> a.b:\n    1:1:void save():42:42 -> c\ncom.example.Flush -> a.d:\n"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.NewReplacer("com.example.Flush", "a.d 7", "com.example.Main.onClick(Main.java:12)", "a.b.c(SourceFile:1)").Replace(lines)
	lists, err := tasksources.Read(strings.NewReader(renamed), tasksources.Options{Mapping: mapping})
	if err != nil || len(lists) != 1 || len(lists[0].Tasks) != 1 {
		t.Fatal(lists, err)
	}
	if one := lists[0].Tasks[0]; one.Name != "com.example.Flush 7" || len(one.Context) != 1 || one.Context[0] != "com.example.Store.save(SourceFile:42)" {
		t.Errorf("%+v", one)
	}
}
