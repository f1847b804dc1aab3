package run

import (
	"errors"
	"fmt"
	"math"
)

// Limits on the energy of a record.
const (
	MaxMethods    = 500
	MaxCalls      = 2_000
	MaxComponents = 200
	MaxWakelocks  = 100
)

// Energy is how a run's joules were measured and what used them. All numbers are means over the
// iterations, per iteration.
type Energy struct {
	// Source is the value of the context property metric.EnergyFrom.
	Source string `json:"source"`
	// UpdateMS is the median time between two readings of the sensor; 0 where
	// there is no series of readings.
	UpdateMS float64 `json:"update_ms,omitempty"`
	// BatteryJ is the energy of a full battery; 0 where unknown.
	BatteryJ float64 `json:"battery_j,omitempty"`
	// Components are the parts of the device, highest energy first.
	Components []Component `json:"components,omitempty"`
	// Wakelocks are those that the app held, the longest first.
	Wakelocks []Wakelock `json:"wakelocks,omitempty"`
	// Methods is nil where the app's methods were not sampled.
	Methods *Methods `json:"methods,omitempty"`
}

// Component is a part of the device, such as "cpu" or "screen", or a power rail.
type Component struct {
	Name    string  `json:"name"`
	EnergyJ float64 `json:"energy_j"`
}

// Wakelock is one of the app's wakelocks.
type Wakelock struct {
	Name   string  `json:"name"`
	HeldMS float64 `json:"held_ms"`
	// ScreenOffMS is the part of that during which the screen was off, at least.
	ScreenOffMS float64 `json:"screen_off_ms"`
}

// Methods is the energy of the app's methods by sampling (EDATA, section 3.5).
type Methods struct {
	Event    string  `json:"event"`     // what was sampled: "task-clock"
	SampleHz float64 `json:"sample_hz"` // how often, per thread
	Samples  int     `json:"samples"`   // of all iterations
	CPUMS    float64 `json:"cpu_ms"`    // of one iteration, from the samples
	EnergyJ  float64 `json:"energy_j"`  // of one iteration: of all samples
	// Power is PowerSplit where the methods' joules were separated from the device's base power,
	// since the sensor is slower than the methods; "" where they are by the power that was read at
	// the samples. ReadJ is EnergyJ by the latter, where Power is not "".
	Power string  `json:"power,omitempty"`
	ReadJ float64 `json:"read_j,omitempty"`
	// Level is the confidence of each interval, such as 0.95.
	Level float64 `json:"level"`
	// Basis is the source of the intervals: Iterations or Blocks, "" where there are none.
	Basis string `json:"basis,omitempty"`
	// List has the methods, highest energy first, including what they call.
	List []Method `json:"list"`
	// Calls is the tree of calls, each after its caller; small ones are left out.
	Calls []Call `json:"calls,omitempty"`
}

// Sources of the intervals of methods (Methods.Basis).
const (
	Iterations = "iterations" // the spread between iterations
	// Blocks is the spread within recordings, which excludes what differs from one run to the next.
	Blocks = "blocks"
)

// PowerSplit marks the separated power of methods (Methods.Power).
const PowerSplit = "split"

// Method is one method or function.
type Method struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Kind is how its code runs: native, kernel, aot, jit, interpreted, …
	Kind string `json:"kind,omitempty"`
	// Local is the cost of the method's own code, NonLocal that of what it calls. A sample counts
	// once, however often the method is in its chain.
	Local    Cost `json:"local"`
	NonLocal Cost `json:"non_local"`
}

// Cost is what a method costs in one iteration.
type Cost struct {
	Samples int     `json:"samples"` // of all iterations
	Share   float64 `json:"share"`   // of the app's CPU time, 0 to 1
	CPUMS   float64 `json:"cpu_ms"`
	PowerW  float64 `json:"power_w"`
	EnergyJ float64 `json:"energy_j"`
	// LowJ and HighJ are the interval of EnergyJ; both 0 where there is no basis for one.
	LowJ  float64 `json:"low_j"`
	HighJ float64 `json:"high_j"`
	// ReadJ is EnergyJ by the power that was read at the samples, with its interval, where
	// Methods.Power is not "".
	ReadJ     float64 `json:"read_j,omitempty"`
	ReadLowJ  float64 `json:"read_low_j,omitempty"`
	ReadHighJ float64 `json:"read_high_j,omitempty"`
	// TimeShare is Share under an unambiguous name; 0 in older records.
	TimeShare float64 `json:"time_share,omitempty"`
	// StretchMS is the mean length of the method's uninterrupted runs, in CPU time: of its own
	// code, or for NonLocal of the method including calls. Blurred is set where a reading of the
	// sensor covers a longer time, so that no reading is of this method alone.
	StretchMS float64 `json:"stretch_ms,omitempty"`
	Blurred   bool    `json:"blurred,omitempty"`
}

