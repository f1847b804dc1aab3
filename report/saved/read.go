package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
)

// MaxJSON is the largest saved report, in bytes, that Read accepts.
const MaxJSON = 256 << 20

// Report is a report that was saved as JSON: one of the three.
type Report struct {
	Verdict    *Verdict
	Comparison *Comparison
	Refresh    *Refresh
}

// Read reads a verdict, a comparison or a refresh that was saved as JSON, and rejects what
// ReadVerdict does.
func Read(r io.Reader) (Report, error) {
	data, err := readAll(r)
	if err != nil {
		return Report{}, fmt.Errorf("read the report: %w", err)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Report{}, fmt.Errorf("read the report: %w", where(err))
	}
	switch head.Format {
	case sidebyside.Format:
		in, err := decodeAB(data)
		if err != nil {
			return Report{}, fmt.Errorf("read the comparison: %w", err)
		}
		return Report{Comparison: &in}, nil
	case RefreshFormat:
		in, err := decodeRefresh(data)
		if err != nil {
			return Report{}, fmt.Errorf("read the refresh: %w", err)
		}
		return Report{Refresh: &in}, nil
	case gate.Format:
		in, err := decode(data)
		if err != nil {
			return Report{}, fmt.Errorf("read the verdict: %w", err)
		}
		return Report{Verdict: &in}, nil
	}
	return Report{}, fmt.Errorf("read the report: format is %q, want one of %q", prose.Clip(head.Format, 60), []string{gate.Format, sidebyside.Format, RefreshFormat})
}

// readAll reads at most MaxJSON bytes of JSON within the bounds of its structure.
func readAll(r io.Reader) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, sizeOf(r)+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(r, MaxJSON+1))
	switch {
	case err != nil:
		return nil, err
	case b.Len() > MaxJSON:
		return nil, fmt.Errorf("larger than %d MiB", MaxJSON>>20)
	case b.Len() == 0:
		return nil, errors.New("the file is empty")
	}
	return b.Bytes(), ownBounds.Check(b.Bytes())
}

// sizeOf returns the size of a file, so that it is not copied from buffer to buffer; 0 where
// unknown.
func sizeOf(r io.Reader) int64 {
	file, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return min(info.Size(), MaxJSON+1)
}

// ReadVerdict reads a saved verdict, with its energy. Input beyond MaxJSON bytes, another format,
// an outcome or direction that the format does not have, invalid energy, and anything after the
// verdict are errors.
func ReadVerdict(r io.Reader) (Verdict, error) {
	data, err := readAll(r)
	if err != nil {
		return Verdict{}, fmt.Errorf("read the verdict: %w", err)
	}
	in, err := decode(data)
	if err != nil {
		return Verdict{}, fmt.Errorf("read the verdict: %w", err)
	}
	return in, nil
}

func decode(data []byte) (Verdict, error) {
	var d Verdict
	if err := json.Unmarshal(data, &d); err != nil {
		return Verdict{}, where(err)
	}
	if err := errors.Join(validate(d.Verdict), validateEnergy(d.Energy), diagnose.Validate(d.Causes)); err != nil {
		return Verdict{}, err
	}
	for _, r := range d.Runs {
		clearNoIntervals(r.Deviations)
		clearNoIntervals(r.Comparisons)
	}
	d.Causes = withoutEnergy(d.Causes, d.Energy)
	return d, nil
}

// clearNoIntervals sets null where older verdicts had no interval and wrote 0 at both ends, which
// no interval of a check can have.
func clearNoIntervals(cs []gate.Comparison) {
	for i := range cs {
		if c := &cs[i]; c.Low != nil && c.High != nil && *c.Low == 0 && *c.High == 0 {
			c.Low, c.High = nil, nil
		}
	}
}

func decodeAB(data []byte) (Comparison, error) {
	var d Comparison
	if err := json.Unmarshal(data, &d); err != nil {
		return Comparison{}, where(err)
	}
	if err := errors.Join(knownOutcome(d.Verdict.Verdict), validateEnergy(d.Energy), diagnose.Validate(d.Causes)); err != nil {
		return Comparison{}, err
	}
	if !(d.Level >= 0 && d.Level < 1) {
		return Comparison{}, fmt.Errorf("level is %g, want at least 0 and less than 1", d.Level)
	}
	for i, s := range d.Scenarios {
		if err := validateScenario(s); err != nil {
			return Comparison{}, fmt.Errorf("scenarios[%d].%w", i, err)
		}
	}
	d.Causes = withoutEnergy(d.Causes, d.Energy)
	return d, nil
}

func decodeRefresh(data []byte) (Refresh, error) {
	var r Refresh
	if err := json.Unmarshal(data, &r); err != nil {
		return Refresh{}, where(err)
	}
	if err := knownOutcome(r.Verdict); err != nil {
		return Refresh{}, err
	}
	for i, l := range r.Drift {
		if err := knownDirection(l.Direction); err != nil {
			return Refresh{}, fmt.Errorf("drift[%d].%w", i, err)
		}
		if l.Direction != gate.None && l.Creep == nil {
			return Refresh{}, fmt.Errorf("drift[%d].creep is missing, but direction is %q", i, l.Direction)
		}
	}
	return r, nil
}

// where adds to a JSON error the place that encoding/json knows but does not report.
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

// withoutEnergy returns the causes of a saved report without those of energy, which are derived
// again from where the energy went.
func withoutEnergy(all []diagnose.Cause, energy []hotspots.Change) []diagnose.Cause {
	if len(energy) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(c diagnose.Cause) bool { return diagnose.KindOf(c.Kind).Family.Name == hotspots.Family.Name })
}
