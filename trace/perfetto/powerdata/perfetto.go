// Package powerdata reads the energy data of Perfetto traces (.perfetto-trace, .pftrace): power
// rails, battery counters, the platform's energy consumers, time in power states, states of the
// battery service, the CPU's frequencies, suspension, and CPU time by thread.
//
// It owns the meaning of these readings and the place of a rail in the supply. The file, its
// sequences and clocks are package packets'. It does not convert readings to power over time and
// corrects no unit or sign (package energy does), and it ignores all other data of a trace.
//
// All times are on one clock, CLOCK_MONOTONIC if the trace leads there. A reading whose time can't
// be converted is left out and counted. Rails are added up only if it is known that none feeds
// another.
package powerdata

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Trace is one file as plain data. All times are on Clock.
type Trace struct {
	// Clock is "monotonic", or the trace's own clock, usually "boottime", if nothing in the trace
	// leads from it to CLOCK_MONOTONIC.
	Clock string
	// Start and End are the first and the last time in the trace.
	Start, End time.Duration
	// Suspended is how long the device was suspended between the first and the last snapshot of its
	// clocks: the gain of CLOCK_BOOTTIME on CLOCK_MONOTONIC.
	Suspended time.Duration
	// Suspends are the suspensions reported by the kernel (suspend_resume). On CLOCK_MONOTONIC they
	// take next to no time.
	Suspends []Span

	Rails     []Rail
	Battery   []BatterySample // in chronological order
	Consumers []Consumer
	Residency []StateTime
	// States are counters of the battery service and of system properties.
	States []State
	// Frequencies are the changes of each CPU's frequency.
	Frequencies []Frequency
	// Threads have the CPU time reported by the scheduler, the busiest first. The idle thread, 0,
	// is not included.
	Threads   []Thread
	Processes []Process
	// UIDTimes are the CPU times of UIDs as the kernel counts them, by cluster of CPUs, if the
	// trace has them (Android's cpu_per_uid data source).
	UIDTimes []UIDTime

	// Packets counts the packets by their content: "ftrace_events", "battery", ….
	Packets map[string]int
	// FtraceEvents counts the kernel's events, FtraceUnread those of kinds that this package does
	// not parse.
	FtraceEvents, FtraceUnread int
	// Lost counts the gaps in sequences of packets, CPULost those in the kernel's events, caused by
	// full buffers.
	Lost, CPULost int
	Warnings      []run.Warning
}

// Span is an interval of time.
type Span struct {
	Start, End time.Duration
}

// Rail is one power rail of an on-device power monitor.
type Rail struct {
	Name      string // the device's name of it: "S2M_VDD_CPUCL2"
	Subsystem string // "cpu", "" if unknown
	SampleHz  uint32 // the monitor's own rate, 0 if unknown
	Machine   uint32 // 0 for the traced device
	Session   uint64 // distinguishes concurrent data sources; usually 0
	Supply    Supply
	Samples   []RailSample // in chronological order
}

// RailSample is the reading of a rail's counter.
type RailSample struct {
	Time time.Duration
	// MicroWattSeconds is the energy since the device started, 1e-6 J.
	MicroWattSeconds uint64
}

// BatterySample is one reading of a battery's counters. A counter that was not read is nil. Units
// are those of the interface's specification; devices differ.
type BatterySample struct {
	Time      time.Duration
	Name      string // "" on phones; "BAT0" and the like on devices with several batteries
	Machine   uint32 // 0 for the traced device
	ChargeUAH *int64 // the remaining charge, µAh
	EnergyUWH *int64 // the remaining energy, µWh
	CurrentUA *int64 // µA; negative while discharging, as Android specifies
	// CurrentAverageUA is the device's own mean of the current, µA.
	CurrentAverageUA *int64
	VoltageUV        *int64   // µV
	Percent          *float64 // 0 to 100
}

// Consumer is a component whose energy Android's power statistics service reports, such as "CPUCL0"
// or "display".
type Consumer struct {
	ID      int32
	Name    string
	Type    string // "CPU_CLUSTER", "DISPLAY", …
	Ordinal int32  // among those of the type
	Machine uint32 // 0 for the traced device
	Samples []RailSample
	// UIDs are the apps' shares of the energy, if the device reports them.
	UIDs []UIDEnergy
}

// UIDEnergy is the share of one UID in a consumer's energy.
type UIDEnergy struct {
	UID     int32
	Samples []RailSample
}

// StateTime is how long a component was in one of its power states.
type StateTime struct {
	Entity, State string // "Display", "On"
	Samples       []ResidencySample
}

// ResidencySample is the reading of a state's counters, since the start of the
// device.
type ResidencySample struct {
	Time    time.Duration
	Total   time.Duration
	Entries uint64
}

// State is a counter over time: "battery_stats.plugged", "screen_state", ….
type State struct {
	Name    string
	Changes []StateChange // in chronological order
}

// StateChange is a new value of a state.
type StateChange struct {
	Time  time.Duration
	Value int64
}

// Frequency is a CPU's frequency over time.
type Frequency struct {
	CPU     int
	Changes []FrequencyChange // in chronological order
}

// FrequencyChange is a new frequency of a CPU.
type FrequencyChange struct {
	Time time.Duration
	KHz  uint32
}

// Thread is a thread with its time on a CPU.
type Thread struct {
	TID  int
	PID  int    // 0 if unknown
	Name string // "" if unknown
	CPU  time.Duration
}

// Process is a process that the trace names.
type Process struct {
	PID  int
	UID  int    // -1 if unknown
	Name string // the command line's first word
	CPU  time.Duration
}

// UIDTime is the CPU time of one UID on one cluster of CPUs.
type UIDTime struct {
	UID, Cluster int
	Samples      []CPUSample // in chronological order
}

// CPUSample is a reading of a CPU time.
type CPUSample struct {
	Time  time.Duration
	Total time.Duration // since the start of the device
}

// Limits of a file, in addition to those of the packets. What exceeds them is counted, not kept.
const (
	MaxFile     = packets.MaxFile // bytes of the file
	maxSamples  = 1_000_000       // readings of each kind
	maxSeries   = 10_000
	maxThreads  = 200_000
	maxMachines = 8
	maxSources  = 8 // of the kernel's events, on one machine
	maxCPUs     = packets.MaxCPUs
)
