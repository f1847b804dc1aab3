package powerdata

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// consumers are the energy consumers of Android's power statistics service
// (android_energy_estimation_breakdown.proto).
type consumers struct {
	list      []consumer
	byID      map[consumerKey]int
	samples   int
	shares    int // UIDs of all consumers
	malformed int
}

type consumer struct {
	Consumer
	readings []stamped[RailSample]
	uids     []uidReadings
	byUID    map[int32]int
}

type uidReadings struct {
	uid      int32
	readings []stamped[RailSample]
}

type consumerKey struct {
	machine uint32
	id      int32
}

// read reads an AndroidEnergyEstimationBreakdown: the description of all
// consumers, or a reading of one.
func (c *consumers) read(d *decoder, p packets.Packet, at packets.Stamp) {
	key := consumerKey{machine: p.Machine}
	var energy *int64
	identified := false
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.ConsumersEnergyConsumerDescriptor:
			c.describe(d, f.Bytes, p.Machine)
		case field.ConsumersEnergyConsumerID:
			key.id, identified = int32(f.Value), true
		case field.ConsumersEnergyUws:
			energy = f.Int64()
		}
	}
	if energy == nil && !identified {
		return // a description
	}
	if energy == nil || *energy < 0 || !identified {
		c.malformed++
		return
	}
	one := c.consumer(d, key)
	if one == nil || !d.Room("readings of energy consumers", c.samples, maxSamples) {
		return
	}
	c.samples++
	one.readings = append(one.readings, stamped[RailSample]{at, RailSample{MicroWattSeconds: uint64(*energy)}})
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number == field.ConsumersPerUIDBreakdown {
			c.share(d, one, f.Bytes, at)
		}
	}
}

// describe reads an AndroidEnergyConsumerDescriptor.
func (c *consumers) describe(d *decoder, message []byte, machine uint32) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.ConsumerDescriptorEnergyConsumers {
			continue
		}
		said := Consumer{Machine: machine}
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.ConsumerEnergyConsumerID:
				said.ID = int32(g.Value)
			case field.ConsumerOrdinal:
				said.Ordinal = int32(g.Value)
			case field.ConsumerType:
				said.Type = g.Text()
			case field.ConsumerName:
				said.Name = g.Text()
			}
		}
		if one := c.consumer(d, consumerKey{machine, said.ID}); one != nil {
			one.Consumer = said
		}
	}
}

// share reads an EnergyUidBreakdown.
func (c *consumers) share(d *decoder, one *consumer, message []byte, at packets.Stamp) {
	var uid int32
	var energy *int64
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.UIDEnergyUID:
			uid = int32(f.Value)
		case field.UIDEnergyEnergyUws:
			energy = f.Int64()
		}
	}
	if energy == nil || *energy < 0 {
		c.malformed++
		return
	}
	place, known := one.byUID[uid]
	if !known {
		if !d.Room("UIDs of energy consumers", c.shares, maxSeries) {
			return
		}
		c.shares++
		place = len(one.uids)
		one.byUID[uid] = place
		one.uids = append(one.uids, uidReadings{uid: uid})
	}
	if d.Room("readings of energy consumers", c.samples, maxSamples) {
		c.samples++
		u := &one.uids[place]
		u.readings = append(u.readings, stamped[RailSample]{at, RailSample{MicroWattSeconds: uint64(*energy)}})
	}
}

// consumer finds or adds a consumer; nil where there are too many. It is valid
// until the next call.
func (c *consumers) consumer(d *decoder, key consumerKey) *consumer {
	if place, ok := c.byID[key]; ok {
		return &c.list[place]
	}
	if !d.Room("energy consumers", len(c.list), maxSeries) {
		return nil
	}
	c.byID[key] = len(c.list)
	c.list = append(c.list, consumer{Consumer: Consumer{ID: key.id, Machine: key.machine}, byUID: map[int32]int{}})
	return &c.list[len(c.list)-1]
}

func (c *consumers) place(v *packets.Conversion) []Consumer {
	var out []Consumer
	for _, one := range c.list {
		one.Samples = placeSamples(v, one.readings)
		for _, u := range one.uids {
			one.UIDs = append(one.UIDs, UIDEnergy{u.uid, placeSamples(v, u.readings)})
		}
		out = append(out, one.Consumer)
	}
	return out
}
