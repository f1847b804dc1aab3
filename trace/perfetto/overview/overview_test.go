package overview_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/overview"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

func every(string, int32) bool { return true }

// alone reads the processes of a trace of which nothing else is read.
func alone(raw []byte) ([]overview.Process, error) {
	along, processes := overview.Along(packets.Packets(bytes.NewReader(raw)))
	err := along(packets.New())
	return processes(every), err
}

// script is a trace of the kernel's events of one CPU.
type script struct{ bundle message }

func (s *script) event(ms float64, tid int64, kind protowire.Number, data message) {
	s.bundle = s.bundle.In(field.BundleEvent, message(nil).Num(field.EventTimestamp, int64(ms*1e6)).Num(field.EventPID, tid).In(kind, data))
}

func (s *script) prints(ms float64, tid int64, line string) {
	s.event(ms, tid, field.EventPrint, message(nil).Text(field.PrintBuf, line+"\n"))
}

func (s *script) slice(tid int64, name string, from, to float64) {
	s.prints(from, tid, "B|40|"+name)
	s.prints(to, tid, "E|40")
}

// turns lets the CPU change from one thread, which then sleeps, to another.
func (s *script) turns(ms float64, from, to int64) {
	s.event(ms, from, field.EventSchedSwitch, message(nil).Num(field.SchedSwitchPrevPID, from).Num(field.SchedSwitchPrevState, 1).
		Num(field.SchedSwitchNextPID, to).Text(field.SchedSwitchNextComm, fmt.Sprint("thread-", to)).Num(field.SchedSwitchNextPrio, 120))
}

func (s *script) bytes() []byte {
	return message(nil).In(field.TracePacket, message(nil).Num(field.PacketTrustedPacketSequenceID, 1).In(field.PacketFtraceEvents, s.bundle.Num(field.BundleCPU, 0)))
}

// started is a start of process 40 with its render thread 41, then so many frames of 16 ms each.
func started(frames int) []byte {
	var s script
	s.prints(1, 50, "S|50|launching: thread-40|1")
	s.turns(2, 0, 40)
	s.slice(40, "bindApplication", 3, 9)
	s.slice(40, "activityStart", 10, 14)
	s.slice(40, "activityResume", 14, 17)
	s.slice(40, "Choreographer#doFrame 1", 20, 28)
	s.turns(29, 40, 41)
	s.slice(41, "DrawFrames 1", 29, 34)
	s.turns(35, 41, 0)
	s.prints(40, 50, "F|50|launching: thread-40|1")
	for i := range frames {
		at := 50 + 16*float64(i)
		s.turns(at, 0, 40)
		s.slice(40, "Choreographer#doFrame 2", at+1, at+5)
		s.turns(at+6, 40, 41)
		s.slice(41, "DrawFrames 2", at+6, at+9)
		s.turns(at+10, 41, 0)
	}
	return s.bytes()
}

// The first frame is that after the start, with its draw, however many follow.
func TestStartBeforeManyFrames(t *testing.T) {
	t.Parallel()
	for _, frames := range []int{0, 300} {
		got, err := alone(started(frames))
		if err != nil || len(got) != 1 || len(got[0].Threads) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		const ms = time.Millisecond
		want := []overview.Part{
			{Name: overview.UntilBound, At: 0, For: 2 * ms}, {Name: overview.Bind, At: 2 * ms, For: 6 * ms}, {Name: overview.Start, At: 9 * ms, For: 4 * ms},
			{Name: overview.Resume, At: 13 * ms, For: 3 * ms}, {Name: overview.FirstFrame, At: 19 * ms, For: 14 * ms}, {Name: overview.Displayed, At: 0, For: 39 * ms},
		}
		if diff := cmp.Diff(want, got[0].Start); diff != "" {
			t.Errorf("with %d frames after it (-want +got):\n%s", frames, diff)
		}
		if main := got[0].Threads[0]; main.TID != 40 || main.Running != 27*ms+time.Duration(frames)*6*ms {
			t.Errorf("with %d frames: %+v", frames, main)
		}
	}
}

