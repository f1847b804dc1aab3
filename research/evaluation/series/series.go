// Package series is the file format of an evaluation's input: measurements of one thing on one
// device, repeated, of unchanged builds.
//
// A file that can be read in two ways is rejected, with the place and what is allowed there. The
// package doesn't know what the numbers are of, nor what is drawn.
package series

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Limits on a file.
const (
	MaxBytes  = 64 << 20
	MaxSeries = 10_000
	MaxValues = 1_000_000 // of all series together
)

// Series are the values of one thing on one device, in the order of time.
type Series struct {
	Name   string    `json:"name"`
	Device string    `json:"device"`
	Values []float64 `json:"values"`
	// Session names for each value the session that it was measured in; nil where all are of one.
	Session []string `json:"session,omitempty"`
	// Metric is the measured metric's name in apkgate's catalogue, which has its unit and
	// direction. "" is a number of which lower is better.
	Metric string `json:"metric,omitempty"`
}

// Read reads a file of series. An error names the place in it and what is allowed there.
func Read(r io.Reader) ([]Series, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the file is larger than %d MiB", MaxBytes>>20)
	}
	if elements(data) > mostElements { // before any of them takes memory
		return nil, fmt.Errorf("there are more than %d series, or more than %d values in all of them together", MaxSeries, MaxValues)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var entries []entry
	if err := dec.Decode(&entries); err != nil {
		return nil, explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the end of the list of series")
	}
	if len(entries) > MaxSeries {
		return nil, fmt.Errorf("there are %d series, at most %d are allowed", len(entries), MaxSeries)
	}
	out := make([]Series, len(entries))
	for i, e := range entries {
		if out[i], err = e.series(); err != nil {
			return nil, fmt.Errorf("series %d (%s): %w", i+1, prose.Short(e.Name), err)
		}
	}
	return out, Check(out)
}

// mostElements bounds the keys and elements of a file that is within the limits: a value
// and a session for each number, and for each series itself and five keys.
const mostElements = 2*MaxValues + 6*MaxSeries

// elements counts the commas outside of strings.
func elements(data []byte) int {
	n, quoted, escaped := 1, false, false
	for _, b := range data {
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case b == ',' && !quoted:
			n++
		}
	}
	return n
}

// entry is a series as it is written, in which null is neither a number nor a name.
type entry struct {
	Name    string     `json:"name"`
	Device  string     `json:"device"`
	Values  []*float64 `json:"values"`
	Session []*string  `json:"session"`
	Metric  string     `json:"metric"`
}

func (e entry) series() (Series, error) {
	s := Series{Name: e.Name, Device: e.Device, Metric: e.Metric}
	for i, v := range e.Values {
		if v == nil {
			return s, fmt.Errorf("value %d is null, want a number", i+1)
		}
		s.Values = append(s.Values, *v)
	}
	if e.Session != nil {
		s.Session = make([]string, 0, len(e.Session))
	}
	for i, name := range e.Session {
		if name == nil {
			return s, fmt.Errorf("session %d is null, want the name of one", i+1)
		}
		s.Session = append(s.Session, *name)
	}
	return s, nil
}

// form is what a file of series looks like.
const form = `[{"name":"…","device":"…","values":[…],"session":["…",…]}]`

func explain(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		where := kind.Field
		if where == "" {
			where = "the file"
		}
		return fmt.Errorf("%s at byte %d: want %s, got %s", where, kind.Offset, form, kind.Value)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the file is empty, want %s", form)
	}
	return fmt.Errorf("%w, want %s", err, form)
}

// Check returns an error for series that nothing can be drawn from.
func Check(all []Series) error {
	if len(all) == 0 {
		return errors.New("there is no series in the list, want at least one")
	}
	values := 0
	for i, s := range all {
		if err := s.check(); err != nil {
			return fmt.Errorf("series %d (%s): %w", i+1, prose.Short(s.Name), err)
		}
		if values += len(s.Values); values > MaxValues {
			return fmt.Errorf("there are more than %d values in all series together", MaxValues)
		}
	}
	return nil
}

func (s Series) check() error {
	switch {
	case s.Name == "":
		return errors.New(`"name" is empty, want a few words that tell it from the others`)
	case len(s.Name) > run.MaxText || len(s.Device) > run.MaxText:
		return fmt.Errorf("name or device is longer than %d bytes", run.MaxText)
	case len(s.Values) == 0:
		return errors.New(`there is no value in "values", want those of one thing in the order of time`)
	case s.Session != nil && len(s.Session) != len(s.Values):
		return fmt.Errorf("session names %d values of %d, want one name for each value, or no session at all", len(s.Session), len(s.Values))
	}
	if s.Metric != "" {
		if _, known := metric.Default().Lookup(s.Metric); !known {
			return fmt.Errorf("metric is %q, want one of the catalogue, such as energy.total_j, or none", prose.Short(s.Metric))
		}
	}
	for i, v := range s.Values {
		if math.Abs(v) > run.MaxValue {
			return fmt.Errorf("value %d is %g, want at most %g either way", i+1, v, run.MaxValue)
		}
	}
	return nil
}

// Positive reports whether every value is above zero, so that its noise can be multiplicative.
func (s Series) Positive() bool {
	for _, v := range s.Values {
		if v <= 0 {
			return false
		}
	}
	return true
}

// Session of a series: its name and its values, in the order of time.
type Session struct {
	Name   string
	Values []float64
}

// Sessions returns the values by their session, in the order in which sessions began.
func (s Series) Sessions() []Session {
	if s.Session == nil {
		return []Session{{Values: s.Values}}
	}
	var out []Session
	place := map[string]int{}
	for i, v := range s.Values {
		at, known := place[s.Session[i]]
		if !known {
			at = len(out)
			place[s.Session[i]] = at
			out = append(out, Session{Name: s.Session[i]})
		}
		out[at].Values = append(out[at].Values, v)
	}
	return out
}

// CV returns the coefficient of variation: the standard deviation of all values as a share of their
// mean's size; 0 where that is 0.
func (s Series) CV() float64 {
	mean, squares := 0.0, 0.0
	for _, v := range s.Values {
		mean += v / float64(len(s.Values))
	}
	for _, v := range s.Values {
		squares += (v - mean) * (v - mean)
	}
	if mean == 0 {
		return 0
	}
	return math.Sqrt(squares/float64(len(s.Values)-1)) / math.Abs(mean)
}
