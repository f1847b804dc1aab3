package threads_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// message builds a protocol buffer message field by field.
type message []byte

func (m message) num(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m message) in(field protowire.Number, v []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func read(t *testing.T, events message) *threads.Tracker {
	t.Helper()
	file := packets.New()
	tracker := threads.New(file)
	trace := message(nil).in(1, message(nil).num(10, 1).in(1, events.num(1, 0)))
	if err := file.ReadInOrder(bytes.NewReader(trace), tracker); err != nil {
		t.Fatal(err)
	}
	return tracker
}

// clone is an event of a thread that begins another of its process.
func clone(ns, parent, child int64) message {
	return message(nil).num(1, ns).num(2, parent).in(235, message(nil).num(1, child).num(3, 0x10000))
}

func line(ns, tid int64, text string) message {
	return message(nil).num(1, ns).num(2, tid).in(3, message(nil).in(2, []byte(text)))
}

// TestProcessOfAFamily has threads that began one another before one of them
// states its process.
func TestProcessOfAFamily(t *testing.T) {
	t.Parallel()
	got := read(t, message(nil).in(2, clone(1, 10, 11)).in(2, clone(2, 11, 12)).in(2, clone(3, 20, 21)).in(2, line(4, 12, "B|10|x")))
	for tid, pid := range map[int32]int32{10: 10, 11: 10, 12: 10, 20: 0, 21: 0} {
		thread := got.Threads[got.Of(tid)]
		of := int32(0)
		if thread.Process != threads.None {
			of = got.Processes[thread.Process].PID
		}
		if of != pid || thread.Main != (tid == pid) {
			t.Errorf("thread %d is of process %d, main %v, want %d", tid, of, thread.Main, pid)
		}
	}
}

// TestManyThreadsWithoutAProcess has traces that could take hours: threads of unknown processes,
// lines of threads with a known process, and an id that two processes claim in turn.
func TestManyThreadsWithoutAProcess(t *testing.T) {
	t.Parallel()
	var events message
	const many = 30_000
	for i := int64(1); i <= many; i++ {
		events = events.in(2, clone(i, 1_000_000+i, 2_000_000+i))
	}
	for i := int64(1); i <= many; i++ {
		events = events.in(2, clone(many+i, 5, 7)).in(2, line(many+i, 7, fmt.Sprintf("B|%d|x", 5+i%2)))
	}
	begin := time.Now()
	got := read(t, events)
	if len(got.Threads) < 3*many {
		t.Errorf("%d threads", len(got.Threads))
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestCommandLinesAreBounded has processes whose command lines are 40 MB together. A repeated one
// replaces the previous one.
func TestCommandLinesAreBounded(t *testing.T) {
	t.Parallel()
	const many, each = 5_000, 8_000
	long := bytes.Repeat([]byte("x"), each)
	var tree, again message
	for pid := range int64(many) {
		tree = tree.in(1, message(nil).num(1, 10+pid).num(2, 1).in(3, long))
	}
	again = again.in(1, message(nil).num(1, 10).num(2, 1).in(3, long[1:]))
	again = again.in(1, message(nil).num(1, 11).num(2, 1).in(3, []byte("com.example")))
	var trace message
	for i, one := range []message{tree, again, again} {
		trace = trace.in(1, message(nil).num(8, int64(i)).in(2, one))
	}
	f := packets.New()
	tracker := threads.New(f)
	if err := f.ReadInOrder(bytes.NewReader(trace), tracker); err != nil {
		t.Fatal(err)
	}
	held, told := 0, 0
	for _, one := range tracker.Processes {
		held += len(one.Cmdline)
		told += min(len(one.Cmdline), 1)
	}
	if n := len(tracker.Processes); n < many || held > 32<<20 || told < 4_000 || f.TooMany["command lines of processes"] != many-told {
		t.Errorf("%d processes, %d with command lines of %d bytes; %v", n, told, held, f.TooMany)
	}
	if first, second := tracker.Processes[tracker.OfProcess(10)], tracker.Processes[tracker.OfProcess(11)]; len(first.Cmdline) != each-1 || second.Name != "com.example" {
		t.Errorf("%d bytes, %q", len(first.Cmdline), second.Name)
	}
}

// TestProcessesBeyondTheLimit has more processes than are kept: what is reported of
// one without room is ignored.
func TestProcessesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	const many = 200_010
	var events, trace message
	for pid := int64(10); pid < 10+many; pid++ {
		events = events.in(2, message(nil).num(1, pid).num(2, 1).in(235, message(nil).num(1, pid).in(2, []byte("app"))))
	}
	trace = trace.in(1, message(nil).num(10, 1).in(1, events.num(1, 0)))
	trace = trace.in(1, message(nil).num(8, 1_000_000).in(2, message(nil).in(1, message(nil).num(1, 300_000).num(2, 1).in(3, []byte("com.late")))))
	f := packets.New()
	tracker := threads.New(f)
	if err := f.ReadInOrder(bytes.NewReader(trace), tracker); err != nil {
		t.Fatal(err)
	}
	idle := tracker.Processes[0]
	if len(tracker.Processes) != 200_000 || f.TooMany["processes"] == 0 || idle.Name != "" || idle.Cmdline != "" || idle.Start != nil {
		t.Errorf("%d processes, the idle one %+v; %v", len(tracker.Processes), idle, f.TooMany)
	}
}
