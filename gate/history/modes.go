package history

import (
	"slices"

	"github.com/apkgate/apkgate/gate/past"
)

// fewestOfAMode is how many of the context's own runs make a mode: one bad run
// that was accepted by mistake excuses nothing.
const fewestOfAMode = 2

// seenBefore is the chance of a value like this one by what the own context's runs
// have shown: k of n lie as far on its side, or short of it by no more than the
// noise, and the next of their kind does with a chance of (k+1)/(n+1), whatever
// the distribution. A phone that puts the work on its small cores one time of six
// has a second mode, which fences and scale take for outliers. 0 for metrics that
// have no modes, and where too few runs were like it.
func (j *judgement) seenBefore() float64 {
	if !j.metric.Modes || j.evidence.Kind != past.OwnContext {
		return 0
	}
	own := j.own
	m, k := j.evidence.Moments, 0
	for _, v := range own {
		if (j.x > m.Mean && v >= j.x-m.SD) || (j.x < m.Mean && v <= j.x+m.SD) {
			k++
		}
	}
	if k < fewestOfAMode {
		return 0
	}
	return float64(k+1) / float64(len(own)+1)
}

// beyondModes is how far above the mean (below, where sign is -1) a value has to
// lie for seenBefore not to excuse it at that level.
func (j *judgement) beyondModes(sign, level float64) float64 {
	own := j.own
	if !j.metric.Modes || j.evidence.Kind != past.OwnContext || (fewestOfAMode+1)/float64(len(own)+1) <= level {
		return 0
	}
	sorted := slices.Sorted(slices.Values(own))
	at := sorted[len(sorted)-fewestOfAMode]
	if sign < 0 {
		at = sorted[fewestOfAMode-1]
	}
	m := j.evidence.Moments
	return sign*(at-m.Mean) + m.SD
}
