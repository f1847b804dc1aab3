// Package gate defines the verdict: the outcomes of a run and of a comparison and how grave each
// is, the policy by which they are judged, and the parts of their reasons. It is pure. Verdicts are
// made only in the packages below it: history checks runs against accepted runs (by past, or by
// dune as the paper does), sidebyside compares two builds, drift detects slow changes, explain
// finds the contexts in which outliers arise. Renderers show a verdict and exit statuses follow
// from it; nothing changes it.
//
// A doubt is an answer. Where the history is too small or a run is incomplete, the verdict is
// Inconclusive or Invalid and says what would settle it; it is never a pass by default.
//
// The reasons are in docs/design/gate.md.
package gate

import "github.com/apkgate/apkgate/run"

// Format is the format and version of a verdict as JSON (docs/format/verdict.md).
const Format = "apkgate.verdict/1"

// Verdict is the result of the gate for the runs of a check.
type Verdict struct {
	Format  string  `json:"format"`
	Verdict Outcome `json:"verdict"`
	Preset  string  `json:"preset"`
	// Level is the confidence of each interval by itself, such as 0.95; 0 where the preset has
	// none.
	Level float64      `json:"level,omitempty"`
	Runs  []RunVerdict `json:"runs"`
	// Lost describes what is missing of the planned measurements or comparisons, and why; "" where
	// nothing is. Rest is the outcome of the runs that are present, "" where none is missing.
	Lost string  `json:"lost,omitempty"`
	Rest Outcome `json:"rest,omitempty"`
	// FailOn is the least grave outcome that fails the build; "" is FailRegression.
	FailOn FailOn `json:"fail_on,omitempty"`
	// Rules are the contexts in which outliers arise (paper, section 5.4).
	Rules []Rule `json:"rules"`
	// Everywhere says that all runs of several contexts are worse; "" where they are not.
	Everywhere string `json:"everywhere,omitempty"`
	// Accepted are the accepted runs that the runs were compared with, by context. Rules are mined
	// from these and from the runs themselves. It is not part of the JSON.
	Accepted []Accepted `json:"-"`
	// RulesTotal counts the rules where the list is cut at MaxRules; 0 where it is complete.
	RulesTotal int `json:"rules_total,omitempty"`
	// Unlisted counts the comparisons that no run lists; empty where all are listed.
	Unlisted []Unlisted    `json:"unlisted,omitempty"`
	Warnings []run.Warning `json:"warnings"`
}

// Accepted counts the accepted runs of one context, by the properties that rules may use.
type Accepted struct {
	Context map[string]string
	Runs    int
}

// RunVerdict is the verdict on one run.
type RunVerdict struct {
	ID       string            `json:"id"`
	Verdict  Outcome           `json:"verdict"`
	App      run.App           `json:"app"`
	Scenario string            `json:"scenario"`
	Context  map[string]string `json:"context"`
	// Repetitions counts how often the run repeats its scenario.
	Repetitions int `json:"repetitions,omitempty"`
	// Labels are the paper's class labels: "Outlier-" (worse), "Outlier+"
	// (better), prefixed with the event in the fine-grained mode; "N" where
	// there is none.
	Labels []string `json:"labels"`
	// Reference is the history that the run was compared with, most similar first; ReferenceTotal
	// counts it where the list is cut at MaxListed.
	Reference      []Reference `json:"reference"`
	ReferenceTotal int         `json:"reference_total"`
	// Deviations are the flagged comparisons, gravest first.
	Deviations []Comparison `json:"deviations"`
	// DeviationsTotal counts them where the list is cut; 0 where it is complete.
	DeviationsTotal int `json:"deviations_total,omitempty"`
	// Comparisons are all comparisons made, flagged or not, unless there are too many (see
	// maxComparisons).
	Comparisons []Comparison `json:"comparisons"`
	// ComparisonsTotal counts them where the list is cut; 0 where it is complete.
	ComparisonsTotal int `json:"comparisons_total,omitempty"`
	// Work lists counts of the app's work that are clearly higher than in accepted runs, or than in
	// the base build's rounds, where they are not judged. It does not affect the verdict, and is
	// not shown to cause anything.
	Work []Comparison `json:"work,omitempty"`
	// Rounds is the progress of the rounds with the base build; nil where none were measured.
	Rounds *RoundsMeasured `json:"rounds,omitempty"`
	// Missing is what the run lacks that accepted runs or the base build's rounds have: a metric,
	// an event, most of its frames. Such a run never passes, whatever the rest of it shows.
	Missing string `json:"missing,omitempty"`
	// Reason gives the reason for the verdict in one sentence.
	Reason string `json:"reason"`
	// Hint is what the reader can do about it, "" for nothing.
	Hint     string        `json:"hint,omitempty"`
	Warnings []run.Warning `json:"warnings"`
}

