package tables_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// trackEvent is an event of a type on a sequence with a valid state.
func trackEvent(ns, kind int64, data message) message {
	return message(nil).num(8, ns).num(10, 1).num(13, 2).in(11, data.num(9, kind))
}

// flowing adds ids of flows to an event.
func (m message) flowing(field protowire.Number, ids ...uint64) message {
	for _, id := range ids {
		m = protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), id)
	}
	return m
}

// described has the tracks 1, of thread 101 of process 100; 2, of process 100; and below it 3,
// "Queue"; and 5, which belongs to nothing.
func described() message {
	track := func(uuid int64, more message) message {
		return message(nil).num(10, 1).in(60, append(message(nil).num(1, uuid), more...))
	}
	var out message
	for _, p := range []message{
		track(1, message(nil).in(4, message(nil).num(1, 100).num(2, 101).text(5, "worker"))),
		track(2, message(nil).in(3, message(nil).num(1, 100).text(6, "com.example"))),
		track(3, message(nil).num(5, 2).text(2, "Queue")),
		track(5, message(nil).text(2, "Loose")),
	} {
		out = out.in(1, p)
	}
	return out
}

func TestTrackEventsAreSlices(t *testing.T) {
	t.Parallel()
	names := message(nil).
		in(1, message(nil).num(1, 1).text(2, "input")).in(1, message(nil).num(1, 2).text(2, "view")).
		in(2, message(nil).num(1, 7).text(2, "dispatch"))
	// Events that name no track are on track 1, by the sequence's defaults.
	state := message(nil).num(10, 1).num(13, 1).in(12, names).in(59, message(nil).in(11, message(nil).num(11, 1)))
	trace := append(described(), file(state,
		trackEvent(10, 1, message(nil).num(10, 7).num(3, 1).num(3, 2).flowing(47, 900)),
		trackEvent(20, 1, message(nil).num(11, 3).text(23, "message").flowing(47, 900)),
		trackEvent(30, 2, message(nil)),
		trackEvent(35, 3, message(nil).num(11, 5).text(23, "mark").text(22, "free").flowing(48, 900)),
		trackEvent(40, 2, message(nil).num(11, 3)),
		trackEvent(50, 1, message(nil).num(11, 2).text(23, "again").flowing(47, 900)), // the flow has ended
		trackEvent(60, 3, message(nil).num(11, 8).text(23, "unknown")),
		trackEvent(70, 0, message(nil).text(23, "old")),
		// The state is cleared: 7 is no longer defined.
		message(nil).num(10, 1).num(13, 1),
		trackEvent(80, 3, message(nil).num(10, 7).num(11, 1)),
	)...)
	read := check(t, trace, "slices",
		"0|10|20|dispatch|input,view|0||0|thread_execution||101|100",
		"1|20|20|message||0||1|process_merged_track_event|Queue||100",
		"2|35|0|mark|free|0||2|global_merged_track_event|Loose||",
		"3|50|-1|again||0||3|process_track_event|||100",
		"4|60|0|unknown||0||4|global_merged_track_event|unknown||",
		"5|80|0|||0||0|thread_execution||101|100")
	check(t, trace, "flows", "0|1", "1|2")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "1 track event is of a kind that is not read") {
		t.Error(said)
	}
}

// TestTracksInACycle has a cycle of descriptions.
func TestTracksInACycle(t *testing.T) {
	t.Parallel()
	track := func(uuid, parent int64) message {
		return message(nil).num(10, 1).in(60, message(nil).num(1, uuid).num(5, parent))
	}
	check(t, file(track(1, 2), track(2, 1), message(nil).num(10, 1).num(13, 1),
		trackEvent(10, 3, message(nil).num(11, 1).text(23, "round"))), "slices",
		"0|10|0|round||0||0|global_merged_track_event|round||")
}

// double adds a double to an event.
func (m message) double(field protowire.Number, v float64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), math.Float64bits(v))
}

// counting describes counters: 10, of thread 101, in µs and as increments; 11, of process 100; and
// 12, of nothing.
func counting() []message {
	counter := func(uuid, parent int64, name string, data message) message {
		return message(nil).num(10, 1).in(60, message(nil).num(1, uuid).num(5, parent).text(2, name).in(8, data))
	}
	return []message{
		counter(10, 1, "", message(nil).num(1, 1).num(4, 1000).num(5, 1)),
		counter(11, 2, "Heap", message(nil).num(3, 3)),
		counter(12, 0, "Temperature", message(nil).text(6, "°C")),
	}
}

