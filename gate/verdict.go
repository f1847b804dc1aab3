// Package gate holds the words of a verdict: what can be said of a run and of a
// comparison, how grave each is, by which policy it is judged, and the parts of its
// reasons. It is pure. A verdict is made in the packages below it and nowhere else:
// history checks runs against what was accepted (by the past, or by dune as the
// paper does), sidebyside compares two builds, drift tells what creeps, explain in
// which contexts outliers arise. Renderers show it, exit statuses follow from it,
// nothing changes it.
//
// It takes a stand: a doubt is an answer. Where the history is too small or a
// run is not whole, the verdict is Inconclusive or Invalid and says what would
// settle it; it is never a pass by default.
//
// The reasons are in docs/design/gate.md.
package gate

import "github.com/apkgate/apkgate/run"

// Format is the format and version of a verdict as JSON (docs/format/verdict.md).
const Format = "apkgate.verdict/1"

// Verdict is what the gate says of the runs that it was asked about.
type Verdict struct {
	Format  string  `json:"format"`
	Verdict Outcome `json:"verdict"`
	Preset  string  `json:"preset"`
	// Level is the confidence of each interval by itself, such as 0.95; 0 where
	// the preset has none.
	Level float64      `json:"level,omitempty"`
	Runs  []RunVerdict `json:"runs"`
	// Lost says what is not here of what was to be measured or compared with, and why; ""
	// where all is. Rest is what the runs that are here came to, "" where all is here.
	Lost string  `json:"lost,omitempty"`
	Rest Outcome `json:"rest,omitempty"`
	// FailOn is the outcome from which the verdict fails what asked for it; "" is FailRegression.
	FailOn FailOn `json:"fail_on,omitempty"`
	// Rules tell in which contexts the outliers arise (paper, section 5.4).
	Rules []Rule `json:"rules"`
	// Everywhere says that all runs of several contexts are worse; "" where they are not.
	Everywhere string `json:"everywhere,omitempty"`
	// Accepted are the accepted runs that the runs were compared with, by their contexts:
	// what rules are mined from beside the runs themselves. It is no part of the JSON.
	Accepted []Accepted `json:"-"`
	// RulesTotal counts the rules where the list is cut at MaxRules; 0 where it is whole.
	RulesTotal int `json:"rules_total,omitempty"`
	// Unlisted counts the comparisons that no run lists; none where all are listed.
	Unlisted []Unlisted    `json:"unlisted,omitempty"`
	Warnings []run.Warning `json:"warnings"`
}

// Accepted is how many accepted runs there are in one context, of the properties that
// rules are made of.
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
	// Repetitions is how often the run repeats its scenario.
	Repetitions int `json:"repetitions,omitempty"`
	// Labels are the paper's class labels: "Outlier-" (worse), "Outlier+"
	// (better), prefixed with the event in the fine-grained mode; "N" where
	// there is none.
	Labels []string `json:"labels"`
	// Reference is the history that the run was compared with, most similar
	// first; ReferenceTotal counts it where the list is cut at MaxListed.
	Reference      []Reference `json:"reference"`
	ReferenceTotal int         `json:"reference_total"`
	// Deviations are the comparisons that were flagged, gravest first.
	Deviations []Comparison `json:"deviations"`
	// DeviationsTotal counts them where the list is cut; 0 where it is whole.
	DeviationsTotal int `json:"deviations_total,omitempty"`
	// Comparisons are all that were made, flagged or not, unless the verdict has
	// too many of them (see maxComparisons).
	Comparisons []Comparison `json:"comparisons"`
	// ComparisonsTotal counts them where the list is cut; 0 where it is whole.
	ComparisonsTotal int `json:"comparisons_total,omitempty"`
	// Work is what was counted of the app's work that is clearly more than accepted runs, or
	// the base build in rounds, let expect, where nobody asked for it to be judged. It has no
	// say in the verdict, and is not shown to be the cause of anything.
	Work []Comparison `json:"work,omitempty"`
	// Rounds is how far the rounds beside the base build went; nil where none were measured.
	Rounds *RoundsMeasured `json:"rounds,omitempty"`
	// Missing is what the run has lost of what accepted runs or the rounds of the base
	// build have: a metric, an event, most of its frames. Such a run never passes, whatever
	// the rest of it shows.
	Missing string `json:"missing,omitempty"`
	// Reason says in one sentence why the verdict is what it is.
	Reason string `json:"reason"`
	// Hint says what the reader can do about it, "" where there is nothing to do.
	Hint     string        `json:"hint,omitempty"`
	Warnings []run.Warning `json:"warnings"`
}

