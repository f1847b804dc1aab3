package powerdata

import (
	"github.com/apkgate/apkgate/trace/perfetto/messages"
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
	b := messages.ConsumersOf(p.Data)
	if b.EnergyConsumerDescriptor != nil {
		c.describe(d, b.EnergyConsumerDescriptor, p.Machine)
	}
	if !b.HasEnergyUws && !b.HasEnergyConsumerID {
		return // a description
	}
	if b.EnergyUws < 0 || !b.HasEnergyUws || !b.HasEnergyConsumerID {
		c.malformed++
		return
	}
	one := c.consumer(d, consumerKey{p.Machine, b.EnergyConsumerID})
	if one == nil || !d.Room("readings of energy consumers", c.samples, maxSamples) {
		return
	}
	c.samples++
	one.readings = append(one.readings, stamped[RailSample]{at, RailSample{MicroWattSeconds: uint64(b.EnergyUws)}})
	for share := range b.PerUIDBreakdown.Each {
		c.share(d, one, share, at)
	}
}

// describe reads an AndroidEnergyConsumerDescriptor.
func (c *consumers) describe(d *decoder, message []byte, machine uint32) {
	list := messages.ConsumerDescriptorOf(message)
	for raw := range list.EnergyConsumers.Each {
		m := messages.ConsumerOf(raw)
		said := Consumer{Machine: machine, ID: m.EnergyConsumerID, Ordinal: m.Ordinal, Type: packets.Name(m.Type), Name: packets.Name(m.Name)}
		if one := c.consumer(d, consumerKey{machine, said.ID}); one != nil {
			one.Consumer = said
		}
	}
}

// share reads an EnergyUidBreakdown.
func (c *consumers) share(d *decoder, one *consumer, message []byte, at packets.Stamp) {
	said := messages.UIDEnergyOf(message)
	if !said.HasEnergyUws || said.EnergyUws < 0 {
		c.malformed++
		return
	}
	uid := said.UID
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
		u.readings = append(u.readings, stamped[RailSample]{at, RailSample{MicroWattSeconds: uint64(said.EnergyUws)}})
	}
}

// consumer finds or adds a consumer; nil if there are too many. It is valid until the next call.
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