// MaxListed limits the references listed in a verdict and the history values kept for a figure.
const MaxListed = 200

// Reference is one accepted run and its similarity to the new run.
type Reference struct {
	ID string `json:"id"`
	// Similarity is √N of the N context properties that both share (paper, section 5.3.1).
	Similarity float64 `json:"similarity"`
	// Weight is the similarity divided by the sum of all similarities (section 5.3.2).
	Weight float64 `json:"weight"`
	// Cluster ranks the similarity: 1 is the most similar.
	Cluster int `json:"cluster"`
}

// MostMissed is the largest chance with which a cleared comparison may hide a worsening by the
// policy's MinEffect.
const MostMissed = 0.02

// Comparison compares one number of the new run with the history.
type Comparison struct {
	Event     string    `json:"event"` // "" for the whole run
	Metric    string    `json:"metric"`
	Direction Direction `json:"direction"`
	Value     float64   `json:"value"`
	// Q1 and Q3 are the quartiles of the values that the run was compared with. Lower and Upper are
	// the fences: Q1 minus and Q3 plus the outlier factor times Q3-Q1.
	Q1    float64 `json:"q1"`
	Q3    float64 `json:"q3"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// N counts the values behind the quartiles.
	N int `json:"n"`
	// Expected is the history's centre for a run in this context; Change is Value/Expected-1 (0
	// where Expected is 0 or may be below it).
	Expected float64 `json:"expected"`
	Change   float64 `json:"change"`
	// Low and High are the ends of the change's confidence interval at the policy's level, as
	// fractions like Change. Both are nil where it is unknown.
	Low  *float64 `json:"change_low"`
	High *float64 `json:"change_high"`
	// P is the probability of a deviation at least this large by chance, after the correction for
	// multiplicity; 1 where it was not computed.
	P float64 `json:"p"`
	// Together counts the runs of the check that show the deviation together, where P is theirs; 0
	// where P is this run's alone.
	Together int `json:"together,omitempty"`
	// Screen is the result of screening by the history alone: Cleared or Open; "" where the number
	// was not screened.
	Screen Screen `json:"screen,omitempty"`
	// Missed is the chance that a worsening by the policy's MinEffect would look as good as this;
	// nil where the history can't tell.
	Missed *float64 `json:"missed,omitempty"`
	// Shown marks a comparison that does not decide the verdict: a number or an event that the few
	// deciding numbers of the whole run stand for, or that the history can't judge. It fails the
	// run only where there is no doubt.
	Shown bool `json:"shown,omitempty"`
	// Effect is the worsening that is excluded where the comparison is cleared, as a share of a
	// mean (see metric.Metric.Span); 0 where the number was not screened.
	Effect float64 `json:"effect,omitempty"`
	// Common counts the scenarios of the session that share a deviation which this comparison is
	// judged with, on behalf of all; 0 where it is judged by itself.
	Common int `json:"common,omitempty"`
	// Prior is what the history shows of the number, for rounds. It is not part of the JSON.
	Prior Prior `json:"-"`
	// Rounds is the result of rounds with the base build where the history left the number
	// undecided; nil where none were measured. Direction then follows from it.
	Rounds *RoundsComparison `json:"rounds,omitempty"`
	// Since is the first run of the present level, where the history had another before; "" where
	// it had none.
	Since string `json:"since,omitempty"`
	// Detectable is the worsening, as a share of Expected, that nine of ten builds would have
	// shown: not cleared, and looking worse; 0 where there was too little history.
	Detectable float64 `json:"detectable,omitempty"`
	// AfterEffectOf names the flagged event just before this one, where the deviation is no more
	// than an after-effect of that event (paper, section 8.4).
	AfterEffectOf string `json:"after_effect_of,omitempty"`
	// Enough estimates how many comparable runs would settle a Suspect; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Limit is the absolute budget that Value breaks; nil where it breaks none.
	Limit *float64 `json:"limit,omitempty"`
	// Sample are values of the history, at most MaxListed, for figures.
	Sample []float64 `json:"sample,omitempty"`
}

// Rule is a class association rule: runs with these context properties tend to have this label.
type Rule struct {
	If         map[string]string `json:"if"`
	Same       map[string]string `json:"same,omitempty"` // properties of exactly the same runs
	Then       string            `json:"then"`
	Support    float64           `json:"support"`    // share of all runs that have both
	Confidence float64           `json:"confidence"` // share of the runs with If that have Then
	Lift       float64           `json:"lift"`       // confidence over the share of Then
	Count      int               `json:"count"`      // runs that have both
}
