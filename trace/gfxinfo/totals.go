package gfxinfo

import (
	"github.com/apkgate/apkgate/trace/jank"
)

// Source is the source of a dump's totals.
type Source string

// The sources of totals, the best first.
const (
	FromSummary   Source = "summary"       // the summary blocks of processes (or windows)
	FromRows      Source = "rows"          // framestats rows, or the older table
	FromPackages  Source = "graphicsstats" // the packages of graphicsstats
	FromHierarchy Source = "hierarchy"     // the view hierarchy's counts (Android 4)
	FromNothing   Source = "none"
)

// Totals returns the metrics of the whole dump under the catalogue's names, and their source.
func (d Dump) Totals() (map[string]float64, Source) {
	if blocks := d.summaries(); len(blocks) > 0 {
		return sum(blocks).Metrics(), FromSummary
	}
	if rows := d.Rows(); len(rows) > 0 {
		return Metrics(rows, jank.Display{}), FromRows
	}
	if len(d.Packages) > 0 {
		blocks := make([]Stats, len(d.Packages))
		for i, p := range d.Packages {
			blocks[i] = p.Stats
		}
		return sum(blocks).Metrics(), FromPackages
	}
	if n, ok := d.rendered(); ok {
		return map[string]float64{"frames.count": float64(n)}, FromHierarchy
	}
	return map[string]float64{}, FromNothing
}

// OfPackage returns graphicsstats' counts of a package, over all days and versions that it keeps.
func (d Dump) OfPackage(name string) (out Stated) {
	for _, p := range d.Packages {
		if p.Name == name {
			out.Total += p.Stats.Total
			out.Janky += p.Stats.Janky
		}
	}
	return out
}

// summaries returns the blocks that add up to the dump's totals: one per process (its windows' if
// it has none). Among several dumps of one process with the same start the last counts, since its
// counters include the earlier.
func (d Dump) summaries() []Stats {
	type key struct {
		pid        int
		name       string
		window, id string
		since      int64
	}
	var out []Stats
	index := map[key]int{}
	add := func(k key, s *Stats) {
		if s == nil {
			return
		}
		k.since = s.Since
		if i, seen := index[k]; seen {
			out[i] = *s
			return
		}
		index[k] = len(out)
		out = append(out, *s)
	}
	for _, p := range d.Processes {
		if p.Stats != nil {
			add(key{pid: p.PID, name: p.Name}, p.Stats)
			continue
		}
		for _, w := range p.Windows {
			add(key{p.PID, p.Name, w.Name, w.ID, 0}, w.Stats)
		}
	}
	return out
}

// Rows returns the frames of all windows in the order of the file, including those that do not
// count. A window without framestats rows is represented by the older table. A frame in several
// dumps is returned once.
func (d Dump) Rows() []Frame {
	var rec Recording
	var out []Frame
	for _, p := range d.Processes {
		out = append(out, rec.take(p)...)
	}
	return out
}

func (d Dump) rendered() (n int, stated bool) {
	for _, p := range d.Processes {
		for _, w := range p.Windows {
			if w.Rendered >= 0 {
				n, stated = n+w.Rendered, true
			}
		}
	}
	return n, stated
}
