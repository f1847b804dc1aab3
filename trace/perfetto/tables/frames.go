package tables

import (
	"iter"
	"strconv"

	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// frameColumns are those of expected_frame_timeline_slice and
// actual_frame_timeline_slice. track_type tells which of both a row is of; the columns
// behind surface_frame_token are of actual frames alone.
var frameColumns = []string{
	"track_type", "ts", "dur", "pid", "name", "layer_name", "display_frame_token", "surface_frame_token",
	"jank_type", "on_time_finish", "present_type", "prediction_type", "gpu_composition", "jank_tag", "jank_severity_type",
}

func readFrames(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	r := frames.New(f)
	spilling(keep, &r.Frames)
	if err := in(f, r); err != nil {
		return nil, err
	}
	again(f, r)
	if r.Malformed > 0 {
		f.Warnings.Counted(0, r.Malformed,
			"%d event of the frame timeline lacks a number that each has: it is left out",
			"%d events of the frame timeline lack a number that each has: they are left out")
	}
	if r.Unpaired > 0 {
		f.Warnings.Counted(0, r.Unpaired,
			"%d frame ends that did not begin in the trace: it is left out",
			"%d frames end that did not begin in the trace: they are left out")
	}
	return func(yield func([]any) bool) {
		row := make([]any, len(frameColumns))
		for _, one := range r.InOrder() {
			frameRow(one, r.Layers, row)
			if !yield(row) {
				return
			}
		}
	}, nil
}

// again warns of frames that may be listed twice.
func again(f *packets.File, r *frames.Reader) {
	if r.Again > 0 {
		f.Warnings.Counted(0, r.Again,
			"what is expected of %d frame is told long after that of later ones: it may be listed twice",
			"what is expected of %d frames is told long after that of later ones: they may be listed twice")
	}
}

func frameRow(f *frames.Frame, layers []string, row []any) {
	clear(row)
	row[0] = "android_expected_frame_timeline"
	row[1], row[2], row[3], row[4] = int64(f.At), open(f.For), int64(f.PID), strconv.FormatInt(f.Token, 10)
	row[6] = f.Display
	if f.HasLayer {
		row[5] = layers[f.Layer]
	}
	if f.Surface {
		row[7] = f.Token
	}
	if !f.Actual {
		return
	}
	row[0] = "android_actual_frame_timeline"
	row[8], row[9], row[10], row[11] = f.JankType(), flag(f.OnTime), f.PresentType(), f.PredictionType()
	row[12], row[13], row[14] = flag(f.GPU), f.JankTag(), f.SeverityType()
}
