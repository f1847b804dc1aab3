package phone

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

const (
	mqConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config { atrace_categories: "view" atrace_apps: "com.example.still" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "track_event" track_event_config { disabled_categories: "*" enabled_categories: "mq" } } }`

	messages = `registers-perfetto
unit saver handler-thread
unit images async-task
task sync on saver after tap code 7 runs 20ms network 600ms traces Saver.sync
task save on saver after tap at 5ms code 8 runs 30ms
task late on saver after tap at 6ms delay 900ms runs 5ms
task gone on saver after tap at 8ms code 9 runs 5ms until swipe replaces
task again on saver after tap at 9ms code 9 count 3 every 1ms runs 5ms replaces
task show on images after tap runs 40ms shows 12
task heavy on main after tap at 700ms code 3 runs 120ms traces Feed.bind
`
)

// messagesOf records the test of an app, and returns the messages in the trace, the trace, and the
// tasks of the phone.
func messagesOf(t *testing.T, profile, config, app string) (tasks.List, []byte, []timeline.Task) {
	t.Helper()
	p := newPhone(t, profile, app)
	return recordMessages(t, p, config)
}

func recordMessages(t *testing.T, p *Phone, config string) (tasks.List, []byte, []timeline.Task) {
	t.Helper()
	pid := strings.TrimSpace(output(t, p, "echo '"+config+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	start(p, instrument)
	pass(t, p, 5*time.Second)
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	raw := []byte(output(t, p, "cat "+kernelTrace))
	list, err := tracedtasks.ReadMessages(packets.Packets(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list, raw, p.Timeline().Tasks
}

// TestSectionsOfTasksThatFollowOthers: a task that another one schedules has its scheduling, although
// the thread of that other one does nothing else afterwards.
func TestSectionsOfTasksThatFollowOthers(t *testing.T) {
	t.Parallel()
	_, raw, _ := messagesOf(t, "pixel-7-android-15", mqConfig, still+`unit list handler-thread