// Call is a node of the tree of calls.
type Call struct {
	// Parent is the caller's index in Methods.Calls, -1 for an outermost frame.
	Parent int    `json:"parent"`
	Name   string `json:"name"`
	Kind   string `json:"kind,omitempty"`
	// EnergyJ is the energy of the call including its callees, per iteration; ReadJ the same by the
	// power that was read at the samples, where Methods.Power is not "".
	EnergyJ float64 `json:"energy_j"`
	ReadJ   float64 `json:"read_j,omitempty"`
}

func (e Energy) validate() error {
	switch {
	case e.Source == "":
		return errors.New("source is empty")
	case len(e.Components) > MaxComponents:
		return fmt.Errorf("components has %d entries, at most %d are allowed", len(e.Components), MaxComponents)
	case len(e.Wakelocks) > MaxWakelocks:
		return fmt.Errorf("wakelocks has %d entries, at most %d are allowed", len(e.Wakelocks), MaxWakelocks)
	}
	if err := errors.Join(checkText(e.Source), amounts(e.UpdateMS, e.BatteryJ)); err != nil {
		return fmt.Errorf("source, update_ms or battery_j: %w", err)
	}
	for i, c := range e.Components {
		if err := errors.Join(checkText(c.Name), amounts(c.EnergyJ)); err != nil {
			return fmt.Errorf("components[%d] %w", i, err)
		}
	}
	for i, w := range e.Wakelocks {
		if err := errors.Join(checkText(w.Name), amounts(w.HeldMS, w.ScreenOffMS)); err != nil {
			return fmt.Errorf("wakelocks[%d] %w", i, err)
		}
	}
	if e.Methods == nil {
		return nil
	}
	if err := e.Methods.validate(); err != nil {
		return fmt.Errorf("methods.%w", err)
	}
	return nil
}

func (m Methods) validate() error {
	switch {
	case len(m.List) > MaxMethods:
		return fmt.Errorf("list has %d entries, at most %d are allowed", len(m.List), MaxMethods)
	case len(m.Calls) > MaxCalls:
		return fmt.Errorf("calls has %d entries, at most %d are allowed", len(m.Calls), MaxCalls)
	case m.Samples < 0 || !(m.Level >= 0 && m.Level <= 1):
		return fmt.Errorf("samples is %d and level %g, want 0 or more and a share", m.Samples, m.Level)
	}
	if err := errors.Join(checkText(m.Event), checkText(m.Basis), checkText(m.Power), amounts(m.SampleHz, m.CPUMS, m.EnergyJ, m.ReadJ)); err != nil {
		return fmt.Errorf("event, basis, power, sample_hz, cpu_ms, energy_j or read_j: %w", err)
	}
	for i, f := range m.List {
		if err := errors.Join(checkText(f.Name), checkText(f.File), checkText(f.Kind), f.Local.validate(), f.NonLocal.validate()); err != nil {
			return fmt.Errorf("list[%d] %w", i, err)
		}
	}
	for i, c := range m.Calls {
		if c.Parent < -1 || c.Parent >= i {
			return fmt.Errorf("calls[%d].parent is %d, want -1 or the place of an earlier call", i, c.Parent)
		}
		if err := errors.Join(checkText(c.Name), checkText(c.Kind), amounts(c.EnergyJ, c.ReadJ)); err != nil {
			return fmt.Errorf("calls[%d] %w", i, err)
		}
	}
	return nil
}

func (c Cost) validate() error {
	if c.Samples < 0 {
		return fmt.Errorf("samples is %d, want 0 or more", c.Samples)
	}
	return amounts(c.Share, c.CPUMS, c.PowerW, c.EnergyJ, c.LowJ, c.HighJ, c.ReadJ, c.ReadLowJ, c.ReadHighJ, c.TimeShare, c.StretchMS)
}

// amounts returns an error for an impossible amount.
func amounts(values ...float64) error {
	for _, v := range values {
		if !(v >= 0 && v <= MaxValue) || math.IsNaN(v) {
			return fmt.Errorf("has the amount %g, want 0 to %g", v, MaxValue)
		}
	}
	return nil
}
