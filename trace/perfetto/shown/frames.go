package shown

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

// Of reports whether a layer with that name is drawn by a package: a window of one of its
// activities, whose title is PACKAGE/CLASS, or a surface in it. Names are "PACKAGE/CLASS#0",
// "SurfaceView - PACKAGE/CLASS#0" (to Android 11) and "SurfaceView[PACKAGE/CLASS](BLAST)#0". The
// splash screen of an app is the system's, and a popup or a toast has no package.
func Of(name, pkg string) bool {
	at := strings.Index(name, pkg+"/")
	return pkg != "" && (at == 0 || at > 0 && (name[at-1] == ' ' || name[at-1] == '[')) && !strings.HasPrefix(name, "Splash Screen")
}

// IsSurface reports whether the layer is that of a SurfaceView, which an app draws at any time; all
// others are windows, drawn at vsyncs.
func (l Layer) IsSurface() bool { return strings.HasPrefix(l.Name, "SurfaceView") }

// Still is the longest time without a new frame for something that moves. After a longer time it is
// unknown whether the app hung or had nothing to show.
const Still = jank.FrozenLimit

// Frames returns a layer's frames on a display with a period, by when they were queued.
//
// The duration of a frame is how long the one before it stayed on the screen, in whole periods. A
// frame is late if it comes half a period or more after it was due: in a window, which is drawn at
// each vsync while it moves, it is due one period after the one before; in a surface, after the
// distance of all but the fastest tenth of its frames, plus a period if that is two or more, as for
// films shown at another rate. It is also janky unless it was ready when the compositor should have
// taken it.
//
// The duration of the first frame after a pause is unknown: after Still, and after one of the
// events at which the layer was at rest.
func (l Layer) Frames(period time.Duration, events []time.Duration) []jank.Frame {
	period = steady(period)
	shown, out := l.split()
	pace := time.Duration(1)
	if l.IsSurface() {
		pace = l.pace(shown, period)
	}
	due := pace * period
	limit := due + period/2
	if pace > 1 {
		limit += period
	}
	for i, b := range shown {
		f := jank.Frame{At: b.began(), Took: jank.Unknown, Interval: period, First: i == 0}
		if i > 0 {
			before := shown[i-1]
			apart := b.Shown - before.Shown
			if apart <= Still && !rested(before.Shown+2*due, b.began(), events) {
				f.Took = max((apart+period/2)/period, 1) * period
				f.Due, f.Over = true, apart-limit
				f.Janky = jank.Shown(f.Over, b.ready(before, limit-period/2))
			}
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b jank.Frame) int { return cmp.Compare(a.At, b.At) })
	return out
}

// Period returns the display's period while the layers were drawn, given its stated period: an
// adaptive display may have had a shorter one than when it was queried. It is the distance of all
// but the fastest tenth of a layer's frames, if that is much less.
func (t Trace) Period(stated time.Duration) time.Duration {
	const least, few, shorter = 2 * time.Millisecond, 10, 4 // periods of less than 3/4
	out := stated
	for _, l := range t.Layers {
		shown, _ := l.split()
		if apart := apart(shown); len(apart) >= few {
			if tenth := apart[len(apart)/10]; tenth >= least && tenth < out-out/shorter {
				out = tenth
			}
		}
	}
	return out
}

// steady removes the excess that makes a period slightly longer than 1/60 s: a frame of one period
// is not slow.
func steady(period time.Duration) time.Duration {
	if d := period - jank.SlowLimit; d > -jank.SlowLimit/100 && d < jank.SlowLimit/100 {
		return jank.SlowLimit
	}
	return period
}

// split returns the buffers that were shown, by when, and the frames that were not: skipped, or not
// shown yet when the trace ended. The latter count, with an unknown duration.
func (l Layer) split() (shown []Buffer, others []jank.Frame) {
	for _, b := range l.Buffers {
		if b.Shown == None {
			others = append(others, jank.Frame{At: b.began(), Took: jank.Unknown})
		} else {
			shown = append(shown, b)
		}
	}
	slices.SortStableFunc(shown, func(a, b Buffer) int { return cmp.Compare(a.Shown, b.Shown) })
	return shown, others
}

// pace returns the distance of a surface's frames in periods: that of all but the fastest tenth for
// something that moves, so that only nine late ones in ten can hide.
func (l Layer) pace(shown []Buffer, period time.Duration) time.Duration {
	apart := apart(shown)
	if len(apart) == 0 {
		return 1
	}
	return max((apart[len(apart)/10]+period/2)/period, 1)
}

// apart returns the distances between shown buffers of something that moves, the shortest first.
func apart(shown []Buffer) (out []time.Duration) {
	for i := 1; i < len(shown); i++ {
		if d := shown[i].Shown - shown[i-1].Shown; d <= Still {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// rested reports whether one of the events came when nothing had been due for a while, and before a
// frame was begun: the frame that follows was not awaited before.
func rested(since, until time.Duration, events []time.Duration) bool {
	i, _ := slices.BinarySearch(events, since)
	return i < len(events) && events[i] <= until
}

// began returns the first known time of a buffer: usually when it was queued.
func (b Buffer) began() time.Duration {
	for _, at := range []time.Duration{b.Queued, b.Taken, b.Drawn} {
		if at != None {
			return at
		}
	}
	return b.Shown
}

// ready reports whether the buffer was queued and drawn when the compositor should have taken it:
// after the interval since it took the one before.
func (b Buffer) ready(before Buffer, after time.Duration) bool {
	return b.Queued != None && before.Taken != None && max(b.Queued, b.Drawn) <= before.Taken+after
}
