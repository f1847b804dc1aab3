// Package counters reads values over time from a Perfetto trace: counters of apps, Android, drivers
// and track events; frequencies, times and loads of CPUs, clocks and GPUs; memory; and counters of
// energy.
//
// Tracks are named as in Perfetto's own trace processor (importers/common/tracks_common.h), so that
// its tables can be compared with these. Package powerdata derives joules from these values.
package counters

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Limits of what is kept.
const (
	MaxRows   = 1_000_000 // values, if their list does not spill
	maxTracks = 100_000
)

// None stands for no thread, process or CPU.
const None = -1

// Value is a counter's new value.
type Value struct {
	At    time.Duration
	Value float64
	Track int32 // index in Reader.Tracks
}

// Track is one counter.
type Track struct {
	Type    string // Perfetto's name of it: atrace_counter, cpu_frequency, …
	Name    string
	Unit    string // "" if unknown
	Thread  int    // in the tracker's Threads, of a counter of its process; None for others
	Process int    // in the tracker's Processes, None for others
	CPU     int    // None for others
	// Own is set if it is the thread's own, rather than its process's.
	Own bool
	// Which distinguishes it from others with its name; 0 if the name is unique.
	Which uint64
	// Raw is the device's own name of a power rail, which may differ from Name.
	Raw string
}

// Reader reads counters.
type Reader struct {
	Values spill.List[Value]
	Tracks []Track
	// Unread counts events of tracks whose values are of no described counter.
	Unread int
	// LeftOut counts system values that are not read, by kind.
	LeftOut map[string]int

	file    *packets.File
	threads *threads.Tracker
	tracks  map[Track]int32
	spaces  map[uint32]int // threads by the memory that they were seen to use
	events  *trackevent.Tracks

	energy    energy
	uids      uids
	wakelocks wakelocks
	gpu       gpu
	sent      map[virtioKey]time.Duration // commands to a virtual GPU
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	r := &Reader{
		file: file, threads: tracker, tracks: map[Track]int32{}, spaces: map[uint32]int{}, events: trackevent.New(file, tracker),
		energy:    energy{rails: map[railKey]rail{}, consumers: map[int32]string{}, states: map[[2]int32]string{}},
		sent:      map[virtioKey]time.Duration{},
		gpu:       gpu{specs: map[specKey]gpuCounter{}, known: map[specKey]bool{}, last: map[Track]int32{}},
		wakelocks: wakelocks{names: map[wakelockOf]wakelock{}, sums: map[wakelockSum]generationValue{}},
		uids: uids{
			clusters: map[*packets.Sequence]uint64{}, last: map[uidOf]generationValue{}, latest: map[uidKey]uint64{},
			sums: map[uidKey]uint64{}, totals: map[totalKey]uint64{},
		},
	}
	r.uids.sparse = sparse{reader: r, last: map[Track]sparseValue{}}
	r.wakelocks.sparse = sparse{reader: r, last: map[Track]sparseValue{}}
	return r
}

// Wants returns the kernel's events of counters, and what Perfetto reads about processes in /proc.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{
		Packets: []protowire.Number{
			field.PacketProcessStats, field.PacketGenericKernelCPUFreqEvent, field.PacketGenericGPUFrequencyEvent, field.PacketAndroidSystemProperty, field.PacketInitialDisplayState, field.PacketTrackDescriptor, field.PacketThreadDescriptor, field.PacketTrackEvent,
			field.PacketBattery, field.PacketPowerRails, field.PacketAndroidEnergyEstimationBreakdown, field.PacketEntityStateResidency,
			field.PacketKernelWakelockData, field.PacketCPUPerUIDData, field.PacketSysStats, field.PacketGPUMemTotalEvent,
			field.PacketGPUCounterEvent,
		},
		Interned: []protowire.Number{field.InternedGPUCounterDescriptors},
		Events: append([]protowire.Number{
			field.EventCPUFrequency, field.EventCPUIdle, field.EventClockEnable, field.EventClockDisable, field.EventClockSetRate,
			field.EventRSSStat, field.EventOOMScoreAdjUpdate, field.EventGPUFrequency, field.EventRSSStatThrottled,
			field.EventCPUFrequencyLimits, field.EventSchedCPUUtilCfs, field.EventGPUMemTotal,
			field.EventVirtioGPUCmdQueue, field.EventVirtioGPUCmdResponse,
		}, atrace.Events...),
	}
}