// A start in which the process is made has the time until then, by the launch if that is known, or
// begins with the process.
func TestStartWithItsProcess(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for launched, want := range map[bool][]overview.Part{
		true: {
			{Name: overview.UntilProcess, At: 0, For: 5 * ms}, {Name: overview.UntilBound, At: 5 * ms, For: 4 * ms}, {Name: overview.Bind, At: 9 * ms, For: 6 * ms},
			{Name: overview.Resume, At: 16 * ms, For: 3 * ms}, {Name: overview.Displayed, At: 0, For: 29 * ms},
		},
		false: {{Name: overview.UntilBound, At: 0, For: 4 * ms}, {Name: overview.Bind, At: 4 * ms, For: 6 * ms}, {Name: overview.Resume, At: 11 * ms, For: 3 * ms}},
	} {
		var s script
		if launched {
			s.prints(1, 50, "S|50|launching: thread-40|1")
		}
		s.event(6, 30, field.EventTaskNewtask, message(nil).Num(field.NewTaskPID, 40).Text(field.NewTaskComm, "thread-40").Num(field.NewTaskCloneFlags, 0))
		s.turns(7, 0, 40)
		s.slice(40, "bindApplication", 10, 16)
		s.slice(40, "activityResume", 17, 20)
		s.turns(25, 40, 0)
		if launched {
			s.prints(30, 50, "F|50|launching: thread-40|1")
		}
		got, err := alone(s.bytes())
		if err != nil || len(got) != 1 || !cmp.Equal(got[0].Start, want) {
			t.Errorf("launched %v: %+v, %v, want %v", launched, got, err, want)
		}
	}
}

// Of two starts the first one that is there counts, with nothing of the second one.
func TestStartsAreNotMixed(t *testing.T) {
	t.Parallel()
	var s script
	s.turns(1, 0, 40)
	s.slice(40, "activityResume", 2, 5) // the app came back
	s.slice(40, "Choreographer#doFrame 1", 7, 11)
	s.prints(20, 50, "S|50|launching: thread-40|1")
	s.slice(40, "bindApplication", 22, 24)
	s.slice(40, "activityStart", 24, 26)
	s.slice(40, "activityResume", 26, 27)
	s.turns(30, 40, 0)
	s.prints(31, 50, "F|50|launching: thread-40|1")
	got, err := alone(s.bytes())
	const ms = time.Millisecond
	if want := []overview.Part{{Name: overview.Resume, At: 0, For: 3 * ms}, {Name: overview.FirstFrame, At: 5 * ms, For: 4 * ms}}; err != nil || len(got) != 1 || !cmp.Equal(got[0].Start, want) {
		t.Errorf("%+v, %v, want %v", got, err, want)
	}
}

// Each of two apps has its own start, also where one begins within the other's.
func TestStartsOfTwoApps(t *testing.T) {
	t.Parallel()
	var s script
	s.prints(1, 50, "S|50|launching: thread-40|1")
	s.turns(2, 0, 40)
	s.prints(3, 40, "B|40|activityStart")
	s.prints(4, 50, "S|50|launching: thread-60|2")
	s.prints(5, 40, "E|40")
	s.turns(6, 40, 60)
	s.prints(7, 60, "B|60|activityStart")
	s.prints(9, 60, "E|60")
	s.turns(10, 60, 0)
	s.prints(11, 50, "F|50|launching: thread-40|1")
	s.prints(13, 50, "F|50|launching: thread-60|2")
	got, err := alone(s.bytes())
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string][]overview.Part{}
	for _, p := range got {
		starts[p.Name] = p.Start
	}
	const ms = time.Millisecond
	want := map[string][]overview.Part{
		"thread-40": {{Name: overview.Start, At: 2 * ms, For: 2 * ms}, {Name: overview.Displayed, At: 0, For: 10 * ms}},
		"thread-60": {{Name: overview.Start, At: 3 * ms, For: 2 * ms}, {Name: overview.Displayed, At: 0, For: 9 * ms}},
	}
	if diff := cmp.Diff(want, starts); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

