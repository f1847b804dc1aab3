package hotspots

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/run"
)

// Validate checks a Change from outside: lists and texts within the limits of a run's record,
// possible amounts, each call after its caller.
func (c Change) Validate() error {
	switch {
	case len(c.Device) > run.MaxContext:
		return fmt.Errorf("device has %d properties, at most %d are allowed", len(c.Device), run.MaxContext)
	case len(c.Base) > MaxBase:
		return fmt.Errorf("base has %d entries, at most %d are allowed", len(c.Base), MaxBase)
	case len(c.Components) > run.MaxComponents:
		return fmt.Errorf("components has %d entries, at most %d are allowed", len(c.Components), run.MaxComponents)
	case len(c.Wakelocks) > run.MaxWakelocks:
		return fmt.Errorf("wakelocks has %d entries, at most %d are allowed", len(c.Wakelocks), run.MaxWakelocks)
	}
	if err := errors.Join(c.Total.validate(), c.App.validate(), amounts(c.UpdateMS, c.BatteryJ)); err != nil {
		return fmt.Errorf("total, app, update_ms or battery_j: %w", err)
	}
	if c.Traffic != nil {
		if err := amounts(c.Traffic.BaseBytes, c.Traffic.HeadBytes); err != nil {
			return fmt.Errorf("traffic %w", err)
		}
	}
	for i, p := range c.Components {
		if err := p.Amount.validate(); err != nil {
			return fmt.Errorf("components[%d] %w", i, err)
		}
	}
	for i, w := range c.Wakelocks {
		if err := amounts(w.BaseHeldMS, w.HeadHeldMS, w.BaseScreenOffMS, w.HeadScreenOffMS); err != nil {
			return fmt.Errorf("wakelocks[%d] %w", i, err)
		}
	}
	if c.Methods == nil {
		return nil
	}
	if err := c.Methods.validate(); err != nil {
		return fmt.Errorf("methods.%w", err)
	}
	return nil
}

func (m Methods) validate() error {
	switch {
	case len(m.List) > run.MaxMethods:
		return fmt.Errorf("list has %d entries, at most %d are allowed", len(m.List), run.MaxMethods)
	case len(m.Calls) > run.MaxCalls:
		return fmt.Errorf("calls has %d entries, at most %d are allowed", len(m.Calls), run.MaxCalls)
	case !(m.Level >= 0 && m.Level <= 1):
		return fmt.Errorf("level is %g, want 0 to 1", m.Level)
	}
	if err := errors.Join(m.Energy.validate(), amounts(m.SampleHz, m.ApartJ)); err != nil {
		return fmt.Errorf("energy, apart_j or sample_hz: %w", err)
	}
	for i, f := range m.List {
		if len(f.Callers) > MaxCallers || !(f.Share >= 0 && f.Share <= 1) {
			return fmt.Errorf("list[%d] has %d callers and a share of %g, want at most %d and 0 to 1", i, len(f.Callers), f.Share, MaxCallers)
		}
		if err := errors.Join(f.Local.validate(), f.NonLocal.validate(), f.Total.validate(), amounts(f.CPU.BaseMS, f.CPU.HeadMS)); err != nil {
			return fmt.Errorf("list[%d] %w", i, err)
		}
	}
	for i, call := range m.Calls {
		if call.Parent < -1 || call.Parent >= i {
			return fmt.Errorf("calls[%d].parent is %d, want -1 or the place of an earlier call", i, call.Parent)
		}
		if err := call.Amount.validate(); err != nil {
			return fmt.Errorf("calls[%d] %w", i, err)
		}
	}
	return nil
}

func (a Amount) validate() error { return amounts(a.BaseJ, a.HeadJ) }

func (s Shift) validate() error {
	return amounts(s.Base.J, s.Base.LowJ, s.Base.HighJ, s.Head.J, s.Head.LowJ, s.Head.HighJ)
}

// maxAmount is more than the sum of everything in a record.
const maxAmount = 1e6 * run.MaxValue

// amounts returns an error for an impossible amount.
func amounts(values ...float64) error {
	for _, v := range values {
		if !(v >= 0 && v <= maxAmount) {
			return fmt.Errorf("has the amount %g, want 0 to %g", v, maxAmount)
		}
	}
	return nil
}
