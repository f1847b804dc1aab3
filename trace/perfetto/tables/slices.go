package tables

import (
	"iter"
	"sort"
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

// sliceTable has slices and frames, numbered as they began.
type sliceTable struct {
	threads *threads.Tracker
	slices  *slices.Reader
	frames  *frames.Reader
	order   []int32 // places of frames in the order of time
	behind  []int   // how many slices go before each of them
	rank    []int32 // where each frame is in that order
}

func readSliceTable(f *packets.File, in packets.Source, args bool, keep *lists) (*sliceTable, error) {
	t := &sliceTable{threads: threads.New(f), frames: frames.New(f)}
	t.slices = slices.New(f, t.threads)
	spilling(keep, &t.slices.Slices)
	spilling(keep, &t.slices.Flows)
	if args {
		t.slices.KeepArgs()
	}
	if err := in(f, t.threads, t.slices, t.frames); err != nil {
		return nil, err
	}
	f.Warnings.Counted(0, t.slices.Unread, "%d track event is of a kind that is not read (states, flows and samples of their own), or lacks the thread or the time that it needs: it is left out",
		"%d track events are of kinds that are not read (states, flows and samples of their own), or lack the thread or the time that they need: they are left out")
	unread(f)
	t.sort()
	return t, nil
}

// sort finds where each frame goes among the slices, which are in the order in which they were
// told of.
func (t *sliceTable) sort() {
	at := func(i int) time.Duration { return t.frames.Frames[i].At }
	t.order = inOrder(len(t.frames.Frames), at)
	t.behind = make([]int, 0, len(t.order))
	if len(t.order) > 0 {
		for place, s := range t.slices.Slices.All() {
			for len(t.behind) < len(t.order) && at(int(t.order[len(t.behind)])) < s.At {
				t.behind = append(t.behind, place)
			}
			if len(t.behind) == len(t.order) {
				break
			}
		}
	}
	for len(t.behind) < len(t.order) {
		t.behind = append(t.behind, t.slices.Slices.Len())
	}
	t.rank = make([]int32, len(t.order))
	for rank, place := range t.order {
		t.rank[place] = int32(rank)
	}
}

// number is that of a slice, by its place.
func (t *sliceTable) number(place int32) int64 {
	before, _ := sort.Find(len(t.behind), func(i int) int {
		if t.behind[i] > int(place) {
			return 0
		}
		return 1
	})
	return int64(int(place) + before)
}

// frame is the number of a frame, by its place.
func (t *sliceTable) frame(place int) int64 {
	rank := int(t.rank[place])
	return int64(rank + t.behind[rank])
}

func readSlices(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(sliceColumns))
		next := 0 // of the frames
		frames := func(behind int) bool {
			for ; next < len(t.order) && t.behind[next] <= behind; next++ {
				clear(row)
				row[0] = t.frame(int(t.order[next]))
				t.frameRow(row, &t.frames.Frames[t.order[next]])
				if !yield(row) {
					return false
				}
			}
			return true
		}
		for place, s := range t.slices.Slices.All() {
			if !frames(place) {
				return
			}
			clear(row)
			row[0] = int64(place + next)
			t.row(row, s)
			if !yield(row) {
				return
			}
		}
		frames(t.slices.Slices.Len())
	}, err
}

func (t *sliceTable) row(row []any, s *slices.Slice) {
	track := t.slices.Tracks[s.Track]
	row[1], row[2], row[3], row[4], row[5] = int64(s.At), open(s.For), text(t.slices.Names[s.Name]), text(t.slices.Names[s.Category]), int64(s.Depth)
	if s.Parent >= 0 {
		row[6] = t.number(s.Parent)
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
func readFlows(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, false, keep)
	return func(yield func([]any) bool) {
		row := make([]any, len(flowColumns))
		for _, flow := range t.slices.Flows.All() {
			row[0], row[1] = t.number(flow.Out), t.number(flow.In)
			if !yield(row) {
				return
			}
		}
		shown := t.frames.Shown()
		for app := range t.frames.Frames {
			display, known := shown[app]
			if !known {
				continue
			}
			row[0], row[1] = t.frame(app), t.frame(display)
			if !yield(row) {
				return
			}
		}
	}, err
}
