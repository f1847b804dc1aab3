package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
	"github.com/apkgate/apkgate/run"
)

// MaxJSON bounds in bytes a saved verdict that Read takes.
const MaxJSON = 256 << 20

// MaxEnergy bounds the runs whose energy a verdict tells as JSON: of the largest
// records they take some 25 MB.
const MaxEnergy = 20

// savedVerdict is a verdict as JSON, with where the energy of its runs went and what
// explains its findings.
type savedVerdict struct {
	gate.Verdict
	Energy []hotspots.Change `json:"energy,omitempty"`
	Causes []diagnose.Cause  `json:"causes,omitempty"`
}

// JSON writes the verdict as apkgate.verdict/1 (docs/format/verdict.md):
// indented, lists never null, ended by one newline. With it goes where the energy
// of its runs went, of the MaxEnergy ones that matter most, and what explains its
// findings. A number that JSON can't hold (infinite or not a number) is an error.
func JSON(w io.Writer, in Input) error {
	e := explainedRuns(in)
	return writeJSON(w, savedVerdict{withLists(in.Verdict), e.savedEnergy(), e.savedCauses()}, "verdict")
}

// withLists returns the verdict with its format set and [] for every missing
// list, so that readers need not know null.
func withLists(v gate.Verdict) gate.Verdict {
	v.Format = gate.Format
	v.Runs = slices.Clone(v.Runs)
	fill(&v.Runs)
	fill(&v.Rules)
	fill(&v.Warnings)
	for i := range v.Runs {
		r := &v.Runs[i]
		if r.Context == nil {
			r.Context = map[string]string{}
		}
		fill(&r.Labels)
		fill(&r.Reference)
		fill(&r.Deviations)
		fill(&r.Comparisons)
		fill(&r.Warnings)
	}
	return v
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// Read reads a verdict that JSON wrote, with its energy and its causes. Input beyond MaxJSON
// bytes, another format, an outcome or direction that the format does not know,
// energy and causes that can't be, and anything after the verdict are errors.
func Read(r io.Reader) (Input, error) {
	data, err := readAll(r)
	if err != nil {
		return Input{}, fmt.Errorf("read the verdict: %w", err)
	}
	in, err := decode(data)
	if err != nil {
		return Input{}, fmt.Errorf("read the verdict: %w", err)
	}
	return in, nil
}

func decode(data []byte) (Input, error) {
	var d savedVerdict
	if err := json.Unmarshal(data, &d); err != nil {
		return Input{}, where(err)
	}
	if err := errors.Join(validate(d.Verdict), validateEnergy(d.Energy), diagnose.Validate(d.Causes)); err != nil {
		return Input{}, err
	}
	for _, r := range d.Runs {
		clearNoIntervals(r.Deviations)
		clearNoIntervals(r.Comparisons)
	}
	return Input{Verdict: d.Verdict, Energy: d.Energy, Causes: readCauses(d.Causes, d.Energy)}, nil
}

// clearNoIntervals makes null of what verdicts wrote before null was written where
// there is no interval: 0 at both ends, which no interval of a check can have.
func clearNoIntervals(cs []gate.Comparison) {
	for i := range cs {
		if c := &cs[i]; c.Low != nil && c.High != nil && *c.Low == 0 && *c.High == 0 {
			c.Low, c.High = nil, nil
		}
	}
}

func validateEnergy(energy []hotspots.Change) error {
	if len(energy) > MaxEnergy {
		return fmt.Errorf("energy has %d entries, at most %d are allowed", len(energy), MaxEnergy)
	}
	for i, c := range energy {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("energy[%d].%w", i, err)
		}
	}
	return nil
}

// where adds to a JSON error the place that encoding/json knows but does not say.
func where(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s is a JSON %s, want %s", kind.Field, kind.Value, kind.Type)
	}
	return err
}

var (
	outcomes = []gate.Outcome{gate.Pass, gate.Improvement, gate.Inconclusive, gate.Regression, gate.Invalid}

	directions = []gate.Direction{gate.None, gate.ToRegression, gate.ToImprovement, gate.Suspect}
)

func validate(v gate.Verdict) error {
	if v.Format != gate.Format {
		return fmt.Errorf("format is %q, want %q", words.Clip(v.Format, 60), gate.Format)
	}
	if err := knownOutcome(v.Verdict); err != nil {
		return err
	}
	if !(v.Level >= 0 && v.Level < 1) {
		return fmt.Errorf("level is %g, want at least 0 and less than 1", v.Level)
	}
	for i, r := range v.Runs {
		if err := validateRun(r); err != nil {
			return fmt.Errorf("runs[%d].%w", i, err)
		}
	}
	return nil
}

func validateRun(r gate.RunVerdict) error {
	if err := knownOutcome(r.Verdict); err != nil {
		return err
	}
	if len(r.Context) > run.MaxContext {
		return fmt.Errorf("context has %d properties, at most %d are allowed", len(r.Context), run.MaxContext)
	}
	for field, list := range map[string][]gate.Comparison{"deviations": r.Deviations, "comparisons": r.Comparisons} {
		for i, c := range list {
			if err := knownDirection(c.Direction); err != nil {
				return fmt.Errorf("%s[%d].%w", field, i, err)
			}
		}
	}
	return nil
}