unit images thread-pool size 1 wrapped
task entries on list after tap runs 8ms
task image on images after entries count 3 every 2ms runs 18ms network 100ms of com.example.Image
`)
	lists, _, err := tracedtasks.Read(packets.Packets(bytes.NewReader(raw)), tracedtasks.App{}, false)
	if err != nil || len(lists) != 1 || len(lists[0].Tasks) != 3 {
		t.Fatalf("%+v, %v", lists, err)
	}
	first := lists[0].Tasks[0]
	for n, one := range lists[0].Tasks {
		later, waited := one.Scheduled-first.Scheduled, one.Started-one.Scheduled
		if want := time.Duration(n) * 2 * time.Millisecond; later < want-time.Millisecond || later > want+time.Millisecond || (waited > 90*time.Millisecond) != (n > 0) {
			t.Errorf("image %d was scheduled %v after the first, and waited %v", n, later, waited)
		}
	}
}

// TestMessagesOfLoopers compares the messages in a trace with what the phone's threads did.
func TestMessagesOfLoopers(t *testing.T) {
	t.Parallel()
	list, _, truth := messagesOf(t, "pixel-7-android-16", mqConfig, still+messages)
	if len(list.Warnings) > 0 || !list.Tells.Capacity || list.Tells.Contexts || list.Tells.Cancellation {
		t.Errorf("warnings %v, tells %+v", list.Warnings, list.Tells)
	}
	frames, read := 0, map[time.Duration]tasks.Task{}
	for _, m := range list.Tasks {
		if !strings.HasPrefix(m.Inside, "Choreographer#doFrame ") {
			read[m.Scheduled] = m
			continue
		}
		frames++
		if m.Sender != "main" || m.Thread != "main" || m.Done <= m.Started || m.Delay != 0 {
			t.Errorf("a frame's message is %+v", m)
		}
	}
	truth = slices.DeleteFunc(truth, func(one timeline.Task) bool { return !one.Unit.Kind.Looper() })
	for _, one := range truth {
		m, known := read[one.Scheduled]
		started, done := time.Duration(tasks.Unknown), time.Duration(tasks.Unknown)
		if one.Thread != "" {
			started, done = one.Started, one.Done
		}
		late := time.Duration(0) // the main thread may be busy with a frame
		if one.Unit.Name == "main" {
			late = 17 * time.Millisecond
		}
		section := one.What.Section
		if one.Shows {
			section = ""
		}
		if !known || list.Units[m.Unit].Name != one.Unit.Name || m.Sender != one.Sender || m.Delay != one.Delay || m.Inside != section || m.Context != nil || m.Cancelled ||
			m.Started < started || m.Started > started+late || m.Done < done-late || m.Done > done+late {
			t.Errorf("%s, scheduled at %v, ran %v to %v, and is read as %+v", one.What.Name, one.Scheduled, started, done, m)
		}
	}
	if len(truth) != 9 || len(read) != 9 || frames < 60 {
		t.Errorf("%d tasks, %d read, and %d frames", len(truth), len(read), frames)
	}
}

// TestFlowsThatWrap records while the numbers of flows, of 32 bits with a sign, begin again.
func TestFlowsThatWrap(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-16", still+messages)
	const wraps = 1 << 32 * time.Microsecond
	pass(t, p, wraps-p.clock.Now()-3*time.Second)
	output(t, p, "input keyevent KEYCODE_WAKEUP")
	list, _, _ := recordMessages(t, p, mqConfig)
	before, after := 0, 0
	for _, m := range list.Tasks {
		switch {
		case m.Started == tasks.Unknown:
		case m.Scheduled == tasks.Unknown:
			t.Errorf("nobody sent %+v", m)
		case m.Scheduled < wraps:
			before++
		default:
			after++
		}
	}
	if before < 20 || after < 20 {
		t.Errorf("%d messages before the numbers wrap, and %d after", before, after)
	}
}

// TestTracesWithoutMessages: a phone before Android 16, one whose flag is off, an app that does not
// register with Perfetto, as no ordinary app does, and a trace that does not ask.
func TestTracesWithoutMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ phone, config, app string }{
		"Android 15":       {"pixel-7-android-15", mqConfig, messages},
		"the flag is off":  {"pixel-6-android-16", mqConfig, messages},
		"not registered":   {"pixel-7-android-16", mqConfig, strings.Replace(messages, "registers-perfetto\n", "", 1)},
		"another program":  {"pixel-7-android-16", strings.Replace(mqConfig, `"mq" } } }`, `"mq" } } producer_name_regex_filter: "com\\.example\\.stil" }`, 1), messages},
		"another category": {"pixel-7-android-16", strings.Replace(mqConfig, `"mq"`, `"cc"`, 1), messages},
	} {
		list, raw, truth := messagesOf(t, c.phone, c.config, still+c.app)
		if len(list.Tasks) > 0 || len(list.Warnings) > 0 || bytes.Contains(raw, []byte("message_queue")) || len(truth) == 0 {
			t.Errorf("%s: %d tasks, warnings %v", name, len(list.Tasks), list.Warnings)
		}
	}
}

// TestPerfettoReadsMessages: Perfetto's own engine pairs the messages by flows as we do, and all
// tables are the same.
func TestPerfettoReadsMessages(t *testing.T) {
	t.Parallel()
	list, raw, _ := messagesOf(t, "pixel-7-android-16", mqConfig, still+messages)
	path := filepath.Join(t.TempDir(), "mq.pftrace")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	tablestest.Same(t, path, nil)
	rows := tablestest.Query(t, path, `SELECT i.ts - o.ts AS waits, i.dur AS ran FROM flow JOIN slice o ON slice_out = o.id JOIN slice i ON slice_in = i.id
		WHERE o.name = 'message_queue_send' AND i.name = 'message_queue_receive' ORDER BY o.ts, i.ts`)
	var got, want []string
	for _, row := range rows {
		want = append(want, row["waits"]+" "+row["ran"])
	}
	for _, m := range list.Tasks {
		if m.Scheduled != tasks.Unknown && m.Started != tasks.Unknown {
			got = append(got, fmt.Sprintf("%d %d", m.Started-m.Scheduled, m.Done-m.Started))
		}
	}
	if !slices.Equal(got, want) || len(want) < 60 {
		t.Errorf("%d pairs\n%v\nwant\n%v", len(want), got, want)
	}
}
