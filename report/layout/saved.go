package layout

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
	"github.com/apkgate/apkgate/report/words"
)

// Saved is a report that was saved as JSON: one of the three.
type Saved struct {
	Verdict    *Input
	Comparison *ABInput
	Refresh    *RefreshInput
}

// ReadSaved reads a verdict, a comparison or a refresh that was saved as JSON, and
// refuses what Read does.
func ReadSaved(r io.Reader) (Saved, error) {
	data, err := readAll(r)
	if err != nil {
		return Saved{}, fmt.Errorf("read the report: %w", err)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Saved{}, fmt.Errorf("read the report: %w", where(err))
	}
	switch head.Format {
	case sidebyside.Format:
		in, err := decodeAB(data)
		if err != nil {
			return Saved{}, fmt.Errorf("read the comparison: %w", err)
		}
		return Saved{Comparison: &in}, nil
	case RefreshFormat:
		in, err := decodeRefresh(data)
		if err != nil {
			return Saved{}, fmt.Errorf("read the refresh: %w", err)
		}
		return Saved{Refresh: &in}, nil
	case gate.Format:
		in, err := decode(data)
		if err != nil {
			return Saved{}, fmt.Errorf("read the verdict: %w", err)
		}
		return Saved{Verdict: &in}, nil
	}
	return Saved{}, fmt.Errorf("read the report: format is %q, want one of %q", words.Clip(head.Format, 60), []string{gate.Format, sidebyside.Format, RefreshFormat})
}

// readAll reads at most MaxJSON bytes of JSON that decoding makes no monster of.
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

// sizeOf is how much there is to read of a file, so that it is not copied from
// buffer to buffer; 0 where that is unknown.
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

func decodeAB(data []byte) (ABInput, error) {
	var d struct {
		sidebyside.Verdict
		Energy []hotspots.Change `json:"energy"`
		Causes []diagnose.Cause  `json:"causes"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return ABInput{}, where(err)
	}
	if err := errors.Join(knownOutcome(d.Verdict.Verdict), validateEnergy(d.Energy), diagnose.Validate(d.Causes)); err != nil {
		return ABInput{}, err
	}
	if !(d.Level >= 0 && d.Level < 1) {
		return ABInput{}, fmt.Errorf("level is %g, want at least 0 and less than 1", d.Level)
	}
	for i, s := range d.Scenarios {
		if err := validateScenario(s); err != nil {
			return ABInput{}, fmt.Errorf("scenarios[%d].%w", i, err)
		}
	}
	return ABInput{Verdict: d.Verdict, Energy: d.Energy, Causes: readCauses(d.Causes, d.Energy)}, nil
}

func validateScenario(s sidebyside.Scenario) error {
	if err := knownOutcome(s.Verdict); err != nil {
		return err
	}
	for i, c := range s.Comparisons {
		if err := errors.Join(knownDirection(c.Direction), knownDirection(c.Together)); err != nil {
			return fmt.Errorf("comparisons[%d].%w", i, err)
		}
		for j, x := range c.Contexts {
			if err := knownDirection(x.Direction); err != nil {
				return fmt.Errorf("comparisons[%d].contexts[%d].%w", i, j, err)
			}
			if x.Context < 0 || x.Context >= len(s.Contexts) {
				return fmt.Errorf("comparisons[%d].contexts[%d].context is %d, want the place of one of %d contexts", i, j, x.Context, len(s.Contexts))
			}
		}
	}
	return nil
}

func decodeRefresh(data []byte) (RefreshInput, error) {
	var r Refresh
	if err := json.Unmarshal(data, &r); err != nil {
		return RefreshInput{}, where(err)
	}
	if err := knownOutcome(r.Verdict); err != nil {
		return RefreshInput{}, err
	}
	for i, l := range r.Drift {
		if err := knownDirection(l.Direction); err != nil {
			return RefreshInput{}, fmt.Errorf("drift[%d].%w", i, err)
		}
		if l.Direction != gate.None && l.Creep == nil {
			return RefreshInput{}, fmt.Errorf("drift[%d].creep is missing, but direction is %q", i, l.Direction)
		}
	}
	return RefreshInput{Refresh: r}, nil
}

func knownOutcome(o gate.Outcome) error {
	if !slices.Contains(outcomes, o) {
		return fmt.Errorf("verdict is %q, want one of %q", words.Clip(string(o), 60), outcomes)
	}
	return nil
}

func knownDirection(d gate.Direction) error {
	if !slices.Contains(directions, d) {
		return fmt.Errorf("direction is %q, want one of %q", words.Clip(string(d), 60), directions)
	}
	return nil
}
