package work_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

type message = tracetest.Message

const app = 40

// done is an event of a thread: what it writes, or, where that is empty, a transaction.
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

// count counts what the app's processes did in a trace.
func count(src io.ReadSeeker, of func(pid int) bool) (work.Counts, error) {
	r := work.New(of)
	lost, err := tracetest.Kernel(src, r)
	r.Lost = lost
	return r.Counts, err
}

func read(t *testing.T, text []byte, pid int) work.Counts {
	t.Helper()
	got, err := count(bytes.NewReader(text), func(one int) bool { return one == pid })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Each kind of work counts once under any version's name; what lies within it, answers,
// other threads' transactions and other apps' work don't.
func TestWorkIsCounted(t *testing.T) {
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
	if got, want := read(t, text, app), (work.Counts{Frames: 2, Measures: 1, Layouts: 2, Draws: 2, Inflations: 1, Recompositions: 1, Transactions: 2, Traced: true, Called: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := read(t, text, 60), (work.Counts{Called: true}); got != want {
		t.Errorf("of an app that did nothing: %+v, want %+v", got, want)
	}
}

func TestLostEventsAreTold(t *testing.T) {
	t.Parallel()
	if got := read(t, traced(true, done{tid: app, text: "B|40|draw"}), app); got.Lost == 0 {
		t.Errorf("%+v, want it to say that some are lost", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(traced(false, done{tid: app, text: "B|40|draw"}, done{tid: app}))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := count(bytes.NewReader(text), func(int) bool { return true })
		if err == nil && !got.Traced && got.Draws+got.Frames+got.Layouts > 0 {
			t.Errorf("%+v counts work that nobody wrote about", got)
		}
	})
}
