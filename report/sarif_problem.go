package report

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// Problem is a finding that somebody should look at, told once for all the runs
// that show it. Its texts are plain and fit on one line.
type Problem struct {
	Scenario, Event, Metric string // as the verdict has them; Event is "" for the whole run
	Method                  string // the method that explains it, where the problem is a method
	Worse                   bool   // a regression; otherwise a deviation that is not confirmed
	Title                   string // "open-message after E2: frames rendered"
	Text                    string // what, where, how much, how sure
	// Fingerprint names the problem across runs: the same app, scenario, event
	// and metric have the same one.
	Fingerprint string
}

// Problems are the report's regressions and suspicions, the gravest first.
// After-effects are left out: their cause is in the list.
func Problems(in Input) []Problem {
	var out []Problem
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

// methodProblems are the methods that explain why a scenario takes more energy,
// each once, as the run that matters most has it.
func methodProblems(in Input) []Problem {
	var out []Problem
	seen := map[string]bool{}
	for _, r := range energyOf(in).Runs {
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
				Title: name(r.Scenario) + ": energy of " + methodName(shortName(m.Name), 60), Text: methodLine(m) + "; " + energySource(r.Source),
				Fingerprint: mark,
			})
		}
	}
	return out
}

func (f finding) problemTitle() string {
	title := name(f.Scenario)
	if f.Event != "" {
		title += " after " + name(eventTitle(f.Event))
	}
	return title + ": " + name(f.Metric.Title)
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
