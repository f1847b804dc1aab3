package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// The paper's counts of an app that does not respond (slow and frozen frames, ANRs, and a system
// that does not respond), as metrics. Slow frames are derived from the ratio of the others.
const (
	smoothRatio  = "frames.smooth_ratio"
	slowFrames   = "frames.slow"
	frozenFrames = "frames.frozen"
	systemStalls = "snr.count"
)

// news names rare events that neither accepted runs nor the base build had, whatever the rest of
// the verdict is, and in how many repetitions they occurred; "" where there are none. The
// headline's finding is left out.
func news(in Input, told *finding) string {
	var parts []string
	for i := range in.Verdict.Runs {
		r := &in.Verdict.Runs[i]
		for _, metric := range newIn(in, r) {
			if told != nil && told.MetricName == metric && told.Scenario == r.Scenario {
				continue
			}
			parts = append(parts, happened(in, r, metric))
		}
	}
	slices.Sort(parts)
	if parts = slices.Compact(parts); len(parts) == 0 {
		return ""
	}
	return "; new: " + prose.Few(parts, 3)
}

// newIn returns the metrics of what is new in a run as a whole. SNRs are not compared by default:
// they are new whenever they occur.
func newIn(in Input, r *gate.RunVerdict) []string {
	var out []string
	compared := false
	for _, c := range r.Comparisons {
		m, _ := in.catalogue().Lookup(c.Metric)
		compared = compared || c.Metric == systemStalls
		switch {
		case c.Event != "":
		case m.Mean && isNew(c):
			out = append(out, c.Metric)
		case c.Metric == smoothRatio && isFirstSlow(c):
			out = append(out, slowFrames)
		}
	}
	if n, _ := repetitionsWith(in, r.ID, systemStalls); n > 0 && !compared {
		out = append(out, systemStalls)
	}
	return out
}

// isNew reports whether a rare event occurs that never occurred before.
func isNew(c gate.Comparison) bool {
	if x := c.Rounds; x != nil && x.Rounds > 0 {
		return x.Base == 0 && x.Head > 0
	}
	return c.N > 0 && c.Expected == 0 && c.Value > 0
}

// isFirstSlow reports whether some frames are slow, where all were smooth in accepted runs and in
// the base build.
func isFirstSlow(c gate.Comparison) bool {
	if x := c.Rounds; x != nil && x.Rounds > 0 {
		return x.Base == 1 && x.Head < 1
	}
	return c.N > 0 && c.Expected == 1 && c.Lower == 1 && c.Value < 1
}

// happened describes what is new in a run: "frozen frames in scroll (10 of 10 repetitions)".
func happened(in Input, r *gate.RunVerdict, metric string) string {
	m, _ := in.catalogue().Lookup(metric)
	text := wording.Name(m.Title) + " in " + wording.Name(r.Scenario)
	if n, all := repetitionsWith(in, r.ID, metric); n > 0 {
		text += fmt.Sprintf(" (%d of %s)", n, prose.Count(all, "repetition", "repetitions"))
	}
	return text
}

// repetitionsWith counts the repetitions of a run in which the metric is above 0, and all.
func repetitionsWith(in Input, id, metric string) (n, all int) {
	i := slices.IndexFunc(in.Runs, func(r run.Run) bool { return r.ID == id })
	if i < 0 {
		return 0, 0
	}
	for _, it := range in.Runs[i].Iterations {
		if it.Metrics[metric] > 0 {
			n++
		}
	}
	return n, len(in.Runs[i].Iterations)
}

// takenByFreeze says that frames are missing because others froze, or the app did not respond:
// fewer frames are then a symptom, which is reported with the cause. It is "" otherwise.
func takenByFreeze(in Input) string {
	var parts []string
	for i := range in.Verdict.Runs {
		r := &in.Verdict.Runs[i]
		found := newIn(in, r)
		by := ""
		switch {
		case r.Missing == "":
		case slices.Contains(found, frozenFrames):
			by = "a frozen frame takes the time in which they would have been drawn"
		case slices.ContainsFunc(found, func(metric string) bool { return metric == "anr.count" || metric == systemStalls }):
			by = "none is drawn while the app does not respond"
		}
		if _, fewer, ok := strings.Cut(r.Missing, ": "); ok && by != "" && strings.Contains(r.Missing, gate.FewerThanHalf) {
			parts = append(parts, fewer+"; "+by)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return wording.Sentence(prose.Few(slices.Compact(parts), 2))
}
