package recorders

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// producer is a program that writes into traces.
type producer struct {
	name, source string
	categories   []string // of track events
}

// queryService is perfetto --query-raw: the state of its service (tracing_service_state.proto). The
// system's processes register the category mq where Android has the flag on.
func (c *call) queryService() {
	all := []producer{{"perfetto.traced_probes", "linux.ftrace", nil}}
	if c.Profile.SDKTracing {
		all = append(all, producer{"system_server", "track_event", []string{"mq"}})
	}
	now := c.Clock.Now()
	for _, d := range c.All() {
		if c.Registers(d.App) && d.Lives(now, now+1) {
			all = append(all, producer{d.App.Package, "track_event", []string{"mq"}})
		}
	}
	var state []byte
	for i, one := range all {
		state = within(state, 1, within(numbered(nil, 1, i+1), 2, []byte(one.name)))
	}
	for i, one := range all {
		descriptor := within(nil, 1, []byte(one.source))
		if one.categories != nil {
			var events []byte
			for _, name := range one.categories {
				events = within(events, 1, within(nil, 1, []byte(name)))
			}
			descriptor = within(descriptor, 6, events)
		}
		state = within(state, 2, numbered(within(nil, 1, descriptor), 2, i+1))
	}
	c.Printf("%s", state)
}

func within(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

func numbered(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}