// TestStartsOfTheCorpus compares starts with the slices that Perfetto's trace processor reads of the
// same traces (perfetto-tables): each part has that slice's time, counted from "launching: ".
func TestStartsOfTheCorpus(t *testing.T) {
	t.Parallel()
	const s, launched = time.Second, 157479798544912
	slow := []overview.Part{{Name: overview.UntilBound, At: 0, For: 75 * s}, {Name: overview.Bind, At: 75 * s, For: 2 * s}, {Name: overview.Start, At: 85 * s, For: s}, {Name: overview.Resume, At: 86 * s, For: s}, {Name: overview.Displayed, At: 0, For: 100 * s}}
	slower := append([]overview.Part{slow[0], {Name: overview.Bind, At: 75 * s, For: 10 * s}}, slow[2:]...)
	for _, c := range []struct {
		process string
		file    []string
		want    []overview.Part
	}{
		{"androidx.benchmark.integration.macrobenchmark.target", []string{"api32_startup_warm.perfetto-trace"}, []overview.Part{
			{Name: overview.Start, At: 157479806436473 - launched, For: 10195231}, {Name: overview.Resume, At: 157479816912018 - launched, For: 106506104},
			{Name: overview.FirstFrame, At: 157479929636953 - launched, For: 11661825}, // its draw ends before it
			{Name: overview.Displayed, At: 0, For: 144543213}, {Name: overview.FullyDrawn, At: 0, For: 157480431179759 - launched},
		}},
		{"com.google.android.calendar", []string{"diff_tests_generated", "metrics-startup__android_startup_breakdown.pftrace"}, slow},
		{"com.google.android.calendar", []string{"diff_tests_generated", "metrics-startup__android_startup_breakdown_slow.pftrace"}, slower},
	} {
		raw, err := os.ReadFile(corpustest.Path(t, append([]string{"perfetto"}, c.file...)...))
		if err != nil {
			t.Fatal(err)
		}
		all, err := alone(raw)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]overview.Part
		for _, p := range all {
			if p.Name == c.process {
				got = append(got, p.Start)
			}
		}
		if diff := cmp.Diff([][]overview.Part{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
	}
}

// Beside the frames of an app, processes are the same as alone, for every trace of the corpus.
func TestBesideFramesTheSame(t *testing.T) {
	t.Parallel()
	processes := 0
	err := filepath.WalkDir(corpustest.Path(t, "perfetto"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".out" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := alone(raw)
		if err != nil {
			return nil //nolint:nilerr // no trace of packets
		}
		along, result := overview.Along(packets.Packets(bytes.NewReader(raw)))
		if _, err := rendering.Read(along, rendering.App{Process: func(int) bool { return true }}); err != nil {
			return err
		}
		if diff := cmp.Diff(want, result(every)); diff != "" {
			t.Errorf("%s (-alone +beside frames):\n%s", path, diff)
		}
		processes += len(want)
		return nil
	})
	if err != nil || processes < 100 {
		t.Errorf("%d processes, %v", processes, err)
	}
}

// Whatever is read, times are those of threads that ran, and parts take time.
func FuzzRead(f *testing.F) {
	f.Add(started(2))
	f.Add([]byte(message(nil).In(field.TracePacket, message(nil).In(field.PacketProcessTree, message(nil).
		In(field.ProcessTreeProcesses, message(nil).Num(field.TreeProcessPID, 40).Text(field.TreeProcessCmdline, "com.example.mail"))))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<20 {
			t.Skip("larger inputs take the same paths")
		}
		all, err := alone(raw)
		if err != nil {
			return
		}
		for _, p := range all {
			for _, one := range p.Threads {
				if one.Running <= 0 || one.Runnable < 0 || one.Sleeping < 0 || one.Uninterruptible < 0 {
					t.Errorf("%s: %+v", p.Name, one)
				}
			}
			for _, part := range p.Start {
				if part.For <= 0 || part.At < 0 {
					t.Errorf("%s: %+v", p.Name, part)
				}
			}
		}
	})
}
