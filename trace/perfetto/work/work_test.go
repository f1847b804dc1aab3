package work_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

type message = tracetest.Message

const app = 40

// done is an event of a thread: a line that it writes, or, if that is empty, a transaction.
type done struct {
	tid   int64
	text  string
	reply int64
}

func traced(lost bool, all ...done) []byte {
	bundle := message(nil).Num(field.BundleCPU, 0)
	if lost {
		bundle = bundle.Num(field.BundleLostEvents, 1)
	}
	for i, d := range all {
		event := message(nil).Num(field.EventTimestamp, int64(i+1)*1e6).Num(field.EventPID, d.tid)
		if d.text == "" {
			event = event.In(field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, int64(i+1)).Num(field.BinderTransactionReply, d.reply))
		} else {
			event = event.In(field.EventPrint, message(nil).Text(field.PrintBuf, d.text+"\n"))
		}
		bundle = bundle.In(field.BundleEvent, event)
	}
	return message(nil).In(field.TracePacket, message(nil).Num(field.PacketTrustedPacketSequenceID, 1).In(field.PacketFtraceEvents, bundle))
}

// count counts the work of the app's processes in a trace.
func count(src io.ReadSeeker, of func(pid int) bool) (counts map[string]float64, doubt string, err error) {
	r := work.New(of)
	lost, err := tracetest.Kernel(src, r)
	counts, doubt = r.Metrics(lost)
	return counts, doubt, err
}

func read(t *testing.T, text []byte, pid int) (counts map[string]float64, doubt string) {
	t.Helper()
	counts, doubt, err := count(bytes.NewReader(text), func(one int) bool { return one == pid })
	if err != nil {
		t.Fatal(err)
	}
	for name := range counts {
		if m, known := metric.Default().Lookup(name); !known || !m.Traced || !m.Counted {
			t.Errorf("the catalogue does not have %s as counted in traces: %+v", name, m)
		}
	}
	return counts, doubt
}

// Each kind of work counts once under any version's name; nested slices, replies, other threads'
// transactions and other apps' work do not.
func TestReaderCountsWork(t *testing.T) {
	t.Parallel()
	text := traced(false,
		done{tid: app, text: "B|40|Choreographer#doFrame"},
		done{tid: app, text: "B|40|Choreographer#doFrame 1234"},
		done{tid: app, text: "B|40|Choreographer#doFrame - resynced to 1235 in 3.1s"},
		done{tid: app, text: "B|40|Choreographer#doFrameCallback"},
		done{tid: app, text: "B|40|measure"},
		done{tid: app, text: "B|40|layout"},
		done{tid: app, text: "B|40|layout"},
		done{tid: app, text: "B|40|RV OnLayout"},
		done{tid: app, text: "B|40|draw"},
		done{tid: app, text: "B|40|draw-VRI[MainActivity]"},
		done{tid: app, text: "B|40|Record View#draw()"},
		done{tid: app, text: "B|40|inflate"},
		done{tid: app, text: "B|40|Recomposer:recompose"},
		done{tid: app, text: "B|40|Compose:recompose"},
		done{tid: app, text: "E|40"},
		done{tid: app},
		done{tid: app},
		done{tid: app, reply: 1},
		done{tid: 41},
		done{tid: 50, text: "B|50|inflate"},
		done{tid: 50},
	)
	want := map[string]float64{
		"work.frames": 2, "work.measures": 1, "work.layouts": 2, "work.draws": 2, "work.inflations": 1, "work.recompositions": 1, "work.transactions": 2,
	}
	if got, doubt := read(t, text, app); !maps.Equal(got, want) || doubt != "" {
		t.Errorf("%v, %q, want %v", got, doubt, want)
	}
	if got, doubt := read(t, text, 60); len(got) > 0 || doubt != "" {
		t.Errorf("of an app that wrote nothing: %v, %q", got, doubt)
	}
}