func TestTrackEventsAreValuesOfCounters(t *testing.T) {
	t.Parallel()
	// Values with events are of counter 10, by the sequence's defaults.
	state := message(nil).num(10, 1).num(13, 1).in(59, message(nil).in(11, message(nil).num(11, 1).num(31, 10)))
	trace := append(described(), file(append(counting(), state,
		trackEvent(100, 1, message(nil).text(23, "work").num(12, 7)), trackEvent(110, 2, message(nil).num(12, 2)),
		trackEvent(120, 4, message(nil).num(11, 11).num(30, -5)), trackEvent(130, 4, message(nil).num(11, 12).double(44, 36.5)),
		trackEvent(140, 3, message(nil).text(23, "both").num(31, 10).num(31, 11).num(12, 1).num(12, 64)),
		trackEvent(150, 3, message(nil).text(23, "warm").num(45, 12).double(46, 37.25)),
		trackEvent(160, 4, message(nil).num(11, 99).num(30, 1)), // not described
		trackEvent(170, 4, message(nil).num(11, 12)),            // without a value
		state, trackEvent(180, 3, message(nil).text(23, "anew").num(12, 4)), // increments restart
	)...)...)
	read := check(t, trace, "counters",
		"100|7000|0|thread_time|thread_counter_track_event|ns|100|101|", "110|9000|0|thread_time|thread_counter_track_event|ns|100|101|",
		"120|-5|1|Heap|process_counter_track_event|bytes|100||", "130|36.5|2|Temperature|global_counter_track_event|°C|||",
		"140|10000|0|thread_time|thread_counter_track_event|ns|100|101|", "140|64|1|Heap|process_counter_track_event|bytes|100||",
		"150|37.25|2|Temperature|global_counter_track_event|°C|||", "180|4000|0|thread_time|thread_counter_track_event|ns|100|101|")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "2 track events have values of counters") {
		t.Error(said)
	}
	check(t, trace, "slices",
		"0|100|10|work||0||0|thread_execution||101|100", "1|140|0|both||0||0|thread_execution||101|100",
		"2|150|0|warm||0||0|thread_execution||101|100", "3|180|0|anew||0||0|thread_execution||101|100")
}

// TestTracksNameThreadsAndProcesses has a second track with a thread's id, which is of a later
// thread.
func TestTracksNameThreadsAndProcesses(t *testing.T) {
	t.Parallel()
	again := message(nil).num(10, 1).in(60, message(nil).num(1, 7).in(4, message(nil).num(1, 100).num(2, 101).text(5, "next")))
	trace := append(described(), file(again)...)
	check(t, trace, "threads", "0|0|swapper|0|0|1||", "1|100||1|100|1||", "2|101|worker|1|100|0||", "3|101|next|1|100|0||")
	check(t, trace, "processes", "0|0||||||", "1|100|com.example|||||")
}

// TestArgumentsOfSlices has arguments at the begin and the end of a slice: of a repeated argument
// the last value counts, and lists continue.
func TestArgumentsOfSlices(t *testing.T) {
	t.Parallel()
	names := message(nil).
		in(3, message(nil).num(1, 5).text(2, "queue")).in(29, message(nil).num(1, 6).text(2, "long text"))
	state := message(nil).num(10, 1).num(13, 1).in(12, names).in(59, message(nil).in(11, message(nil).num(11, 1)))
	arg := func(name string) message { return message(nil).text(10, name) }
	list := func(of message, values ...int64) message {
		for _, v := range values {
			of = of.in(12, message(nil).num(4, v))
		}
		return of
	}
	nested := message(nil).num(1, 1).text(2, "on").text(2, "deep").
		in(3, message(nil).num(7, 1)).in(3, message(nil).num(1, 2).in(4, message(nil).text(8, "leaf")))
	trace := append(described(), file(state,
		trackEvent(10, 1, message(nil).text(23, "work").
			in(4, list(message(nil).num(1, 5), 20, 21)).in(4, arg("size").num(4, -3)).in(4, arg("left.over[]").num(3, 1<<40)).
			in(4, arg("parts").in(11, arg("a").double(5, 0.5)).in(11, arg("b").num(17, 6))).
			in(4, arg("old").in(8, nested)).in(4, arg("json").text(9, `{"x":1}`)).in(4, arg("own").text(16, "Mine").text(14, "??"))),
		trackEvent(20, 2, message(nil).in(4, list(message(nil).num(1, 5), 22)).in(4, arg("size").num(4, 7)).in(4, arg("at").num(7, 255))),
		trackEvent(30, 3, message(nil).text(23, "mark").in(4, arg("done").num(2, 1)).in(4, message(nil).num(1, 99).num(4, 1))),
	)...)
	read := check(t, trace, "args",
		"0|debug.queue|debug.queue[0]|20|||int", "0|debug.queue|debug.queue[1]|21|||int", "0|debug.size|debug.size|7|||int",
		"0|debug.left_over__|debug.left_over__|1099511627776|||uint",
		"0|debug.parts.a|debug.parts.a|||0.5|real", "0|debug.parts.b|debug.parts.b||long text||string",
		"0|debug.old.on|debug.old.on|1|||bool", "0|debug.old.deep|debug.old.deep[0]||leaf||string", `0|debug.json|debug.json||{"x":1}||json`,
		"0|debug.queue|debug.queue[2]|22|||int", "0|debug.at|debug.at|255|||pointer",
		"1|debug.done|debug.done|1|||bool")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "2 arguments of slices are left out") {
		t.Error(said)
	}
}

