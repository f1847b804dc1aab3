package run

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// Limits on a record: hostile input is rejected before it takes memory.
const (
	MaxBytes      = 64 << 20 // one record as JSON
	MaxDepth      = 12       // nesting; a valid record needs 6
	MaxIterations = 10_000
	MaxEvents     = 10_000 // in one iteration
	MaxMetrics    = 1_000  // in one bucket
	MaxContext    = 200    // properties
	MaxText       = 4_096  // bytes of any one string
	MaxValue      = 1e100  // of any one number, either way
)

var errTooLarge = fmt.Errorf("the record is larger than %d MiB", MaxBytes>>20)

// Decode decodes one record. An error names the field and what is allowed there.
func Decode(data []byte) (Run, error) {
	if len(data) > MaxBytes {
		return Run{}, errTooLarge
	}
	if err := checkOutline(data, MaxDepth); err != nil {
		return Run{}, err
	}
	var r Run
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&r); err != nil {
		if r.Format != "" && r.Format != Format { // another format, which need not fit
			return Run{}, formatError(r.Format)
		}
		return Run{}, explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Run{}, errors.New("there is more after the end of the record")
	}
	if err := checkNulls(data); err != nil {
		return Run{}, err
	}
	if r.Status == "" {
		r.Status = Complete
	}
	return r, r.Validate()
}

