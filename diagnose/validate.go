package diagnose

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on causes in files.
const (
	MaxCauses  = 1_000 // of one verdict
	MaxTables  = 10    // of one cause
	MaxRows    = 500   // of one table
	MaxColumns = 12
	MaxParts   = 60 // of one phrase
	MaxLinks   = 50
	MaxDoubts  = 20
	MaxBars    = 100
	MaxCalls   = run.MaxCalls // of one picture
	maxNumber  = 1e6 * run.MaxValue
)

var kindName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}\.[a-z][a-z0-9.-]{0,60}$`)

// Validate checks causes from outside: lists, texts and numbers must be within the limits,
// directions known.
func Validate(causes []Cause) error {
	if len(causes) > MaxCauses {
		return fmt.Errorf("causes has %d entries, at most %d are allowed", len(causes), MaxCauses)
	}
	for i, c := range causes {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("causes[%d].%w", i, err)
		}
	}
	return nil
}

// Validate checks one cause.
func (c Cause) Validate() error {
	switch {
	case !kindName.MatchString(c.Kind):
		return fmt.Errorf("kind is %.100q, want the name of a family, a point and a name, in lower-case letters, digits, points and hyphens", c.Kind)
	case c.Direction != gate.ToRegression && c.Direction != gate.ToImprovement:
		return fmt.Errorf("direction is %.60q, want %q or %q", c.Direction, gate.ToRegression, gate.ToImprovement)
	case len(c.Device) > run.MaxContext:
		return fmt.Errorf("device has %d properties, at most %d are allowed", len(c.Device), run.MaxContext)
	case len(c.Tables) > MaxTables:
		return fmt.Errorf("tables has %d entries, at most %d are allowed", len(c.Tables), MaxTables)
	case len(c.Evidence) > MaxLinks:
		return fmt.Errorf("evidence has %d entries, at most %d are allowed", len(c.Evidence), MaxLinks)
	case c.See != "" && !Address(c.See):
		return fmt.Errorf("see is %.100q, want an address that begins with https:// or http://", c.See)
	case len(c.Doubts) > MaxDoubts:
		return fmt.Errorf("doubts has %d entries, at most %d are allowed", len(c.Doubts), MaxDoubts)
	}
	err := errors.Join(
		texts("run", c.Run, "scenario", c.Scenario, "event", c.Event, "metric", c.Metric, "subject.name", c.Subject.Name, "subject.file", c.Subject.File),
		in("explains", c.Explains.validate()), in("title", c.Title.validate()), in("sentence", c.Sentence.validate()), in("basis", c.Basis.validate()),
	)
	for _, key := range slices.Sorted(maps.Keys(c.Device)) {
		err = errors.Join(err, texts("device", key, "device", c.Device[key]))
	}
	for i, t := range c.Tables {
		err = errors.Join(err, in(fmt.Sprintf("tables[%d]", i), t.validate()))
	}
	if c.Picture != nil {
		err = errors.Join(err, in("picture", c.Picture.validate()))
	}
	if c.FurtherPicture != nil {
		err = errors.Join(err, in("further_picture", c.FurtherPicture.validate()))
	}
	for i, l := range c.Evidence {
		err = errors.Join(err, in(fmt.Sprintf("evidence[%d]", i), l.validate()))
	}
	for i, d := range c.Doubts {
		err = errors.Join(err, in(fmt.Sprintf("doubts[%d]", i), d.validate()))
	}
	return err
}

var address = regexp.MustCompile(`^https?://[^\s()<>"'\\` + "`" + `[:^print:]]+$`)

// Address reports whether a text is the address of a page, which ends where it seems to.
func Address(s string) bool { return len(s) <= run.MaxText && address.MatchString(s) }

