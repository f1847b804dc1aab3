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

// sliceRow is a slice, or a frame in the form of one.
type sliceRow struct {
	id, ts, dur, depth int64
	name, category     string
	parent, track      int32 // less than 0 for none
	kind, trackName    string
	tid, pid           int64 // none if unknown
}

// sliceColumns are the columns of slice. track_type and track_name are those of the track that
// track_id refers to, tid and pid those of its thread or process.
var sliceColumns = []column[*sliceRow]{
	always("id", func(r *sliceRow) int64 { return r.id }),
	always("ts", func(r *sliceRow) int64 { return r.ts }),
	always("dur", func(r *sliceRow) int64 { return r.dur }),
	word("name", func(r *sliceRow) string { return r.name }),
	word("category", func(r *sliceRow) string { return r.category }),
	always("depth", func(r *sliceRow) int64 { return r.depth }),
	some("parent_id", func(r *sliceRow) (int64, bool) { return known(r.parent) }),
	some("track_id", func(r *sliceRow) (int64, bool) { return known(r.track) }),
	always("track_type", func(r *sliceRow) string { return r.kind }),
	word("track_name", func(r *sliceRow) string { return r.trackName }),
	some("tid", func(r *sliceRow) (int64, bool) { return r.tid, r.tid != none }),
	some("pid", func(r *sliceRow) (int64, bool) { return r.pid, r.pid != none }),
}

// none is no thread's or process's id: those have 32 bits.
const none = math.MinInt64

// flowColumns are the columns of flow: ids of slices.
var flowColumns = []column[*slices.Flow]{
	always("slice_out", func(r *slices.Flow) int64 { return int64(r.Out) }),
	always("slice_in", func(r *slices.Flow) int64 { return int64(r.In) }),
}

// sliceTable has slices and frames. Both are numbered in the order of their events: first all
// slices, then all frames.
type sliceTable struct {
	threads *threads.Tracker
	slices  *slices.Reader
	frames  *frames.Reader
	one     sliceRow // that is given
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

// frame returns the slice id of a frame, by its index.
func (t *sliceTable) frame(place int) int64 { return int64(t.slices.Slices.Len() + place) }

// readSlices yields slices in the order of their events, and each frame before the first slice that
// is later.
func readSlices(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*sliceRow], error) {
	t, err := readSliceTable(f, in, false, keep)
	return func(yield func(*sliceRow) bool) {
		next, stop := iter.Pull2(t.frames.InOrder())
		defer stop()
		place, frame, more := next()
		frames := func(before time.Duration) bool {
			for more && frame.At < before {
				if !yield(t.frameRow(place, frame)) {
					return false
				}
				place, frame, more = next()
			}
			return true
		}
		for place, s := range t.slices.Slices.All() {
			if !frames(s.At) || !yield(t.row(place, s)) {
				return
			}
		}
		frames(math.MaxInt64)
	}, err
}

// row returns a slice as a row, valid until the next call.
func (t *sliceTable) row(place int, s *slices.Slice) *sliceRow {
	track := &t.slices.Tracks[s.Track]
	t.one = sliceRow{
		id: int64(place), ts: int64(s.At), dur: open(s.For), depth: int64(s.Depth), name: t.slices.Names[s.Name], category: t.slices.Names[s.Category],
		parent: s.Parent, track: s.Track, kind: track.Type, trackName: track.Name, tid: none, pid: none,
	}
	process := track.Process
	if track.Thread >= 0 {
		thread := &t.threads.Threads[track.Thread]
		t.one.tid, process = int64(thread.TID), thread.Process
	}
	if process >= 0 {
		t.one.pid = int64(t.threads.Processes[process].PID)
	}
	return &t.one
}

// frameRow returns a frame as a slice. Its track is not among those of slices and has no id.
func (t *sliceTable) frameRow(place int, f *frames.Frame) *sliceRow {
	t.one = sliceRow{
		id: t.frame(place), ts: int64(f.At), dur: open(f.For), name: strconv.FormatInt(f.Token, 10),
		parent: -1, track: -1, tid: none, pid: int64(f.PID),
	}
	t.one.kind, t.one.trackName = frameTrack(f)
	return &t.one
}

// readFlows reads flows between slices, by their numbers in the table of slices, and then those
// of frames.
func readFlows(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*slices.Flow], error) {
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
	first := int32(t.slices.Slices.Len()) // the number of the first frame
	return func(yield func(*slices.Flow) bool) {
		for _, flow := range t.slices.Flows.All() {
			if !yield(flow) {
				return
			}
		}
		var row slices.Flow
		for _, flow := range shown.All() {
			if row.Out, row.In = first+flow.Out, first+flow.In; !yield(&row) {
				return
			}
		}
	}, nil
}
