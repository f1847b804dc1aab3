package powerdata

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Limits of the lists of an inspection.
const (
	topThreads   = 50
	topProcesses = 50
	topUIDs      = 50
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	Clock string `json:"clock,omitempty"`
	// First and Last are the span of the trace on Clock.
	First     time.Duration  `json:"first_ns"`
	Last      time.Duration  `json:"last_ns"`
	Suspended float64        `json:"suspended_ms"`
	Packets   map[string]int `json:"packets"`
	Lost      int            `json:"lost"`
	// Powered is nil if the trace does not show whether a charger was connected.
	Powered *bool   `json:"powered,omitempty"`
	Energy  *Energy `json:"energy,omitempty"`

	Rails       []RailDetails     `json:"rails,omitempty"`
	Batteries   []BatteryDetails  `json:"batteries,omitempty"`
	Consumers   []ConsumerDetails `json:"consumers,omitempty"`
	States      []StateDetails    `json:"states,omitempty"`
	PowerStates int               `json:"power_states,omitempty"`
	Frequencies []CPUDetails      `json:"cpus,omitempty"`
	Processes   []ProcessDetails  `json:"processes,omitempty"`
	Threads     []ThreadDetails   `json:"threads,omitempty"`
	UIDTimes    []UIDTimeDetails  `json:"uid_times,omitempty"`
	Ftrace      FtraceDetails     `json:"ftrace"`
}

// Energy is how energy.total_j was computed.
type Energy struct {
	// Source is "rails", or "battery".
	Source string `json:"source"`
	// Of lists the rails that were added up, or the battery's name.
	Of     []string `json:"of"`
	Joules float64  `json:"joules"`
	// Seconds is the time over which the joules were drawn.
	Seconds float64 `json:"seconds"`
}

// RailDetails is one power rail.
type RailDetails struct {
	Name      string  `json:"name"`
	Subsystem string  `json:"subsystem,omitempty"`
	Supply    Supply  `json:"supply"`
	Machine   uint32  `json:"machine,omitempty"`
	Session   uint64  `json:"session,omitempty"`
	SampleHz  uint32  `json:"sample_hz,omitempty"`
	Readings  int     `json:"readings"`
	Joules    float64 `json:"joules"`
	MeanW     float64 `json:"mean_w"`
	UpdateMS  float64 `json:"update_ms"`
}

// ConsumerDetails is one energy consumer of the platform.
type ConsumerDetails struct {
	ID       int32        `json:"id"`
	Name     string       `json:"name"`
	Type     string       `json:"type,omitempty"`
	Readings int          `json:"readings"`
	Joules   float64      `json:"joules"`
	UIDs     []UIDDetails `json:"uids,omitempty"`
}

// UIDDetails is the share of a UID in a consumer's energy.
type UIDDetails struct {
	UID    int32   `json:"uid"`
	Joules float64 `json:"joules"`
}

// StateDetails is a state of the battery service.
type StateDetails struct {
	Name    string `json:"name"`
	Changes int    `json:"changes"`
	First   int64  `json:"first"`
	Last    int64  `json:"last"`
}

// CPUDetails is the frequency of a CPU.
type CPUDetails struct {
	CPU     int    `json:"cpu"`
	Changes int    `json:"changes"`
	MinKHz  uint32 `json:"min_khz"`
	MaxKHz  uint32 `json:"max_khz"`
}

// ThreadDetails is one thread.
type ThreadDetails struct {
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	Name  string  `json:"name"`
	CPUMS float64 `json:"cpu_ms"`
}

// ProcessDetails is one process that ran.
type ProcessDetails struct {
	PID   int     `json:"pid"`
	UID   int     `json:"uid"` // -1 if unknown
	Name  string  `json:"name"`
	CPUMS float64 `json:"cpu_ms"`
}

// UIDTimeDetails is the CPU time of a UID on a cluster of CPUs.
type UIDTimeDetails struct {
	UID     int     `json:"uid"`
	Cluster int     `json:"cluster"`
	CPUMS   float64 `json:"cpu_ms"`
}

// FtraceDetails counts the kernel's events.
type FtraceDetails struct {
	Events int `json:"events"`
	Unread int `json:"unread"` // of kinds that are not parsed
	Lost   int `json:"lost"`   // gaps in the events
}

// Inspect reads a trace and returns its totals: cpu.time_ms if it has the scheduler's events, and
// energy.total_j with power.mean_w if they can be computed without counting anything twice or
// guessing a unit.
func Inspect(r io.Reader) (trace.Inspection, error) {
	t, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	d := t.details()
	metrics := map[string]float64{}
	warnings := t.Warnings
	energy, doubts := t.energy()
	for _, doubt := range doubts {
		warnings = append(warnings, run.Warning{Text: doubt})
	}
	if energy != nil {
		d.Energy = energy
		metrics["energy.total_j"] = energy.Joules
		metrics["power.mean_w"] = energy.Joules / energy.Seconds
	}
	if len(t.Threads) > 0 {
		var sum time.Duration
		for _, thread := range t.Threads {
			sum = plus(sum, thread.CPU)
		}
		metrics["cpu.time_ms"] = milliseconds(sum)
	}
	seen := trace.NewInspection("perfetto", metrics, warnings, d)
	if len(t.Packets) == 0 {
		return seen.Empty(), nil
	}
	return seen, nil
}

