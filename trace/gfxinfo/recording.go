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

// counters are of one process since one moment: the frames that Android
// counted, those that were in a dump, and those said to be lost.
type counters struct {
	since, total, seen, lost int64
}

// Added is what one dump brought.
type Added struct {
	// Frames are the new frames, window by window, those that do not count
	// among them. A frame that was still being drawn comes with a later dump.
	Frames []Frame
	// Lost is how many frames may have gone by unseen since the dump before:
	// what the summary's total grew by, less the rows that are new.
	Lost int
	// Full names the windows whose older table was full (120 rows): what was
	// drawn before them since the last dump is lost, and no one counts it.
	Full []string
}

// TableCapacity is the least number of rows at which an older table may have
// dropped frames: the ring holds 128 frames up to Android 4.4, 120 since.
const TableCapacity = 120

// Baseline takes note of the frames that a dump already holds: they are not of
// the recording. It is called on a dump made at the start.
func (r *Recording) Baseline(d Dump) { r.Add(d) }

// Add takes the next dump.
func (r *Recording) Add(d Dump) Added {
	var out Added
	if r.totals == nil {
		r.totals = map[processKey]counters{}
	}
	for _, p := range d.Processes {
		fresh := r.take(p)
		out.Frames = append(out.Frames, fresh...)
		out.Lost += r.lost(p, fresh)
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

// lost is what the process's total grew by beyond the fresh rows that Android
// counts in it. Android counts while it prints, so that one dump may be a frame
// ahead of its total: only what is missing over all dumps is lost.
func (r *Recording) lost(p Process, fresh []Frame) int {
	if p.Stats == nil {
		return 0
	}
	key := processKey{p.PID, p.Name}
	now := r.totals[key]
	if now.since != p.Stats.Since || now.total > p.Stats.Total {
		now = counters{since: p.Stats.Since} // reset in between, or a new process
	}
	now.total = p.Stats.Total
	for _, f := range fresh {
		if f.Flags&FlagSkipped == 0 {
			now.seen++
		}
	}
	missing := max(now.total-now.seen-now.lost, 0)
	now.lost += missing
	r.totals[key] = now
	return int(missing)
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