// Event reads an event. The tracker has already read it.
func (r *Reader) Event(e *packets.Event) {
	switch e.Kind {
	case field.EventCPUFrequency:
		r.cpu(e, "cpu_frequency", "cpufreq")
	case field.EventCPUIdle:
		r.cpu(e, "cpu_idle", "cpuidle")
	case field.EventClockSetRate:
		r.clock(e, "clock_frequency", " Frequency")
	case field.EventClockEnable, field.EventClockDisable:
		r.clock(e, "clock_state", " State")
	case field.EventGPUFrequency:
		r.gpuFrequency(e.At, messages.GPUFrequencyOf(e.Data).State)
	case field.EventCPUFrequencyLimits:
		r.limits(e)
	case field.EventSchedCPUUtilCfs:
		r.load(e)
	case field.EventVirtioGPUCmdQueue, field.EventVirtioGPUCmdResponse:
		r.virtio(e)
	case field.EventGPUMemTotal:
		r.gpuMemoryEvent(e)
	case field.EventRSSStat:
		m := messages.RSSOf(e.Data)
		r.memory(e, memory{uint32(m.Member), m.Size, m.MmID, m.Curr != 0, m.HasCurr && m.HasMmID})
	case field.EventRSSStatThrottled:
		m := messages.RSSThrottledOf(e.Data) // it always states the process
		r.memory(e, memory{uint32(m.Member), m.Size, m.MmID, m.Curr != 0, true})
	case field.EventOOMScoreAdjUpdate:
		r.oomScore(e)
	default:
		if p, ok := atrace.Of(e); ok && p.Phase == 'C' {
			r.point(e, p)
		}
	}
}

// cpu reads a CpuFrequencyFtraceEvent or a CpuIdleFtraceEvent, whose fields are the same.
func (r *Reader) cpu(e *packets.Event, kind, name string) {
	m := messages.CPUFrequencyOf(e.Data)
	r.ofCPU(e.At, float64(m.State), uint64(m.CPUID), kind, name)
}

// clock reads a ClockSetRateFtraceEvent, or one of a clock that is enabled or disabled,
// whose fields are the same.
func (r *Reader) clock(e *packets.Event, kind, suffix string) {
	m := messages.ClockSetRateOf(e.Data)
	r.put(e.At, float64(m.State), device(kind, packets.Name(m.Name)+suffix))
}

// point reads a counter of user space or of a driver. It belongs to its process, whichever thread
// writes it.
func (r *Reader) point(e *packets.Event, p atrace.Point) {
	t := Track{Type: "atrace_counter", Name: p.Name, Thread: None, Process: None, CPU: None}
	switch {
	case p.Name == "ScreenState":
		t.Type = "screen_state"
	case len(p.Name) > len(batteryStats) && p.Name[:len(batteryStats)] == batteryStats:
		t.Type = "battery_stats"
	default:
		t.Process = r.threads.OfProcess(p.PID)
	}
	r.put(e.At, float64(p.Value), t)
}

const batteryStats = "battery_stats."

// put adds a value of a track. It returns its row, None if it has none.
func (r *Reader) put(at time.Duration, value float64, t Track) int32 {
	place, known := r.tracks[t]
	if !known {
		if !r.file.Room("counters", len(r.Tracks), maxTracks) {
			return None
		}
		place = int32(len(r.Tracks))
		r.tracks[t] = place
		r.Tracks = append(r.Tracks, t)
	}
	if !r.file.Room("values of counters", r.Values.Len(), r.Values.Most(MaxRows)) {
		return None
	}
	return r.Values.Add(Value{at, value, place})
}