// in adds the field to an error.
func in(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

func (e Extent) validate() error {
	for _, v := range []*float64{e.Value, e.Low, e.High} {
		if v != nil && !number(*v) {
			return fmt.Errorf("value, low or high is %g, want at most %g either way", *v, float64(maxNumber))
		}
	}
	for _, v := range []*float64{e.Share, e.ShareLow, e.ShareHigh, &e.Level} {
		if v != nil && !(*v >= 0 && *v <= 1) {
			return fmt.Errorf("share, share_low, share_high or level is %g, want 0 to 1", *v)
		}
	}
	if e.Sure != "" && !slices.Contains([]Sure{Seen, Clear, Likely, Possible}, e.Sure) {
		return fmt.Errorf("sure is %.60q, want %q, %q, %q or %q", e.Sure, Seen, Clear, Likely, Possible)
	}
	return texts("unit", e.Unit)
}

func (p Phrase) validate() error {
	if len(p) > MaxParts {
		return fmt.Errorf("has %d parts, at most %d are allowed", len(p), MaxParts)
	}
	for i, part := range p {
		if err := part.validate(); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

func (p Part) validate() error {
	if p.As != Plain && p.As != Code && p.As != Short || p.Most < 0 || p.Most > run.MaxText {
		return fmt.Errorf("as is %.60q and most %d, want %q, %q or none, and 0 to %d", p.As, p.Most, Code, Short, run.MaxText)
	}
	if a := p.Amount; a != nil {
		if !number(a.Value) {
			return fmt.Errorf("value is %g, want at most %g either way", a.Value, float64(maxNumber))
		}
		if err := texts("unit", a.Unit); err != nil {
			return err
		}
	}
	if r := p.Range; r != nil {
		if !number(r.Low) || !number(r.High) {
			return fmt.Errorf("low is %g and high %g, want at most %g either way", r.Low, r.High, float64(maxNumber))
		}
		if err := texts("unit", r.Unit); err != nil {
			return err
		}
	}
	return texts("text", p.Text, "name", p.Name)
}

func (t Table) validate() error {
	switch {
	case len(t.Columns) < 2 || len(t.Columns) > MaxColumns:
		return fmt.Errorf("columns has %d entries, want 2 to %d", len(t.Columns), MaxColumns)
	case len(t.Rows) > MaxRows:
		return fmt.Errorf("rows has %d entries, at most %d are allowed", len(t.Rows), MaxRows)
	case t.Total < 0:
		return fmt.Errorf("total is %d, want 0 or more", t.Total)
	}
	for _, c := range t.Columns {
		if err := texts("columns", c.Title); err != nil {
			return err
		}
	}
	for i, r := range t.Rows {
		if len(r.Cells) != len(t.Columns) {
			return fmt.Errorf("rows[%d] has %d cells for %d columns", i, len(r.Cells), len(t.Columns))
		}
		for _, cell := range r.Cells {
			if err := cell.validate(); err != nil {
				return fmt.Errorf("rows[%d]: %w", i, err)
			}
		}
	}
	return errors.Join(texts("title", t.Title), in("note", t.Note.validate()))
}

func (p Picture) validate() error {
	if f := p.Flame; f != nil {
		if err := f.validate(); err != nil {
			return fmt.Errorf("flame.%w", err)
		}
	}
	if b := p.Bars; b != nil {
		if err := b.validate(); err != nil {
			return fmt.Errorf("bars.%w", err)
		}
	}
	if t := p.Threads; t != nil {
		if err := t.validate(); err != nil {
			return fmt.Errorf("threads.%w", err)
		}
	}
	if w := p.Waits; w != nil {
		if err := w.validate(); err != nil {
			return fmt.Errorf("waits.%w", err)
		}
	}
	if d := p.Delays; d != nil {
		if err := d.validate(); err != nil {
			return fmt.Errorf("delays.%w", err)
		}
	}
	return texts("kind", string(p.Kind), "title", p.Title, "label", p.Label)
}

func (f Flame) validate() error {
	if len(f.Calls) > MaxCalls {
		return fmt.Errorf("calls has %d entries, at most %d are allowed", len(f.Calls), MaxCalls)
	}
	for i, c := range f.Calls {
		switch {
		case c.Parent < -1 || c.Parent >= i:
			return fmt.Errorf("calls[%d].parent is %d, want -1 or the place of an earlier call", i, c.Parent)
		case !amountOf(c.Base) || !amountOf(c.Head):
			return fmt.Errorf("calls[%d] has %g and %g, want 0 to %g", i, c.Base, c.Head, float64(maxNumber))
		}
		if err := texts("calls", c.Name, "calls", c.Kind); err != nil {
			return err
		}
	}
	return texts("unit", f.Unit, "of", f.Of)
}

func (b Bars) validate() error {
	if len(b.List) > MaxBars {
		return fmt.Errorf("list has %d entries, at most %d are allowed", len(b.List), MaxBars)
	}
	for i, bar := range b.List {
		for _, m := range []Measured{bar.Base, bar.Head} {
			if !amountOf(m.Value) || !amountOf(m.Low) || !amountOf(m.High) {
				return fmt.Errorf("list[%d] has %g from %g to %g, want 0 to %g", i, m.Value, m.Low, m.High, float64(maxNumber))
			}
		}
		if err := texts("list", bar.Name, "list", bar.Status); err != nil {
			return err
		}
	}
	return texts("unit", b.Unit, "axis", b.Axis)
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (l Link) validate() error {
	if !digest.MatchString(l.Digest) {
		return fmt.Errorf("digest is %.100q, want the 64 lower-case hexadecimal digits of a SHA-256", l.Digest)
	}
	if !amountOf(l.FromMS) || !amountOf(l.ToMS) || l.ToMS < l.FromMS {
		return fmt.Errorf("from_ms is %g and to_ms %g, want 0 or more, in order", l.FromMS, l.ToMS)
	}
	return nil
}

// number reports whether a value can be summed and drawn.
func number(v float64) bool { return math.Abs(v) <= maxNumber }

func amountOf(v float64) bool { return v >= 0 && v <= maxNumber }

// texts checks the lengths of strings, each after the name of its field.
func texts(pairs ...string) error {
	for i := 1; i < len(pairs); i += 2 {
		if len(pairs[i]) > run.MaxText {
			return fmt.Errorf("%s has %d bytes, at most %d are allowed", pairs[i-1], len(pairs[i]), run.MaxText)
		}
	}
	return nil
}