// A count that the kernel reports for no process is unknown, and 0 if it reports others.
func TestWhatTheKernelTellsOfNobodyIsUnknown(t *testing.T) {
	t.Parallel()
	draws := done{tid: app, text: "B|40|draw"}
	if got, _ := read(t, traced(false, draws), app); got["work.draws"] != 1 || len(got) != 6 {
		t.Errorf("%v, want six metrics and no transactions", got)
	}
	if got, _ := read(t, traced(false, draws, done{tid: 50}), app); len(got) != 7 || got["work.transactions"] != 0 {
		t.Errorf("%v, want no transactions beside another app's", got)
	}
	if got := work.Events(); !slices.Contains(got, "binder/binder_transaction") {
		t.Errorf("a trace is to be asked for %v", got)
	}
}

func TestLostEventsAreTold(t *testing.T) {
	t.Parallel()
	if got, doubt := read(t, traced(true, done{tid: app, text: "B|40|draw"}), app); len(got) > 0 || doubt == "" {
		t.Errorf("%v, %q, want it to say that some are lost", got, doubt)
	}
}

// Syncs by any thread of the app count, on each file system, whether the thread's process is known
// from a list, from its beginning or from its end; other apps' do not. Perfetto's trace_processor
// counts the same except for threads known by their end.
func TestSyncsOfAllThreadsAreCounted(t *testing.T) {
	t.Parallel()
	const listed, born, ended, other = 41, 42, 43, 51
	tree := message(nil)
	for _, pid := range []int64{app, 50} {
		tree = tree.In(field.ProcessTreeProcesses, message(nil).Num(field.TreeProcessPID, pid).Text(field.TreeProcessCmdline, fmt.Sprint("p", pid))).
			In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, pid+1).Num(field.TreeThreadTGID, pid))
	}
	const thread = 0x10000 // CLONE_THREAD
	at, bundle := int64(0), message(nil).Num(field.BundleCPU, 0)
	add := func(tid int64, kind protowire.Number, body message) {
		at += 1e6
		bundle = bundle.In(field.BundleEvent, message(nil).Num(field.EventTimestamp, at).Num(field.EventPID, tid).In(kind, body))
	}
	add(app, field.EventPrint, message(nil).Text(field.PrintBuf, "B|40|draw\n"))
	add(app, field.EventTaskNewtask, message(nil).Num(field.NewTaskPID, born).Text(field.NewTaskComm, "worker").Num(field.NewTaskCloneFlags, thread))
	for _, tid := range []int64{app, listed, listed, born, ended, other} {
		add(tid, field.EventF2fsSyncFileEnter, nil)
	}
	add(listed, field.EventExt4SyncFileEnter, nil)
	add(listed, field.EventF2fsSyncFileExit, nil)
	add(ended, field.EventSchedProcessExit, message(nil).Num(2, ended).Num(3, app)) // pid and tgid
	packet := func(m message) message {
		return message(nil).In(field.TracePacket, m.Num(field.PacketTrustedPacketSequenceID, 1))
	}
	text := append(packet(message(nil).Num(field.PacketTimestamp, 1).In(field.PacketProcessTree, tree)), packet(message(nil).In(field.PacketFtraceEvents, bundle))...)
	if got, doubt := read(t, text, app); got["work.syncs"] != 6 || doubt != "" {
		t.Errorf("%v, %q, want 6 of the app's 6", got, doubt)
	}
	if got, _ := read(t, traced(false, done{tid: app, text: "B|40|draw"}), app); len(got) != 6 {
		t.Errorf("%v, want none of a kernel that tells of none", got)
	}
	path := filepath.Join(t.TempDir(), "syncs.pftrace")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs := tablestest.Query(t, path, "select count(*) as n from ftrace_event join thread using (utid) join process using (upid) where ftrace_event.name glob '*_sync_file_enter' and pid = 40")
	if len(theirs) != 1 || theirs[0]["n"] != "5" { // whose an ended thread was, it does not read
		t.Errorf("trace_processor counts %v, want 5", theirs)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(traced(false, done{tid: app, text: "B|40|draw"}, done{tid: app}))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, doubt, err := count(bytes.NewReader(text), func(int) bool { return true })
		if err != nil {
			return
		}
		for name, n := range got {
			if n < 0 || n > float64(len(text)) || doubt != "" {
				t.Errorf("%s is %g, %q", name, n, doubt)
			}
		}
	})
}
