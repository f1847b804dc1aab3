package gfxinfo

import (
	"maps"
	"slices"

	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Packages are the statistics of ended processes that the system keeps, by package
// (GraphicsStatsService): dumpsys graphicsstats, since Android 7.
type Packages map[string]frameCounts

// Keep adds the statistics of a process that ends now, or is about to.
func (k Packages) Keep(ph Phone, pr *Process) {
	k[pr.Package] = k[pr.Package].plus(ph.counted(pr))
}

// counted returns the statistics of a process since they were reset.
func (ph Phone) counted(pr *Process) frameCounts {
	d := dump{api: ph.API, now: ph.Now, process: pr}
	return count(pr.each(pr.Layers, d.counted))
}

func (c frameCounts) plus(o frameCounts) frameCounts {
	if c.histogram == nil {
		return o
	}
	out := frameCounts{
		total: c.total + o.total, janky: c.janky + o.janky, legacy: c.legacy + o.legacy,
		types: maps.Clone(c.types), histogram: slices.Clone(c.histogram),
	}
	for t, n := range o.types {
		out.types[t] += n
	}
	for i, n := range o.histogram {
		out.histogram[i] += n
	}
	return out
}

// Packages prints the kept statistics and those of running processes. The system's own windows
// are always included.
func (ph Phone) Packages(c *shell.Call, kept Packages, running []*Process) int {
	all := maps.Clone(kept)
	if all == nil {
		all = Packages{}
	}
	for _, pr := range running {
		all[pr.Package] = all[pr.Package].plus(ph.counted(pr))
	}
	const system = "com.android.systemui"
	if _, known := all[system]; !known {
		all[system] = count([]*timeline.Frame{{}, {}, {}})
	}
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		d := dump{api: ph.API}
		d.f("\nPackage: %s\n", pkg)
		if ph.API >= 26 {
			d.f("Version: 1\n")
		}
		d.f("Stats since: %dns\n", 0)
		if ph.API >= 26 {
			d.f("Stats end: %dns\n", int64(ph.Now))
		}
		d.counts(all[pkg])
		c.Printf("%s", d.b)
	}
	return 0
}
