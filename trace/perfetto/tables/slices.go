package tables

import (
	"iter"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// The columns of slice and flow. track_type and track_name are those of the track that
// track_id refers to, tid and pid those of its thread or process.
var (
	sliceColumns = []string{"id", "ts", "dur", "name", "category", "depth", "parent_id", "track_id", "track_type", "track_name", "tid", "pid"}
	flowColumns  = []string{"slice_out", "slice_in"}
)

// sliceTable has slices and then frames, numbered in the order of time.
type sliceTable struct {
	threads *threads.Tracker
	slices  *slices.Reader
	frames  *frames.Reader
	order   []int32 // places by number
	numbers []int32 // numbers by place
}

func readSliceTable(f *packets.File, in packets.Source, args bool) (*sliceTable, error) {
	t := &sliceTable{threads: threads.New(f), frames: frames.New(f)}
	t.slices = slices.New(f, t.threads)
	if args {
		t.slices.KeepArgs()
	}
	if err := in(f, t.threads, t.slices, t.frames); err != nil {
		return nil, err
	}
	f.Warnings.Counted(0, t.slices.Unread, "%d track event is of a kind that is not read (states, flows and samples of their own), or lacks the thread or the time that it needs: it is left out",
		"%d track events are of kinds that are not read (states, flows and samples of their own), or lack the thread or the time that they need: they are left out")
	n := len(t.slices.Slices)
	unread(f)
	t.order = inOrder(n+len(t.frames.Frames), func(i int) time.Duration {
		if i < n {
			return t.slices.Slices[i].At
		}
		return t.frames.Frames[i-n].At
	})
	t.numbers = make([]int32, len(t.order))
	for number, place := range t.order {
		t.numbers[place] = int32(number)
	}
	return t, nil
}

func readSlices(f *packets.File, in packets.Source) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false)
	return func(yield func([]any) bool) {
		row := make([]any, len(sliceColumns))
		for id, place := range t.order {
			clear(row)
			row[0] = int64(id)
			if n := len(t.slices.Slices); int(place) < n {
				t.row(row, &t.slices.Slices[place])
			} else {
				t.frameRow(row, &t.frames.Frames[int(place)-n])
			}
			if !yield(row) {
				return
			}
		}
	}, err
}

func (t *sliceTable) row(row []any, s *slices.Slice) {
	track := t.slices.Tracks[s.Track]
	row[1], row[2], row[3], row[4], row[5] = int64(s.At), open(s.For), text(t.slices.Names[s.Name]), text(t.slices.Names[s.Category]), int64(s.Depth)
	if s.Parent >= 0 {
		row[6] = int64(t.numbers[s.Parent])
	}
	row[7], row[8], row[9] = int64(s.Track), track.Type, text(track.Name)
	process := track.Process
	if track.Thread >= 0 {
		thread := t.threads.Threads[track.Thread]
		row[10] = int64(thread.TID)
		process = thread.Process
	}
	if process >= 0 {
		row[11] = int64(t.threads.Processes[process].PID)
	}
}

// frameRow is a frame as a slice. Its track is not among those of slices and has no number.
func (t *sliceTable) frameRow(row []any, f *frames.Frame) {
	row[1], row[2], row[3], row[5] = int64(f.At), open(f.For), strconv.FormatInt(f.Token, 10), int64(0)
	row[8], row[9] = "android_expected_frame_timeline", "Expected Timeline"
	if f.Actual {
		row[8], row[9] = "android_actual_frame_timeline", "Actual Timeline"
	}
	row[11] = int64(f.PID)
}

// readFlows reads flows between slices, by their numbers in the table of slices.
func readFlows(f *packets.File, in packets.Source) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false)
	return func(yield func([]any) bool) {
		row := make([]any, len(flowColumns))
		for _, flow := range t.slices.Flows {
			row[0], row[1] = int64(t.numbers[flow.Out]), int64(t.numbers[flow.In])
			if !yield(row) {
				return
			}
		}
		n := len(t.slices.Slices)
		shown := t.frames.Shown()
		for app := range t.frames.Frames {
			display, known := shown[app]
			if !known {
				continue
			}
			row[0], row[1] = int64(t.numbers[n+app]), int64(t.numbers[n+display])
			if !yield(row) {
				return
			}
		}
	}, err
}