// TestArgumentsInThousandsOfLevels has one that would exhaust the memory of a recursive reader.
func TestArgumentsInThousandsOfLevels(t *testing.T) {
	t.Parallel()
	deep := message(nil).num(4, 1)
	for range 5_000 {
		deep = message(nil).text(10, "in").in(11, deep.text(10, "in"))
	}
	read := check(t, append(described(), file(message(nil).num(10, 1).num(13, 1),
		trackEvent(10, 3, message(nil).num(11, 1).text(23, "mark").in(4, message(nil).text(10, "flat").num(4, 2)).in(4, deep)))...), "args",
		"0|debug.flat|debug.flat|2|||int")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "1 argument of a slice is left out") {
		t.Error(said)
	}
}

// TestTrackEventEnds has ends that name what they end, of which one matches
// nothing; flows may lead to ends too.
func TestTrackEventEnds(t *testing.T) {
	t.Parallel()
	on := func(kind int64, name string) message { return message(nil).num(11, 1).text(23, name).text(22, "cat") }
	trace := append(described(), file(message(nil).num(10, 1).num(13, 1),
		trackEvent(10, 1, on(1, "outer")), trackEvent(20, 1, on(1, "inner")),
		trackEvent(30, 2, on(2, "other")), trackEvent(40, 2, on(2, "outer").flowing(47, 5)), trackEvent(50, 2, on(2, "inner")),
		trackEvent(60, 3, on(3, "after").flowing(48, 5)))...)
	check(t, trace, "slices",
		"0|10|30|outer|cat|0||0|thread_execution||101|100", "1|20|20|inner|cat|1|0|0|thread_execution||101|100", // cut at the end of the one around it
		"2|60|0|after|cat|0||0|thread_execution||101|100")
	check(t, trace, "flows", "0|2")
}

// TestOlderEventsOfChrome has events with phases instead of types, on the sequence's stated thread,
// and times as differences.
func TestOlderEventsOfChrome(t *testing.T) {
	t.Parallel()
	clocks := message(nil).in(6, message(nil).in(1, message(nil).num(1, 6).num(2, 0)).in(1, message(nil).num(1, 3).num(2, 0)))
	state := message(nil).num(10, 1).num(13, 1).in(44, message(nil).num(1, 100).num(2, 101).text(5, "CrRendererMain").num(6, 1000))
	older := func(delta int64, name string, phase byte, more message) message {
		event := message(nil).num(1, delta).text(22, "cc").in(6, append(message(nil).num(2, int64(phase)), more...))
		if name != "" {
			event = event.text(23, name)
		}
		return message(nil).num(10, 1).num(13, 2).in(11, event)
	}
	id := message(nil).num(11, 77)
	trace := file(clocks, message(nil).num(10, 1).in(11, message(nil).num(1, 1).text(23, "lost").in(6, message(nil).num(2, 'B'))), state,
		older(10, "task", 'B', nil), older(5, "draw", 'X', message(nil).num(3, 3)), older(10, "", 'E', nil),
		older(5, "load", 'b', id), older(5, "part", 'b', id), older(5, "step", 'n', id), older(5, "", 'e', id), older(5, "", 'e', id),
		older(5, "local", 'S', message(nil).num(10, 7)), older(5, "local", 'F', message(nil).num(10, 7)),
		older(5, "gone", 'i', message(nil).num(14, 1)), older(5, "here", 'I', message(nil).num(14, 2)), older(5, "mark", 'R', nil),
		older(5, "out", 'X', message(nil).num(3, 1).num(8, 9).num(13, 2)), older(5, "in", 'X', message(nil).num(3, 1).num(8, 9).num(13, 1)),
		older(5, "flow", 's', message(nil).num(6, 9)))
	read := check(t, trace, "slices",
		"0|1010000|15000|task|cc|0||0|thread_execution||101|100", "1|1015000|3000|draw|cc|1|0|0|thread_execution||101|100",
		"2|1030000|20000|load|cc|0||1|legacy_async_global_slice|load||", "3|1035000|10000|part|cc|1|2|1|legacy_async_global_slice|load||",
		"4|1040000|0|step|cc|2|3|1|legacy_async_global_slice|load||",
		"5|1055000|5000|local|cc|0||2|legacy_async_process_slice|local||100",
		"6|1065000|0|gone|cc|0||3|legacy_chrome_global_instants|||", "7|1070000|0|here|cc|0||4|chrome_process_instant|||100",
		"8|1075000|0|mark|cc|0||0|thread_execution||101|100",
		"9|1080000|1000|out|cc|0||0|thread_execution||101|100", "10|1085000|1000|in|cc|0||0|thread_execution||101|100")
	check(t, trace, "flows", "9|10")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "2 track events are of kinds") {
		t.Error(said)
	}
}
