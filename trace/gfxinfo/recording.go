package gfxinfo

// Recording merges successive dumps of one app into one sequence of frames.
// A dump of framestats holds the last 120 frames of each window, so that
// successive dumps overlap: a frame is told by its process and its times.
// The older table holds what was drawn since the dump before, so that all of
// its rows are new. The zero Recording is ready for use.
//
// It remembers half a million frames, more than an hour of a 120 Hz display;
// beyond that, only those of the last dump.
type Recording struct {
	seen   map[frameKey]bool
	totals map[processKey]counters
	past   Stated // of counters that were reset since
}

type processKey struct {
	pid  int
	name string
}

// frameKey tells frames apart. Two windows may draw for one vsync, but one
// thread draws them one after the other; the same row below two windows is one
// frame.
type frameKey struct {
	process                   processKey
	intended, sync, completed int64
}

// counters are of one process since one moment: what Android counted, and what of it
// was before the recording.
type counters struct {
	since       int64
	now, before Stated
}

// Stated is what Android counted.
type Stated struct{ Total, Janky int64 }

func (s Stated) plus(o Stated) Stated { return Stated{s.Total + o.Total, s.Janky + o.Janky} }

func (s Stated) less(o Stated) Stated { return Stated{s.Total - o.Total, s.Janky - o.Janky} }

// Added is what one dump brought.
type Added struct {
	// Frames are the new frames, window by window, those that do not count
	// among them. A frame that was still being drawn comes with a later dump.
	Frames []Frame
	// Full names the windows whose older table was full (120 rows): what was
	// drawn before them since the last dump is lost, and no one counts it.
	Full []string
}

// TableCapacity is the least number of rows at which an older table may have
// dropped frames: the ring holds 128 frames up to Android 4.4, 120 since.
const TableCapacity = 120

// Baseline takes note of the frames that a dump already holds: they are not of
// the recording. It is called on a dump made at the start.
func (r *Recording) Baseline(d Dump) {
	r.Add(d)
	for key, c := range r.totals {
		c.before = c.now
		r.totals[key] = c
	}
}

// Stated is what Android's summaries of all processes have counted since Baseline, also
// of windows that were never in a dump.
func (r *Recording) Stated() Stated {
	out := r.past
	for _, c := range r.totals {
		out = out.plus(c.now).less(c.before)
	}
	return out
}

// Add takes the next dump.
func (r *Recording) Add(d Dump) Added {
	var out Added
	if r.totals == nil {
		r.totals = map[processKey]counters{}
	}
	for _, p := range d.Processes {
		out.Frames = append(out.Frames, r.take(p)...)
		r.count(p)
		for _, w := range p.Windows {
			if len(w.Frames) == 0 && len(w.Table) >= TableCapacity {
				out.Full = append(out.Full, w.Name)
			}
		}
	}
	r.forget(d)
	return out
}

// take returns the frames of a process that were not seen before.
func (r *Recording) take(p Process) []Frame {
	if r.seen == nil {
		r.seen = map[frameKey]bool{}
	}
	var out []Frame
	for _, w := range p.Windows {
		if len(w.Frames) == 0 {
			out = append(out, w.Table...)
			continue
		}
		for _, f := range w.Frames {
			k := keyOf(p, f)
			if f.Flags&FlagSkipped == 0 && !f.Usable() || r.seen[k] {
				continue // not complete yet, or known
			}
			r.seen[k] = true
			out = append(out, f)
		}
	}
	return out
}

func keyOf(p Process, f Frame) frameKey {
	return frameKey{processKey{p.PID, p.Name}, f.IntendedVsync, f.SyncQueued, f.FrameCompleted}
}

// count takes what a process's summary states.
func (r *Recording) count(p Process) {
	if p.Stats == nil {
		return
	}
	key := processKey{p.PID, p.Name}
	c := r.totals[key]
	if c.since != p.Stats.Since || c.now.Total > p.Stats.Total { // reset in between, or a new process
		r.past = r.past.plus(c.now).less(c.before)
		c = counters{since: p.Stats.Since}
	}
	c.now = Stated{p.Stats.Total, p.Stats.Janky}
	r.totals[key] = c
}

// maxSeen bounds the frames that are remembered.
const maxSeen = 500_000

// forget drops the frames that the last dump no longer holds, where there are
// too many. Not before: a dump can lack what the next one holds again.
func (r *Recording) forget(d Dump) {
	if len(r.seen) <= maxSeen {
		return
	}
	kept := make(map[frameKey]bool, len(r.seen))
	for _, p := range d.Processes {
		for _, w := range p.Windows {
			for _, f := range w.Frames {
				if k := keyOf(p, f); r.seen[k] {
					kept[k] = true
				}
			}
		}
	}
	r.seen = kept
}