// Encode encodes the record as one line of JSON, ended by a newline, with times in UTC, so that one
// instant always has the same text. It returns an error for a record that Decode would reject.
func Encode(r Run) ([]byte, error) {
	r.Format, r.Started = Format, r.Started.UTC()
	if r.Warnings == nil {
		r.Warnings = []Warning{}
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	if len(data) >= MaxBytes {
		return nil, fmt.Errorf("encode run %s: %w", prose.Short(r.ID), errTooLarge)
	}
	return append(data, '\n'), nil
}

// Digest returns the SHA-256 of the record's canonical JSON without its id and without Judged, in
// lower-case hexadecimal: the name of the run in a store.
func (r Run) Digest() (string, error) {
	r = r.Recorded()
	r.ID = ""
	data, err := Encode(r)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Named returns the run with an ID: its own, or the first 16 characters of its digest where it has
// none.
func (r Run) Named() (Run, error) {
	if r.ID != "" {
		return r, nil
	}
	d, err := r.Digest()
	if err != nil {
		return r, err
	}
	r.ID = d[:16]
	return r, nil
}

func formatError(got string) error {
	return fmt.Errorf("format is %q, want %q", prose.Short(got), Format)
}

// Validate returns the first error of the record.
func (r Run) Validate() error {
	switch {
	case r.Format != Format:
		return formatError(r.Format)
	case r.App.Package == "":
		return errors.New("app.package is empty")
	case r.Scenario == "":
		return errors.New("scenario is empty")
	case !slices.Contains(Statuses(), r.Status):
		return fmt.Errorf("status is %q, want one of %q", prose.Short(string(r.Status)), Statuses())
	case len(r.Iterations) > MaxIterations:
		return fmt.Errorf("%d iterations, at most %d are allowed", len(r.Iterations), MaxIterations)
	case r.Status == Complete && len(r.Iterations) == 0:
		return errors.New("iterations is empty, but status is complete")
	case r.Started.UTC().Year() < 0 || r.Started.UTC().Year() > 9999:
		return fmt.Errorf("started is in the year %d, want 0 to 9999", r.Started.UTC().Year())
	}
	if err := r.validateTexts(); err != nil {
		return err
	}
	if err := r.validateSections(); err != nil {
		return err
	}
	if len(r.Declared) > MaxMetrics {
		return fmt.Errorf("declared has %d metrics, at most %d are allowed", len(r.Declared), MaxMetrics)
	}
	for i, d := range r.Declared {
		if err := d.validate(); err != nil {
			return fmt.Errorf("declared[%d].%w", i, err)
		}
	}
	for i, w := range r.Warnings {
		if !utf8.ValidString(w.Text) {
			return fmt.Errorf("warnings[%d] is not valid UTF-8", i)
		}
	}
	for i, it := range r.Iterations {
		if err := it.validate(); err != nil {
			return fmt.Errorf("iterations[%d].%w", i, err)
		}
	}
	return nil
}

func (r Run) validateTexts() error {
	for _, f := range []struct{ field, text string }{
		{"id", r.ID}, {"scenario", r.Scenario}, {"session", r.Session},
		{"app.package", r.App.Package}, {"app.version", r.App.Version}, {"app.build", r.App.Build},
		{"source.repository", r.Source.Repository}, {"source.commit", r.Source.Commit}, {"source.ref", r.Source.Ref},
		{"source.head", r.Source.Head}, {"source.base", r.Source.Base}, {"source.merge", r.Source.Merge},
	} {
		if err := checkText(f.text); err != nil {
			return fmt.Errorf("%s %w", f.field, err)
		}
	}
	if len(r.Context) > MaxContext {
		return fmt.Errorf("context has %d properties, at most %d are allowed", len(r.Context), MaxContext)
	}
	return firstByName(r.Context, func(k, v string) error {
		for _, text := range []string{k, v} {
			if err := checkText(text); err != nil {
				return fmt.Errorf("context property %q %w", prose.Short(k), err)
			}
		}
		return nil
	})
}

// firstByName returns the error of the first entry by name that has one: the same record is always
// rejected for the same reason.
func firstByName[V any](m map[string]V, check func(name string, v V) error) error {
	first, found := "", error(nil)
	for name, v := range m {
		if err := check(name, v); err != nil && (found == nil || name < first) {
			first, found = name, err
		}
	}
	return found
}

func (d Declared) validate() error {
	if _, err := metric.ParseDirection(d.Better); err != nil {
		return fmt.Errorf("better: %w", err)
	}
	switch {
	case !metric.ValidName(d.Name):
		return fmt.Errorf("name is %q, want a letter, then up to 127 letters, digits or _ . : / -", prose.Short(d.Name))
	case d.Scale != Linear && d.Scale != Log:
		return fmt.Errorf("scale is %q, want %q or none", prose.Short(string(d.Scale)), Log)
	}
	if err := errors.Join(checkText(d.Unit), checkText(d.Of)); err != nil {
		return fmt.Errorf("unit or of %w", err)
	}
	return nil
}

func (it Iteration) validate() error {
	if !(it.FramesSeen >= 0 && it.FramesSeen <= 1) {
		return fmt.Errorf("frames_seen is %g, want a share from 0 to 1", it.FramesSeen)
	}
	if err := validateMetrics(it.Metrics); err != nil {
		return err
	}
	if len(it.Events) > MaxEvents {
		return fmt.Errorf("events has %d entries, at most %d are allowed", len(it.Events), MaxEvents)
	}
	for i, e := range it.Events {
		if e.Name == "" {
			return fmt.Errorf("events[%d].name is empty", i)
		}
		if err := checkText(e.Name); err != nil {
			return fmt.Errorf("events[%d].name %w", i, err)
		}
		if err := validateMetrics(e.Metrics); err != nil {
			return fmt.Errorf("events[%d].%w", i, err)
		}
	}
	for i, f := range it.Frames {
		if f.DurationMS < 0 || math.IsNaN(f.DurationMS) || math.IsInf(f.DurationMS, 0) || f.Bucket < 0 || f.Bucket >= max(1, len(it.Events)) {
			return fmt.Errorf("frames[%d] is [%g,%d], want a duration of 0 ms or more and the index of a bucket", i, f.DurationMS, f.Bucket)
		}
	}
	return nil
}

func validateMetrics(ms map[string]float64) error {
	if len(ms) > MaxMetrics {
		return fmt.Errorf("metrics has %d entries, at most %d are allowed", len(ms), MaxMetrics)
	}
	return firstByName(ms, validateMetric)
}

func validateMetric(name string, v float64) error {
	switch {
	case name == "" || len(name) > MaxText:
		return fmt.Errorf("metrics has a name of %d bytes, want 1 to %d", len(name), MaxText)
	case !(math.Abs(v) <= MaxValue):
		return fmt.Errorf("metrics[%q] is %g, want a number of at most %g", prose.Short(name), v, MaxValue)
	case !utf8.ValidString(name):
		return fmt.Errorf("metrics has the name %q, want valid UTF-8", prose.Short(name))
	}
	return possible(name, v)
}

// builtin has the possible values of the catalogue's own metrics.
var builtin = metric.Default()

// possible returns an error for a value that no measurement of a metric of the catalogue can have:
// a ratio outside of 0 to 1, a count, a time or an energy below zero.
func possible(name string, v float64) error {
	m, known := builtin.Lookup(name)
	const rounding = 1e-9
	switch {
	case !known:
		return nil
	case m.Ratio && (v < -rounding || v > 1+rounding):
		return fmt.Errorf("metrics[%q] is %g, want a ratio from 0 to 1", name, v)
	case v < -rounding && !m.Signed:
		return fmt.Errorf("metrics[%q] is %g, want 0 or more", name, v)
	}
	return nil
}

func checkText(s string) error {
	if len(s) > MaxText {
		return fmt.Errorf("has %d bytes, at most %d are allowed", len(s), MaxText)
	}
	if !utf8.ValidString(s) {
		return errors.New("is not valid UTF-8")
	}
	return nil
}

// checkNulls returns an error for null where a number, a text or an iteration belongs:
// encoding/json would decode an unmeasured value as 0.
func checkNulls(data []byte) error {
	if !bytes.Contains(data, []byte("null")) {
		return nil
	}
	type metrics map[string]*float64
	var r struct {
		rawSections
		Context    map[string]*string
		Iterations []*struct {
			Metrics metrics
			Events  []struct{ Metrics metrics }
			Frames  [][]*float64
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return explain(err)
	}
	if err := r.rawSections.checkNulls(); err != nil {
		return err
	}
	if err := firstByName(r.Context, func(name string, v *string) error {
		if v == nil {
			return fmt.Errorf("context property %q is null, want a text; what is not known is left out", prose.Short(name))
		}
		return nil
	}); err != nil {
		return err
	}
	check := func(where string, ms metrics) error {
		return firstByName(ms, func(name string, v *float64) error {
			if v == nil {
				return fmt.Errorf("%s.metrics[%q] is null, want a number; what was not measured is left out", where, prose.Short(name))
			}
			return nil
		})
	}
	for i, it := range r.Iterations {
		where := fmt.Sprintf("iterations[%d]", i)
		if it == nil {
			return fmt.Errorf("%s is null, want an object", where)
		}
		if err := check(where, it.Metrics); err != nil {
			return err
		}
		for j, e := range it.Events {
			if err := check(fmt.Sprintf("%s.events[%d]", where, j), e.Metrics); err != nil {
				return err
			}
		}
		for j, f := range it.Frames {
			if slices.Contains(f, nil) {
				return fmt.Errorf("%s.frames[%d] has a null, want [duration_ms, bucket]", where, j)
			}
		}
	}
	return nil
}

// hasNull reports whether a JSON value other than null itself contains a null.
func hasNull(value json.RawMessage) bool {
	if len(value) == 0 || string(value) == "null" {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if token == nil {
			return true
		}
	}
}

// explain says where in the JSON it went wrong.
func explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		return fmt.Errorf("%s is a JSON %s, want %s", cmp.Or(kind.Field, "the record"), kind.Value, wanted(kind.Type))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the JSON ends too early")
	}
	return err
}

// wanted names a Go type as JSON does.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64, reflect.Int:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}