// MaxListed bounds the references listed in a verdict and the history values
// kept for a picture.
const MaxListed = 200

// Reference is one historical run as the new run sees it.
type Reference struct {
	ID string `json:"id"`
	// Similarity is √N of the N context properties that both share (paper,
	// section 5.3.1).
	Similarity float64 `json:"similarity"`
	// Weight is the similarity over the sum of all (section 5.3.2).
	Weight float64 `json:"weight"`
	// Cluster ranks the similarity: 1 is the most similar.
	Cluster int `json:"cluster"`
}

// Comparison is one number of the new run beside the history's.
type Comparison struct {
	Event     string    `json:"event"` // "" for the whole run
	Metric    string    `json:"metric"`
	Direction Direction `json:"direction"`
	Value     float64   `json:"value"`
	// Q1, Q3: quartiles of what the run was compared with. Lower, Upper: the
	// fences, Q1 and Q3 less and plus the outlier factor times Q3-Q1.
	Q1    float64 `json:"q1"`
	Q3    float64 `json:"q3"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// N counts the values behind the quartiles.
	N int `json:"n"`
	// Expected is the history's centre for a run in this context; Change is
	// Value/Expected-1 (0 where Expected is 0 or may be below it).
	Expected float64 `json:"expected"`
	Change   float64 `json:"change"`
	// Low and High bound the change: its confidence interval at the policy's
	// level, as fractions like Change. Both are nil where it can't be told.
	Low  *float64 `json:"change_low"`
	High *float64 `json:"change_high"`
	// P is the probability of a deviation at least this large by chance, after
	// the correction for multiplicity; 1 where it was not worked out.
	P float64 `json:"p"`
	// Together counts the runs of the check that show the deviation together,
	// where P is theirs; 0 where P is this run's alone.
	Together int `json:"together,omitempty"`
	// Screen says what the history alone can tell: Cleared or Open; "" where it was not asked.
	Screen Screen `json:"screen,omitempty"`
	// Missed is the chance that a worsening by the policy's MinEffect would look as good
	// as this; nil where the history can't tell.
	Missed *float64 `json:"missed,omitempty"`
	// Shown says that the comparison has no say of its own in the verdict: it is an event's or
	// a number's that the whole run's few deciding numbers stand for, or that the history can't
	// judge. It fails the run only where there is no doubt.
	Shown bool `json:"shown,omitempty"`
	// Effect is the worsening that is excluded where the comparison is cleared, as a share of a
	// mean (see metric.Metric.Span); 0 where nothing was asked.
	Effect float64 `json:"effect,omitempty"`
	// Common counts the scenarios of the session that share a deviation which this comparison
	// is judged with, on behalf of all; 0 where it is judged by itself.
	Common int `json:"common,omitempty"`
	// Known is what the history knows of the number, for rounds. It is no part of the JSON.
	Known Known `json:"-"`
	// Rounds is what rounds beside the base build say where the history left it open;
	// nil where none were measured. Direction rests on them then.
	Rounds *RoundsOf `json:"rounds,omitempty"`
	// Since is the first run of the present level, where the history had another before;
	// "" where it had none.
	Since string `json:"since,omitempty"`
	// Detectable is the worsening, as a share of Expected, of which nine of ten builds
	// would have shown: not been cleared, and looked worse; 0 where there was too little to
	// tell.
	Detectable float64 `json:"detectable,omitempty"`
	// AfterEffectOf names the flagged event just before this one, where the
	// deviation is no more than what that one leaves behind (paper, section 8.4).
	AfterEffectOf string `json:"after_effect_of,omitempty"`
	// Enough estimates how many like runs would settle a Suspect; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Limit is the absolute budget that Value breaks; nil where it breaks none.
	Limit *float64 `json:"limit,omitempty"`
	// Sample are the history's values, at most MaxListed of them, for pictures.
	Sample []float64 `json:"sample,omitempty"`
}

// Rule is a class association rule: runs with these context properties tend to
// bear this label.
type Rule struct {
	If         map[string]string `json:"if"`
	Same       map[string]string `json:"same,omitempty"` // properties that the very same runs have
	Then       string            `json:"then"`
	Support    float64           `json:"support"`    // share of all runs that have both
	Confidence float64           `json:"confidence"` // share of the runs with If that have Then
	Lift       float64           `json:"lift"`       // confidence over the share of Then
	Count      int               `json:"count"`      // runs that have both
}
