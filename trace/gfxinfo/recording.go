package gfxinfo

// Recording merges successive dumps of one app into one sequence of frames. A dump of framestats
// lists the last 120 frames of each window, so successive dumps overlap: a frame is identified by
// its process and its times. The older table lists the frames drawn since the previous dump, so all
// of its rows are new. The zero Recording is ready for use.
//
// It remembers half a million frames, more than an hour of a 120 Hz display; beyond that, only
// those of the last dump.
type Recording struct {
	seen        map[frameKey]bool
	totals      map[processKey]counters
	resetCounts Stated // counts lost when counters were reset
}

type processKey struct {
	pid  int
	name string
}

// frameKey identifies a frame. Two windows may draw for the same vsync, but one thread draws them
// in succession; equal rows below two windows are one frame.
type frameKey struct {
	process                   processKey
	intended, sync, completed int64
}

// counters are Android's counts of one process since one start, now and before the recording.
type counters struct {
	since       int64
	now, before Stated
}

// Stated are Android's own counts.
type Stated struct{ Total, Janky int64 }

func (s Stated) plus(o Stated) Stated { return Stated{s.Total + o.Total, s.Janky + o.Janky} }

func (s Stated) less(o Stated) Stated { return Stated{s.Total - o.Total, s.Janky - o.Janky} }

// Added is the result of adding one dump.
type Added struct {
	// Frames lists the new frames by window, including those that do not count. A frame that was
	// still being drawn comes with a later dump.
	Frames []Frame
	// Full names the windows whose older table was full (120 rows): frames drawn before these rows
	// since the last dump are lost and not counted.
	Full []string
}

// TableCapacity is the number of rows from which an older table may have dropped frames: the ring
// holds 128 frames up to Android 4.4, 120 since.
const TableCapacity = 120

// Baseline records the frames that a dump already has, which precede the recording. It is called
// with a dump made at the start.
func (r *Recording) Baseline(d Dump) {
	r.Add(d)
	for key, c := range r.totals {
		c.before = c.now
		r.totals[key] = c
	}
}

// Stated returns what Android's summaries of all processes have counted since Baseline, including
// windows that were never in a dump.
func (r *Recording) Stated() Stated {
	out := r.resetCounts
	for _, c := range r.totals {
		out = out.plus(c.now).less(c.before)
	}
	return out
}

// Add adds the next dump.
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

// take returns the new frames of a process.
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
				continue // not complete yet, or not new
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

// count adds the counts in a process's summary.
func (r *Recording) count(p Process) {
	if p.Stats == nil {
		return
	}
	key := processKey{p.PID, p.Name}
	c := r.totals[key]
	if c.since != p.Stats.Since || c.now.Total > p.Stats.Total { // reset in between, or a new process
		r.resetCounts = r.resetCounts.plus(c.now).less(c.before)
		c = counters{since: p.Stats.Since}
	}
	c.now = Stated{p.Stats.Total, p.Stats.Janky}
	r.totals[key] = c
}

// maxSeen limits the frames that are remembered.
const maxSeen = 500_000

// forget drops the frames that the last dump no longer lists, if there are too many. It does not do
// so earlier, since a frame missing from one dump can be in the next.
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
