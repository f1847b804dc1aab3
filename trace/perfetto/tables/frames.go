package tables

import (
	"iter"
	"strconv"

	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// frameRow is a frame.
type frameRow struct {
	*frames.Frame
	layers []string
}

// frameColumns are the columns of expected_frame_timeline_slice and actual_frame_timeline_slice.
// track_type shows which of the two a row is of; the columns after surface_frame_token are of
// actual frames only.
var frameColumns = []column[*frameRow]{
	always("track_type", func(r *frameRow) string { kind, _ := frameTrack(r.Frame); return kind }),
	always("ts", func(r *frameRow) int64 { return int64(r.At) }),
	always("dur", func(r *frameRow) int64 { return open(r.For) }),
	always("pid", func(r *frameRow) int64 { return int64(r.PID) }),
	always("name", func(r *frameRow) string { return strconv.FormatInt(r.Token, 10) }),
	some("layer_name", func(r *frameRow) (string, bool) { return r.layers[r.Layer], r.HasLayer }),
	always("display_frame_token", func(r *frameRow) int64 { return r.Display }),
	some("surface_frame_token", func(r *frameRow) (int64, bool) { return r.Token, r.Surface }),
	some("jank_type", func(r *frameRow) (string, bool) { return actual(r, r.JankType) }),
	some("on_time_finish", func(r *frameRow) (int64, bool) { return flag(r.OnTime), r.Actual }),
	some("present_type", func(r *frameRow) (string, bool) { return actual(r, r.PresentType) }),
	some("prediction_type", func(r *frameRow) (string, bool) { return actual(r, r.PredictionType) }),
	some("gpu_composition", func(r *frameRow) (int64, bool) { return flag(r.GPU), r.Actual }),
	some("jank_tag", func(r *frameRow) (string, bool) { return actual(r, r.JankTag) }),
	some("jank_severity_type", func(r *frameRow) (string, bool) { return actual(r, r.SeverityType) }),
}

// actual declares a column of actual frames only.
func actual(r *frameRow, of func() string) (string, bool) {
	if !r.Actual {
		return "", false
	}
	return of(), true
}

// frameTrack returns the type and the name of a frame's track.
func frameTrack(f *frames.Frame) (kind, name string) {
	if f.Actual {
		return "android_actual_frame_timeline", "Actual Timeline"
	}
	return "android_expected_frame_timeline", "Expected Timeline"
}

func readFrames(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*frameRow], error) {
	r := frames.New(f)
	spilling(keep, &r.Frames)
	if err := in(f, r); err != nil {
		return nil, err
	}
	again(f, r)
	if r.Malformed > 0 {
		f.Warnings.Counted(0, r.Malformed,
			"%d event of the frame timeline lacks a required number: it is left out",
			"%d events of the frame timeline lack a required number: they are left out")
	}
	if r.Unpaired > 0 {
		f.Warnings.Counted(0, r.Unpaired,
			"%d frame ends that did not begin in the trace: it is left out",
			"%d frames end that did not begin in the trace: they are left out")
	}
	row := &frameRow{layers: r.Layers}
	return each(r.InOrder(), row, func(_ int, one *frames.Frame) { row.Frame = one }), nil
}

// again warns of frames that may be listed twice.
func again(f *packets.File, r *frames.Reader) {
	if r.Again > 0 {
		f.Warnings.Counted(0, r.Again,
			"the expectation of %d frame comes long after later ones: it may be listed twice",
			"the expectations of %d frames come long after later ones: they may be listed twice")
	}
}
