package evaluation

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Format is the format and version of an evaluation as JSON
// (docs/format/evaluation.md).
const Format = "apkgate.evaluation/1"

// Report is the result of an evaluation.
type Report struct {
	Format string `json:"format"`
	Preset string `json:"preset"`
	Series int    `json:"series"`
	Draws  int    `json:"draws"`
	// Rounds describes how rounds were drawn.
	Rounds   string   `json:"rounds"`
	Rows     []Row    `json:"rows"`
	Warnings []string `json:"warnings"`
}

// Row is one answer. Shares are of all its checks.
type Row struct {
	Design         string  `json:"design"`
	AcrossSessions bool    `json:"across_sessions"`
	Metrics        int     `json:"metrics"`
	World          World   `json:"world,omitempty"` // absent where it is plain
	Rule           Rule    `json:"rule,omitempty"`  // absent where it is apkgate's
	Shift          float64 `json:"shift"`
	Checks         int     `json:"checks"`
	// Failed is the share of checks that are regressions, FailedLow and FailedHigh its
	// 95 % interval.
	Failed       float64 `json:"failed"`
	FailedLow    float64 `json:"failed_low"`
	FailedHigh   float64 `json:"failed_high"`
	Inconclusive float64 `json:"inconclusive"`
	// Named is the share in which the worsened metric is called a regression.
	Named float64 `json:"named"`
	// Repetitions are the head's own and both builds' in rounds, on average.
	Repetitions float64 `json:"repetitions"`
}

// outcome is the result of one check.
type outcome struct {
	failed, inconclusive, named bool
	repetitions                 int
	unmeasured                  bool // open, and no rounds could be drawn
}

// counts are those of a row's checks.
type counts struct{ checks, failed, inconclusive, named, repetitions, unmeasured int }

func (c *counts) add(o outcome) {
	c.checks++
	c.failed += count(o.failed)
	c.inconclusive += count(o.inconclusive)
	c.named += count(o.named)
	c.repetitions += o.repetitions
	c.unmeasured += count(o.unmeasured)
}

func (c counts) row(q Question) Row {
	of := float64(max(c.checks, 1))
	r := Row{
		Design: q.Design.String(), AcrossSessions: q.AcrossSessions, Metrics: max(q.Metrics, 1), World: q.World, Rule: q.Rule, Shift: q.Shift, Checks: c.checks,
		Failed: float64(c.failed) / of, Inconclusive: float64(c.inconclusive) / of, Named: float64(c.named) / of, Repetitions: float64(c.repetitions) / of,
	}
	if q.World == Plain {
		r.World = ""
	}
	if q.Rule == Apkgate {
		r.Rule = ""
	}
	r.FailedLow, r.FailedHigh = Interval(c.failed, c.checks)
	return r
}

// Interval returns the interval of the share of k of n at 95 % confidence, by Clopper and Pearson
// (1934): never narrower than that.
func Interval(k, n int) (low, high float64) {
	const tail = 0.025
	high = 1
	if n == 0 {
		return 0, 1
	}
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}

// warn reports which series a row could not use.
func (r *Report) warn(q Question, c counts, skipped, of int) {
	if skipped > 0 {
		r.add(fmt.Sprintf("%s%s: %d of %d series are too short for it and were left out", q.Design, acrossWords(q), skipped, of))
	}
	if c.unmeasured > 0 {
		r.add(fmt.Sprintf("%s%s: sessions of one repetition give no rounds; what the history left open there stays open", q.Design, acrossWords(q)))
	}
}

func acrossWords(q Question) string {
	if q.AcrossSessions {
		return " across sessions"
	}
	return ""
}

func (r *Report) add(warning string) {
	for _, w := range r.Warnings {
		if w == warning {
			return
		}
	}
	r.Warnings = append(r.Warnings, warning)
}
