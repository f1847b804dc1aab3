package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
)

// Problem is a finding that somebody should look at, told once for all the runs
// that show it. Its texts are plain and fit on one line.
type Problem struct {
	// Scenario, Event and Metric are as the verdict has them; Event is "" for the whole
	// run, Metric for a run that is invalid.
	Scenario, Event, Metric string
	Method                  string // the method that explains it, where the problem is a method
	Worse                   bool   // a regression; otherwise a deviation that is not confirmed
	Title                   string // "open-message after E2: frames rendered"
	Text                    string // what, where, how much, how sure
	// Fingerprint names the problem across runs: the same app, scenario, event
	// and metric have the same one.
	Fingerprint string
}

// Problems are the report's invalid runs, regressions and suspicions, the gravest
// first. After-effects are left out: their cause is in the list.
func Problems(in Input) []Problem {
	out := invalidProblems(in.Verdict)
	for _, f := range findings(in.Verdict, in.catalogue()) {
		if f.AfterEffectOf != "" || (f.Direction != gate.ToRegression && f.Direction != gate.Suspect) {
			continue
		}
		out = append(out, Problem{
			Scenario: f.Scenario, Event: f.Event, Metric: f.MetricName,
			Worse: f.Direction == gate.ToRegression, Title: f.problemTitle(), Text: f.sentence(in),
			Fingerprint: f.fingerprint(),
		})
	}
	return out
}

// invalidProblems are the scenarios of which a run is invalid, each with its
// reasons.
func invalidProblems(v gate.Verdict) []Problem {
	byScenario := map[string]*Problem{}
	var order []string
	for _, r := range v.Runs {
		why := words.Sentence(r.Reason)
		if r.Verdict != gate.Invalid {
			continue
		}
		p := byScenario[r.Scenario]
		if p == nil {
			p = &Problem{
				Scenario: r.Scenario, Worse: true, Title: words.Name(r.Scenario) + ": invalid", Text: why,
				Fingerprint: digest("invalid", r.App.Package, r.Scenario),
			}
			byScenario[r.Scenario] = p
			order = append(order, r.Scenario)
		}
		if !strings.Contains(p.Text, why) && len(p.Text) < 1000 {
			p.Text += "; " + why
		}
	}
	out := make([]Problem, len(order))
	for i, scenario := range order {
		out[i] = *byScenario[scenario]
	}
	return out
}

// methodProblems are the methods that explain why a scenario takes more energy,
// each once, as the run that matters most has it.
func methodProblems(in Input) []Problem { return explainingMethods(energyOf(in)) }

func explainingMethods(energy energyStory) []Problem {
	var out []Problem
	seen := map[string]bool{}
	for _, r := range energy.Runs {
		if !r.Deviates || r.unexplained() {
			continue
		}
		for _, m := range r.Explaining() {
			mark := digest("method", r.Scenario, m.Name, m.File)
			if m.Local.ChangeJ() <= 0 || seen[mark] {
				continue
			}
			seen[mark] = true
			out = append(out, Problem{
				Scenario: r.Scenario, Metric: "energy.total_j", Method: m.Name,
				Title: words.Name(r.Scenario) + ": energy of " + words.Method(words.ShortMethod(m.Name), 60), Text: methodLine(m) + "; " + energySource(r.Source),
				Fingerprint: mark,
			})
		}
	}
	return out
}

// abProblems are what the head of a comparison is worse in, of each scenario the
// gravest first, and of scenarios the worse ones.
func abProblems(in ABInput) []Problem {
	var worse, suspect []Problem
	for _, s := range in.Verdict.Scenarios {
		if s.Verdict == gate.Invalid {
			worse = append(worse, Problem{
				Scenario: s.Scenario, Worse: true, Title: words.Name(s.Scenario) + ": invalid", Text: words.Sentence(s.Reason),
				Fingerprint: digest("invalid", in.Verdict.Head.App.Package, s.Scenario),
			})
		}
		for _, d := range s.Deviations() {
			m, _ := in.Catalogue.Lookup(d.Metric)
			p := Problem{
				Scenario: s.Scenario, Event: d.Event, Metric: d.Metric, Worse: d.Direction == gate.ToRegression,
				Title: problemTitle(s.Scenario, d.Event, m), Text: in.abSentence(s, d, m),
				Fingerprint: digest(in.Verdict.Head.App.Package, s.Scenario, d.Event, d.Metric),
			}
			switch d.Direction {
			case gate.ToRegression:
				worse = append(worse, p)
			case gate.Suspect:
				suspect = append(suspect, p)
			}
		}
	}
	return append(worse, suspect...)
}

// abSentence says how much the head differs, where, and how sure that is.
func (in ABInput) abSentence(s sidebyside.Scenario, d sidebyside.Comparison, m metric.Metric) string {
	shift, at := d.Shown(), d.ShownIn()
	text := "base " + words.Value(m, shift.Base) + ", head " + words.Value(m, shift.Head)
	if at >= 0 && at < len(s.Contexts) {
		text += " on " + words.Clip(words.Context(s.Contexts[at].Context), 100)
	}
	if shift.Limit != nil {
		return text + "; beyond the limit of " + words.Value(m, *shift.Limit)
	}
	text += " (" + words.Shift(m, shift.Shift, shift.Change)
	if shift.HasInterval() {
		text += ", " + words.Percent(in.Verdict.Level) + " interval " + words.FromTo(words.Shift(m, *shift.ShiftLow, *shift.ChangeLow), words.Shift(m, *shift.ShiftHigh, *shift.ChangeHigh))
	}
	return text + "); p " + words.P(shift.P)
}

func (f finding) problemTitle() string { return problemTitle(f.Scenario, f.Event, f.Metric) }

func problemTitle(scenario, event string, m metric.Metric) string {
	title := words.Name(scenario)
	if event != "" {
		title += " after " + words.Name(words.Event(event))
	}
	return title + ": " + words.Name(m.Title)
}

// fingerprint is a digest of what a finding is about, not of its numbers.
func (f finding) fingerprint() string {
	return digest(f.Hits[0].Run.App.Package, f.Scenario, f.Event, f.MetricName)
}

// digest is 32 hexadecimal digits of what a problem is about.
func digest(about ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Place is a line of a file of the repository.
type Place struct {
	Path string // from the repository's root, with slashes
	Line int    // from 1; 0 where only the file is known
}

// Places are where each scenario is written down; the entry "" is for those that
// have none.
type Places map[string]Place

// Of is the place of a scenario; the zero Place where nothing is known.
func (p Places) Of(scenario string) Place {
	if at, ok := p[scenario]; ok {
		return at
	}
	return p[""]
}

// Headline is the report's first line, plain: the verdict, what it rests on, and
// how sure it is.
func Headline(in Input) string {
	s := tell(in)
	return s.Word + ": " + s.oneLine()
}