// energy returns the device's energy from the best valid source of the trace, nil if there is none;
// the doubts state why a source is not valid.
func (t *Trace) energy() (*Energy, []string) {
	var doubts []string
	if apart, ok := t.Apart(); ok {
		e := Energy{Source: "rails"}
		for _, r := range apart {
			joules, over := r.Energy()
			e.Joules += joules
			e.Seconds = max(e.Seconds, over.Seconds())
			e.Of = append(e.Of, r.Name)
		}
		if e.Seconds > 0 {
			return &e, nil
		}
	} else if len(t.Rails) > 0 {
		doubts = append(doubts, "the energies of the power rails are not added up: it is not known whether one is inside another, or there are too few readings")
	}
	batteries := t.batteries()
	if len(batteries) != 1 {
		if len(batteries) > 1 {
			doubts = append(doubts, fmt.Sprintf("there are %d batteries: no energy is given for them together", len(batteries)))
		}
		return nil, doubts
	}
	e, doubt := batteries[0].energy(t)
	if doubt != "" {
		doubts = append(doubts, doubt)
	}
	return e, doubts
}

func (t *Trace) details() Details {
	d := Details{
		Clock: t.Clock, First: t.Start, Last: t.End, Suspended: milliseconds(t.Suspended),
		Packets: t.Packets, Lost: t.Lost, PowerStates: len(t.Residency),
		Ftrace: FtraceDetails{t.FtraceEvents, t.FtraceUnread, t.CPULost},
	}
	if powered, known := t.Powered(); known {
		d.Powered = &powered
	}
	for _, r := range t.Rails {
		d.Rails = append(d.Rails, r.details())
	}
	for _, b := range t.batteries() {
		d.Batteries = append(d.Batteries, b.details())
	}
	for _, c := range t.Consumers {
		if len(c.Samples) > 0 {
			d.Consumers = append(d.Consumers, c.details())
		}
	}
	for _, s := range t.States {
		if n := len(s.Changes); n > 0 {
			d.States = append(d.States, StateDetails{s.Name, n, s.Changes[0].Value, s.Changes[n-1].Value})
		}
	}
	for _, f := range t.Frequencies {
		c := CPUDetails{CPU: f.CPU, Changes: len(f.Changes), MinKHz: math.MaxUint32}
		for _, change := range f.Changes {
			c.MinKHz, c.MaxKHz = min(c.MinKHz, change.KHz), max(c.MaxKHz, change.KHz)
		}
		d.Frequencies = append(d.Frequencies, c)
	}
	d.ran(t)
	return d
}

// ran lists the processes and threads that used the CPUs.
func (d *Details) ran(t *Trace) {
	processes := slices.Clone(t.Processes)
	slices.SortStableFunc(processes, func(a, b Process) int { return cmp.Compare(b.CPU, a.CPU) })
	for _, p := range processes[:min(len(processes), topProcesses)] {
		if p.CPU > 0 {
			d.Processes = append(d.Processes, ProcessDetails{p.PID, p.UID, p.Name, milliseconds(p.CPU)})
		}
	}
	for _, thread := range t.Threads[:min(len(t.Threads), topThreads)] {
		d.Threads = append(d.Threads, ThreadDetails{thread.PID, thread.TID, thread.Name, milliseconds(thread.CPU)})
	}
	for _, u := range t.UIDTimes {
		if cpu := u.CPU(); cpu > 0 {
			d.UIDTimes = append(d.UIDTimes, UIDTimeDetails{u.UID, u.Cluster, milliseconds(cpu)})
		}
	}
	slices.SortStableFunc(d.UIDTimes, func(a, b UIDTimeDetails) int { return cmp.Compare(b.CPUMS, a.CPUMS) })
	d.UIDTimes = d.UIDTimes[:min(len(d.UIDTimes), topUIDs)]
}

func (r Rail) details() RailDetails {
	joules, over := r.Energy()
	d := RailDetails{
		Name: r.Name, Subsystem: r.Subsystem, Supply: r.Supply, Machine: r.Machine, Session: r.Session,
		SampleHz: r.SampleHz, Readings: len(r.Samples), Joules: joules, UpdateMS: median(updates(r.Samples)),
	}
	if over > 0 {
		d.MeanW = joules / over.Seconds()
	}
	return d
}

func (c Consumer) details() ConsumerDetails {
	joules, _ := c.Energy()
	d := ConsumerDetails{ID: c.ID, Name: c.Name, Type: c.Type, Readings: len(c.Samples), Joules: joules}
	for _, u := range c.UIDs {
		joules, _ := u.Energy()
		d.UIDs = append(d.UIDs, UIDDetails{u.UID, joules})
	}
	slices.SortStableFunc(d.UIDs, func(a, b UIDDetails) int { return cmp.Compare(b.Joules, a.Joules) })
	d.UIDs = d.UIDs[:min(len(d.UIDs), topUIDs)]
	return d
}

// Summary returns the details as a few lines for people.
func (d Details) Summary() []string {
	var lines []string
	if d.Energy != nil && d.Energy.Source == "rails" {
		lines = append(lines, fmt.Sprintf("energy of %d power rails; parts of the device without a rail are not in it", len(d.Energy.Of)))
	}
	if d.Powered != nil && *d.Powered {
		lines = append(lines, "a charger was connected")
	}
	rails := slices.Clone(d.Rails)
	slices.SortStableFunc(rails, func(a, b RailDetails) int { return cmp.Compare(b.Joules, a.Joules) })
	for _, r := range rails[:min(len(rails), 10)] {
		lines = append(lines, fmt.Sprintf("rail %q: %.3f J, %.3f W", r.Name, r.Joules, r.MeanW))
	}
	for _, b := range d.Batteries {
		name := "battery"
		if b.Name != "" {
			name = fmt.Sprintf("battery %q", b.Name)
		}
		lines = append(lines, fmt.Sprintf("%s: %d readings, a new one every %.0f ms", name, b.Readings, b.UpdateMS))
	}
	return lines
}

// median returns the median of times, in milliseconds; 0 if there are none.
func median(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return milliseconds(times[len(times)/2])
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
