package counters

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxRail is the highest id of a power rail.
const maxRail = 256

// energy is the descriptions that later packets refer to.
type energy struct {
	rails     map[railKey]rail
	consumers map[int32]string
	states    map[[2]int32]string
}

type railKey struct {
	session uint64
	index   uint32
}

// describeRails reads the descriptions in a PowerRails (power_rails.proto).
func (r *Reader) describeRails(m *messages.PowerRails) {
	for description := range m.RailDescriptor.Each {
		one := messages.RailOf(description)
		if one.Index <= maxRail && r.file.Room("power rails", len(r.energy.rails), maxTracks) {
			name := packets.Name(one.RailName)
			r.energy.rails[railKey{m.SessionUUID, one.Index}] = rail{name: name, track: railTrack(name)}
		}
	}
}

// rail is a power rail by its own name and by that of its track.
type rail struct{ name, track string }

// parts are trace_processor's names of components by the suffixes of rails' names
// (MapToFriendlyPowerRailName in importers/proto/android_probes_module.cc).
var parts = []struct{ suffix, part string }{
	{"M_VDD_CPUCL0", "cpu.little"}, {"M_VDD_CPUCL0_M", "cpu.little.mem"}, {"M_VDD_CPUCL1", "cpu.mid"}, {"M_VDD_CPUCL1_M", "cpu.mid.mem"},
	{"M_VDD_CPUCL2", "cpu.big"}, {"M_VDD_INT", "system.fabric"}, {"M_VDD_TPU", "tpu"}, {"VSYS_PWR_DISP", "display"},
	{"VSYS_PWR_DISPLAY", "display"}, {"M_DISP", "ldo.main.a.display"}, {"VSYS_PWR_MODEM", "modem"}, {"M_VDD_MIF", "memory.interface"},
	{"VSYS_PWR_WLAN_BT", "wifi.bt"}, {"VSYS_PWR_MMWAVE", "mmwave"}, {"S_VDD_AOC_RET", "aoc.memory"}, {"S_VDD_AOC", "aoc.logic"},
	{"S_VDDQ_MEM", "ddr.a"}, {"S_VDD2L", "ddr.b"}, {"S_VDD2L_MEM", "ddr.b"}, {"S_VDD2H_MEM", "ddr.c"}, {"S_VDD_G3D", "gpu"},
	{"S_VDD_G3D_L2", "gpu.l2"}, {"S_GNSS_CORE", "gps"}, {"VSYS_PWR_RFFE", "radio.frontend"}, {"VSYS_PWR_CAMERA", "camera"},
	{"S_VDD_CAM", "multimedia"}, {"S_UDFPS", "udfps"}, {"S_PLL_MIPI_UFS", "ufs"}, {"M_LLDO1", "ldo.main.a"}, {"M_LLDO2", "ldo.main.b"},
	{"S_LLDO1", "ldo.sub"},
}

// railTrack returns trace_processor's name of the track of a rail.
func railTrack(name string) string {
	for _, one := range parts {
		if strings.HasSuffix(name, one.suffix) {
			return "power.rails." + one.part
		}
	}
	return "power." + name + "_uws"
}

// rails reads the readings in a PowerRails. They may bear times of their own, of
// CLOCK_BOOTTIME.
func (r *Reader) rails(p packets.Packet, m *messages.PowerRails) {
	boottime := r.file.Clocks.Place(packets.KeyOf(r.file.Home, 0, packets.ClockBoottime))
	for reading := range m.EnergyData.Each {
		one := messages.RailEnergyOf(reading)
		rail, known := r.energy.rails[railKey{m.SessionUUID, one.Index}]
		if !known {
			continue
		}
		stamp, value := p.At, float64(one.Energy)
		if one.HasTimestampMS {
			ms := int64(min(one.TimestampMS, packets.MaxTime/uint64(time.Millisecond)))
			stamp = packets.Stamp{Clock: boottime, NS: ms * int64(time.Millisecond)}
		}
		if at, ok := r.file.Time(stamp); ok {
			t := device("power_rails", rail.track)
			t.Which, t.Raw = m.SessionUUID, rail.name
			r.file.Defer(at, 0, func() { r.put(at, value, t) })
		}
	}
}

// describeConsumers reads the names in an AndroidEnergyEstimationBreakdown
// (android_energy_estimation_breakdown.proto); true if there are any.
func (r *Reader) describeConsumers(message []byte) bool {
	said := messages.ConsumersOf(message).EnergyConsumerDescriptor
	list := messages.ConsumerDescriptorOf(said)
	for one := range list.EnergyConsumers.Each {
		if c := messages.ConsumerOf(one); r.file.Room("energy consumers", len(r.energy.consumers), maxTracks) {
			r.energy.consumers[c.EnergyConsumerID] = packets.Name(c.Name)
		}
	}
	return said != nil
}

func (r *Reader) consumer(at time.Duration, message []byte) {
	m := messages.ConsumersOf(message)
	name, known := r.energy.consumers[m.EnergyConsumerID]
	if !known {
		return
	}
	t := device("android_energy_estimation_breakdown", name)
	t.Which = uint64(uint32(m.EnergyConsumerID))
	if m.HasEnergyUws {
		r.put(at, float64(m.EnergyUws), t)
	}
	of := t
	of.Type = "android_energy_estimation_breakdown_per_uid"
	for share := range m.PerUIDBreakdown.Each {
		one := messages.UIDEnergyOf(share)
		of.Which = t.Which<<32 | uint64(uint32(one.UID))
		r.put(at, float64(one.EnergyUws), of)
	}
}

// describeStates reads the names in an EntityStateResidency
// (android_entity_state_residency.proto).
func (r *Reader) describeStates(message []byte) {
	m := messages.ResidencyOf(message)
	for description := range m.PowerEntityState.Each {
		one := messages.PowerStateOf(description)
		if r.file.Room("power states", len(r.energy.states), maxTracks) {
			r.energy.states[[2]int32{one.EntityIndex, one.StateIndex}] = "Entity residency: " + packets.Name(one.EntityName) + " is " + packets.Name(one.StateName)
		}
	}
}

func (r *Reader) residency(at time.Duration, message []byte) {
	m := messages.ResidencyOf(message)
	for reading := range m.Residency.Each {
		one := messages.StateResidencyOf(reading)
		if name, known := r.energy.states[[2]int32{one.EntityIndex, one.StateIndex}]; known {
			r.put(at, float64(one.TotalTimeInStateMS), device("entity_state", name))
		}
	}
}
