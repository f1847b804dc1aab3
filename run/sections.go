package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
)

// section is an optional part of a record in addition to the measurements.
type section struct {
	name     string
	validate func() error
}

// sections returns those that the run has.
func (r Run) sections() (out []section) {
	if r.Energy != nil {
		out = append(out, section{"energy", r.Energy.validate})
	}
	if r.Frames != nil {
		out = append(out, section{"frames", r.Frames.validate})
	}
	for i, a := range r.ANRs {
		out = append(out, section{fmt.Sprintf("anrs[%d]", i), a.validate})
	}
	if r.Tasks != nil {
		out = append(out, section{"tasks", r.Tasks.validate})
	}
	if r.MethodTraces != nil {
		out = append(out, section{"method_traces", r.MethodTraces.validate})
	}
	for i, e := range r.Evidence {
		out = append(out, section{fmt.Sprintf("evidence[%d]", i), e.validate})
	}
	if r.Judged != nil {
		out = append(out, section{"judged", r.Judged.Check})
	}
	return out
}

func (r Run) validateSections() error {
	if err := atMost("anrs", len(r.ANRs), MaxANRs); err != nil {
		return err
	}
	if err := atMost("evidence", len(r.Evidence), MaxEvidence); err != nil {
		return err
	}
	for _, s := range r.sections() {
		if err := s.validate(); err != nil {
			return fmt.Errorf("%s.%w", s.name, err)
		}
	}
	return nil
}

// rawSections are the undecoded sections.
type rawSections struct {
	Energy       json.RawMessage `json:"energy"`
	Frames       json.RawMessage `json:"frames"`
	ANRs         json.RawMessage `json:"anrs"`
	Tasks        json.RawMessage `json:"tasks"`
	MethodTraces json.RawMessage `json:"method_traces"`
	Evidence     json.RawMessage `json:"evidence"`
	Judged       json.RawMessage `json:"judged"`
}

// checkNulls returns an error for null where a number or a text belongs.
func (s rawSections) checkNulls() error {
	for _, part := range []struct {
		name string
		data json.RawMessage
	}{{"energy", s.Energy}, {"frames", s.Frames}, {"anrs", s.ANRs}, {"tasks", s.Tasks}, {"method_traces", s.MethodTraces}, {"evidence", s.Evidence}, {"judged", s.Judged}} {
		if hasNull(part.data) {
			return fmt.Errorf("%s has a null; what was not measured is left out", part.name)
		}
	}
	return nil
}

// first returns the first of several errors: a record is rejected for one reason at a time.
func first(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()[0]
	}
	return err
}

func atMost(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%s has %d entries, at most %d are allowed", what, n, most)
	}
	return nil
}

// word returns an error for a text that is no word of the formats.
func word(what, s string) error {
	if !isWord(s) {
		return fmt.Errorf("%s is %q, want a word of up to 32 lower-case letters, digits and hyphens", what, prose.Short(s))
	}
	return nil
}

func texts(what string, values ...string) error {
	for _, s := range values {
		if err := checkText(s); err != nil {
			return fmt.Errorf("%s %w", what, err)
		}
	}
	return nil
}

func counts(what string, values ...int) error {
	for _, n := range values {
		if n < 0 {
			return fmt.Errorf("%s is %d, want 0 or more", what, n)
		}
	}
	return nil
}

func times(what string, values ...float64) error {
	if err := amounts(values...); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	return nil
}

// repetition returns an error for a number that is no iteration: from least, which is 1, or 0 where
// none is allowed.
func repetition(n, least int) error {
	if n < least || n > MaxIterations {
		return fmt.Errorf("repetition is %d, want %d to %d", n, least, MaxIterations)
	}
	return nil
}

// reference returns an error for a text that is no digest of a kept file; "" refers to none.
func reference(digest string) error {
	if digest != "" && !isDigest(digest) {
		return fmt.Errorf("evidence is %q, want the 64 lower-case hexadecimal digits of a SHA-256", prose.Short(digest))
	}
	return nil
}

func within(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s.%w", what, err)
}

// Numbers returns roughly how many values a run contains, as a measure of its memory.
func (r Run) Numbers() int {
	n := len(r.Evidence)
	for _, it := range r.Iterations {
		n += len(it.Metrics) + len(it.Frames)
		for _, e := range it.Events {
			n += 1 + len(e.Metrics)
		}
	}
	if r.Energy != nil && r.Energy.Methods != nil {
		n += len(r.Energy.Methods.List) + len(r.Energy.Methods.Calls)
	}
	if r.Frames != nil {
		for _, g := range r.Frames.Groups {
			n += 1 + len(g.Repetitions) + (len(g.Stages)+len(g.Waits)+len(g.Path))*MaxQuantiles
			for _, p := range slices.Concat(g.Waits, g.Path) {
				n += len(p.RepetitionsMS)
			}
		}
		for _, l := range slices.Concat(r.Frames.Worst, r.Frames.Usual) {
			n += 1 + len(l.Stages) + len(l.Waits) + len(l.Path)
		}
		for _, v := range r.Frames.Views {
			n += 1 + len(v.Hidden)
		}
	}
	for _, a := range r.ANRs {
		n += 1 + len(a.Features) + len(a.Threads)*MaxStack
	}
	if r.Tasks != nil {
		for _, g := range r.Tasks.Groups {
			n += 1 + len(g.Context) + len(g.WaitedFor) + 2*MaxQuantiles + len(g.Repetitions) + len(g.QueuedMaxMS) + len(g.RanMaxMS)
			for _, l := range g.Longest {
				n += 1 + len(l.Ahead)
			}
		}
	}
	if r.MethodTraces != nil {
		n += len(r.MethodTraces.List) + len(r.MethodTraces.Windows)
		for _, c := range r.MethodTraces.Chains {
			n += 1 + 2*len(c.Methods)
		}
		for _, c := range r.MethodTraces.Tree {
			n += 1 + len(c.Repetitions) + len(c.RepetitionsMS)
		}
	}
	return n
}
