package tables

import (
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// The columns of slice and flow. track_type and track_name are those of the track that
// track_id refers to, tid and pid those of its thread or process.
var (
	sliceColumns = []string{"id", "ts", "dur", "name", "category", "depth", "parent_id", "track_id", "track_type", "track_name", "tid", "pid"}
	flowColumns  = []string{"slice_out", "slice_in"}
)

// sliceTable has slices and frames. Both are numbered as they were told of: first all slices,
// then all frames.
type sliceTable struct {
	threads *threads.Tracker
	slices  *slices.Reader
	frames  *frames.Reader
}

func readSliceTable(f *packets.File, in packets.Source, args bool, keep *lists) (*sliceTable, error) {
	t := &sliceTable{threads: threads.New(f), frames: frames.New(f)}
	t.slices = slices.New(f, t.threads)
	spilling(keep, &t.slices.Slices)
	spilling(keep, &t.slices.Flows)
	spilling(keep, &t.frames.Frames)
	readers := []packets.Reader{t.threads, t.slices, t.frames}
	if args { // frames have none
		readers = readers[:2]
		spilling(keep, &t.slices.Args)
		keep.texts(&t.slices.ArgTexts)
		t.slices.KeepArgs()
	}
	if err := in(f, readers...); err != nil {
		return nil, err
	}
	f.Warnings.Counted(0, t.slices.Unread, "%d track event is of a kind that is not read (states, flows and samples of their own), or lacks the thread or the time that it needs: it is left out",
		"%d track events are of kinds that are not read (states, flows and samples of their own), or lack the thread or the time that they need: they are left out")
	again(f, t.frames)
	unread(f)
	return t, nil
}

// frame is the number of a frame, by its place.
func (t *sliceTable) frame(place int) int64 { return int64(t.slices.Slices.Len() + place) }

// readSlices reads slices in the order in which they were told of, and each frame before the first
// of them that is later.
func readSlices(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(sliceColumns))
		next, stop := iter.Pull2(t.frames.InOrder())
		defer stop()
		place, frame, more := next()
		frames := func(before time.Duration) bool {
			for more && frame.At < before {
				clear(row)
				row[0] = t.frame(place)
				t.frameRow(row, frame)
				if !yield(row) {
					return false
				}
				place, frame, more = next()
			}
			return true
		}
		for place, s := range t.slices.Slices.All() {
			if !frames(s.At) {
				return
			}
			clear(row)
			row[0] = int64(place)
			t.row(row, s)
			if !yield(row) {
				return
			}
		}
		frames(math.MaxInt64)
	}, err
}

func (t *sliceTable) row(row []any, s *slices.Slice) {
	track := t.slices.Tracks[s.Track]
	row[1], row[2], row[3], row[4], row[5] = int64(s.At), open(s.For), text(t.slices.Names[s.Name]), text(t.slices.Names[s.Category]), int64(s.Depth)
	if s.Parent >= 0 {
		row[6] = int64(s.Parent)
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

// readFlows reads flows between slices, by their numbers in the table of slices, and then those
// of frames.
func readFlows(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false, keep)
	if err != nil {
		return nil, err
	}
	var shown spill.List[slices.Flow]
	spilling(keep, &shown)
	t.frames.Shown(func(app, display int32) {
		if f.Room("flows", shown.Len(), shown.Most(slices.MaxRows)) {
			shown.Add(slices.Flow{Out: app, In: display})
		}
	})
	return func(yield func([]any) bool) {
		row := make([]any, len(flowColumns))
		for _, flow := range t.slices.Flows.All() {
			row[0], row[1] = int64(flow.Out), int64(flow.In)
			if !yield(row) {
				return
			}
		}
		for _, flow := range shown.All() {
			row[0], row[1] = t.frame(int(flow.Out)), t.frame(int(flow.In))
			if !yield(row) {
				return
			}
		}
	}, nil
}
