package counters

import (
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxRail is the highest number of a power rail.
const maxRail = 256

// energy is what packets say once of what later ones count.
type energy struct {
	rails     map[railKey]rail
	consumers map[int32]string
	states    map[[2]int32]string
}

type railKey struct{ session, index uint64 }

// describeRails reads the descriptions in a PowerRails (power_rails.proto).
func (r *Reader) describeRails(message []byte) {
	session := numberOf(message, field.PowerRailsSessionUUID)
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.PowerRailsRailDescriptor {
			continue
		}
		key := railKey{session: session}
		var name string
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.RailIndex:
				key.index = g.Value
			case field.RailRailName:
				name = g.Text()
			}
		}
		if key.index <= maxRail && r.file.Room("power rails", len(r.energy.rails), maxTracks) {
			r.energy.rails[key] = rail{name: name, track: railTrack(name)}
		}
	}
}

// rail is a power rail by its own name and by that of its track.
type rail struct{ name, track string }

// parts are the parts of a device that trace_processor has for the names of rails, by how
// these end (MapToFriendlyPowerRailName in importers/proto/android_probes_module.cc).
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

// railTrack is what trace_processor calls the track of a rail.
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
func (r *Reader) rails(p packets.Packet) {
	session := numberOf(p.Data, field.PowerRailsSessionUUID)
	boottime := r.file.Clocks.Place(packets.KeyOf(r.file.Home, 0, packets.ClockBoottime))
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number != field.PowerRailsEnergyData {
			continue
		}
		key := railKey{session: session}
		var value uint64
		stamp := p.At
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.RailEnergyIndex:
				key.index = g.Value
			case field.RailEnergyEnergy:
				value = g.Value
			case field.RailEnergyTimestampMS:
				ms := int64(min(g.Value, packets.MaxTime/uint64(time.Millisecond)))
				stamp = packets.Stamp{Clock: boottime, NS: ms * int64(time.Millisecond)}
			}
		}
		rail, known := r.energy.rails[key]
		if !known {
			continue
		}
		if at, ok := r.file.Time(stamp); ok {
			t := device("power_rails", rail.track)
			t.Which, t.Raw = session, rail.name
			r.file.Defer(at, 0, func() { r.put(at, float64(value), t) })
		}
	}
}

// describeConsumers reads the names in an AndroidEnergyEstimationBreakdown
// (android_energy_estimation_breakdown.proto); true where there are some.
func (r *Reader) describeConsumers(message []byte) bool {
	found := false
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.ConsumersEnergyConsumerDescriptor {
			continue
		}
		found = true
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			if g.Number != field.ConsumerDescriptorEnergyConsumers {
				continue
			}
			id, name := int32(numberOf(g.Bytes, field.ConsumerEnergyConsumerID)), ""
			for h := packets.FieldsOf(g.Bytes); h.Next(); {
				if h.Number == field.ConsumerName {
					name = h.Text()
				}
			}
			if r.file.Room("energy consumers", len(r.energy.consumers), maxTracks) {
				r.energy.consumers[id] = name
			}
		}
	}
	return found
}

func (r *Reader) consumer(at time.Duration, message []byte) {
	id := int32(numberOf(message, field.ConsumersEnergyConsumerID))
	name, known := r.energy.consumers[id]
	if !known {
		return
	}
	t := device("android_energy_estimation_breakdown", name)
	t.Which = uint64(uint32(id))
	of := t
	of.Type = "android_energy_estimation_breakdown_per_uid"
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.ConsumersEnergyUws:
			r.put(at, float64(int64(f.Value)), t)
		case field.ConsumersPerUIDBreakdown:
			of.Which = t.Which<<32 | uint64(uint32(numberOf(f.Bytes, field.UIDEnergyUID)))
			r.put(at, float64(int64(numberOf(f.Bytes, field.UIDEnergyEnergyUws))), of)
		}
	}
}

// describeStates reads the names in an EntityStateResidency
// (android_entity_state_residency.proto).
func (r *Reader) describeStates(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.ResidencyPowerEntityState {
			continue
		}
		var key [2]int32
		var entity, state string
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.PowerStateEntityIndex:
				key[0] = int32(g.Value)
			case field.PowerStateStateIndex:
				key[1] = int32(g.Value)
			case field.PowerStateEntityName:
				entity = g.Text()
			case field.PowerStateStateName:
				state = g.Text()
			}
		}
		if r.file.Room("power states", len(r.energy.states), maxTracks) {
			r.energy.states[key] = "Entity residency: " + entity + " is " + state
		}
	}
}

func (r *Reader) residency(at time.Duration, message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.ResidencyResidency {
			continue
		}
		key := [2]int32{int32(numberOf(f.Bytes, field.StateResidencyEntityIndex)), int32(numberOf(f.Bytes, field.StateResidencyStateIndex))}
		if name, known := r.energy.states[key]; known {
			r.put(at, float64(numberOf(f.Bytes, field.StateResidencyTotalTimeInStateMS)), device("entity_state", name))
		}
	}
}

// numberOf is the value of a field that is a number; 0 where it is missing.
func numberOf(message []byte, number protowire.Number) uint64 {
	var v uint64
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == number {
			v = f.Value
		}
	}
	return v
}
