package diagnose

import (
	"fmt"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// MaxDelays limits the lists of a figure of delays.
const MaxDelays = 4

// Delays is for how long similar tasks were delayed, in the base and in the head (DiagDroid, FSE
// 2016, Figures 11 and 12).
type Delays struct {
	Of string `json:"of"` // what delayed them: "queuing time"
	// OverMS is from when on a task is late, 0 where there is no such limit.
	OverMS float64 `json:"over_ms,omitempty"`
	List   []Delay `json:"list,omitempty"`
}

// Delay is the delays of one group of tasks. A count of 0 means that there are none.
type Delay struct {
	Name      string         `json:"name"`
	Base      run.Spread     `json:"base"`
	Head      run.Spread     `json:"head"`
	Direction gate.Direction `json:"direction"` // of a clear change; gate.None otherwise
}

// PictureOfDelays draws the delays of groups of tasks. It is nil where there are none.
func PictureOfDelays(title, of string, overMS float64, list ...Delay) *Picture {
	d := Delays{Of: of, OverMS: overMS}
	for _, one := range list {
		if one.Base.Count+one.Head.Count > 0 && len(d.List) < MaxDelays {
			d.List = append(d.List, one)
		}
	}
	if len(d.List) == 0 {
		return nil
	}
	return &Picture{Kind: DelaysPicture, Title: title, Label: title, Delays: &d}
}

func (d Delays) validate() error {
	if len(d.List) > MaxDelays {
		return fmt.Errorf("list has %d entries, at most %d are allowed", len(d.List), MaxDelays)
	}
	if !amountOf(d.OverMS) {
		return fmt.Errorf("over_ms is %g, want 0 to %g", d.OverMS, float64(maxNumber))
	}
	for i, one := range d.List {
		for _, s := range []run.Spread{one.Base, one.Head} {
			if err := delayed(s); err != nil {
				return fmt.Errorf("list[%d]: %w", i, err)
			}
		}
		if err := texts("list", one.Name); err != nil {
			return err
		}
	}
	return texts("of", d.Of)
}

// delayed checks a distribution.
func delayed(s run.Spread) error {
	if s.Count < 0 || !amountOf(s.MeanMS) || len(s.QuantilesMS) > run.MaxQuantiles {
		return fmt.Errorf("count is %d, mean_ms %g, and quantiles_ms has %d entries: want 0 or more, and at most %d", s.Count, s.MeanMS, len(s.QuantilesMS), run.MaxQuantiles)
	}
	for i, v := range s.QuantilesMS {
		if !amountOf(v) || i > 0 && v < s.QuantilesMS[i-1] {
			return fmt.Errorf("quantiles_ms[%d] is %g, want 0 to %g, in order", i, v, float64(maxNumber))
		}
	}
	return nil
}
