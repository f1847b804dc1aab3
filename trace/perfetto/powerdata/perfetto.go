// Package powerdata reads Perfetto traces (.perfetto-trace, .pftrace) for what
// they say of energy: power rails, battery counters, the platform's energy
// consumers, time in power states, states of the battery service, the CPU's
// frequencies, suspension, and CPU time by thread.
//
// It owns what these readings mean and the place of a rail in the supply. The file,
// its sequences and clocks are package packets'. It does not turn readings into power
// over time and corrects no unit or sign (package energy does), and it passes over all
// that a trace says of anything else.
//
// It takes a stand: all times are on one clock, CLOCK_MONOTONIC where the trace
// can tell it. A reading whose time can't be brought there is left out and
// counted. Rails are added up only where it is known that none is inside
// another.
package powerdata

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Trace is one file as plain data. All times are on Clock.
type Trace struct {
	// Clock is "monotonic", or the trace's own clock, mostly "boottime", where
	// the trace holds nothing that leads from it to CLOCK_MONOTONIC.
	Clock string
	// Start and End are the first and the last time that the trace bears.
	Start, End time.Duration
	// Suspended is how long the device was suspended between the first and the
	// last snapshot of its clocks: what CLOCK_BOOTTIME gained on CLOCK_MONOTONIC.
	Suspended time.Duration
	// Suspends are the suspensions that the kernel tells of (suspend_resume). On
	// CLOCK_MONOTONIC they take next to no time.
	Suspends []Span

	Rails     []Rail
	Battery   []BatterySample // in the order of time
	Consumers []Consumer
	Residency []StateTime
	// States are counters of the battery service and of system properties.
	States []State
	// Frequencies are the changes of each CPU's frequency.
	Frequencies []Frequency
	// Threads have CPU time as the scheduler tells it, the busiest first. The
	// idle thread, 0, is not among them.
	Threads   []Thread
	Processes []Process
	// UIDTimes are the CPU times of UIDs as the kernel counts them, by cluster of
	// CPUs, where the trace holds them (Android's cpu_per_uid data source).
	UIDTimes []UIDTime

	// Packets counts the packets by what they hold: "ftrace_events", "battery", ….
	Packets map[string]int
	// FtraceEvents counts the kernel's events, FtraceUnread those of kinds that
	// this package passes over.
	FtraceEvents, FtraceUnread int
	// Lost counts the gaps in sequences of packets, CPULost those in the kernel's
	// events: a buffer was full.
	Lost, CPULost int
	Warnings      []run.Warning
}

// Span is an interval of time.
type Span struct {
	Start, End time.Duration
}

// Rail is one power rail of an on-device power monitor.
type Rail struct {
	Name      string // as the device names it: "S2M_VDD_CPUCL2"
	Subsystem string // "cpu", "" where not told
	SampleHz  uint32 // the monitor's own rate, 0 where not told
	Machine   uint32 // 0 for the device that was traced
	Session   uint64 // tells data sources apart that ran side by side; mostly 0
	Supply    Supply
	Samples   []RailSample // in the order of time
}

// RailSample is the reading of a rail's counter.
type RailSample struct {
	Time time.Duration
	// MicroWattSeconds is the energy since the device started, 1e-6 J.
	MicroWattSeconds uint64
}

// BatterySample is one reading of a battery's counters. A counter that was not
// read is nil. Units are those that the interface asks for; devices differ.
type BatterySample struct {
	Time      time.Duration
	Name      string // "" on phones; "BAT0" and the like with several batteries
	Machine   uint32 // 0 for the device that was traced
	ChargeUAH *int64 // what is left in the battery, µAh
	EnergyUWH *int64 // what is left in the battery, µWh
	CurrentUA *int64 // µA; Android asks for less than 0 while discharging
	// CurrentAverageUA is the device's own mean of the current, µA.
	CurrentAverageUA *int64
	VoltageUV        *int64   // µV
	Percent          *float64 // 0 to 100
}

// Consumer is a part of the device whose energy Android's power statistics
// service tells, such as "CPUCL0" or "display".
type Consumer struct {
	ID      int32
	Name    string
	Type    string // "CPU_CLUSTER", "DISPLAY", …
	Ordinal int32  // among those of the type
	Machine uint32 // 0 for the device that was traced
	Samples []RailSample
	// UIDs are the apps' shares of the energy, where the device splits it.
	UIDs []UIDEnergy
}

// UIDEnergy is the share of one UID in a consumer's energy.
type UIDEnergy struct {
	UID     int32
	Samples []RailSample
}

// StateTime is how long a part of the device was in one of its power states.
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
	Changes []StateChange // in the order of time
}

// StateChange is a new value of a state.
type StateChange struct {
	Time  time.Duration
	Value int64
}

// Frequency is a CPU's frequency over time.
type Frequency struct {
	CPU     int
	Changes []FrequencyChange // in the order of time
}

// FrequencyChange is a new frequency of a CPU.
type FrequencyChange struct {
	Time time.Duration
	KHz  uint32
}

// Thread is a thread with its time on a CPU.
type Thread struct {
	TID  int
	PID  int    // 0 where not told
	Name string // "" where not told
	CPU  time.Duration
}

// Process is a process that the trace names.
type Process struct {
	PID  int
	UID  int    // -1 where not told
	Name string // the command line's first word
	CPU  time.Duration
}

// UIDTime is the CPU time of one UID on one cluster of CPUs.
type UIDTime struct {
	UID, Cluster int
	Samples      []CPUSample // in the order of time
}

// CPUSample is a reading of a CPU time.
type CPUSample struct {
	Time  time.Duration
	Total time.Duration // since the start of the device
}

// Limits on what a file may hold, beside those of the packets. Beyond them the rest is
// counted, not kept.
const (
	MaxFile     = packets.MaxFile // bytes of the file
	maxSamples  = 1_000_000       // readings of each kind
	maxSeries   = 10_000
	maxThreads  = 200_000
	maxMachines = 8
	maxSources  = 8 // of the kernel's events, on one machine
	maxCPUs     = packets.MaxCPUs
)
