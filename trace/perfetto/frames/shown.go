package frames

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

// InOrder returns the frames with their indices in Frames, in chronological order.
func (r *Reader) InOrder() iter.Seq2[int, *Frame] {
	return spill.InOrder(&r.Frames, func(f *Frame) int64 { return int64(f.At) })
}

// Shown reports for each app's frame the display's frame that shows it, by their indices in Frames:
// the first that begins after it with the token that it names. They come in the order in which they
// were shown.
func (r *Reader) Shown(tell func(app, display int32)) {
	if !r.display {
		return // nothing is shown, so nothing needs to wait for it
	}
	waiting := map[int64][]int32{}
	waits := 0
	for place, f := range r.InOrder() {
		switch {
		case !f.Actual:
		case !f.Surface:
			for _, app := range waiting[f.Token] {
				tell(app, int32(place))
				waits--
			}
			delete(waiting, f.Token)
		case r.file.Room("frames that wait to be shown", waits, maxOpen):
			waiting[f.Display] = append(waiting[f.Display], int32(place))
			waits++
		}
	}
}
