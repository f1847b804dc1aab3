package powerdata

import (
	"bytes"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// States that show whether a charger is connected.
const (
	statePlugged       = "battery_stats.plugged"
	stateCharging      = "battery_stats.charging"
	statePlugType      = "plug_type"
	stateBatteryStatus = "battery_status"
)

// statePrefix begins the names of the battery service's counters, in the kernel's trace and, after
// propertyPrefix, in system properties.
const (
	statePrefix    = "battery_stats."
	propertyPrefix = "debug.tracing."
)

// states are the power-related counters of a trace.
type states struct {
	list    []state
	byName  map[string]int
	changes int
}

type state struct {
	name    string
	changes []stamped[StateChange]
}

// properties reads an AndroidSystemProperty (android_system_property.proto).
func (s *states) properties(d *decoder, message []byte, at packets.Stamp) {
	list := messages.SystemPropertyOf(message)
	for property := range list.Values.Each {
		p := messages.PropertyOf(property)
		short, ours := bytes.CutPrefix(p.Name, []byte(propertyPrefix))
		switch {
		case !ours:
		case bytes.HasPrefix(short, []byte(statePrefix)):
			s.change(d, short, p.Value, at)
		case string(short) == "screen_state", string(short) == statePlugType, string(short) == stateBatteryStatus:
			s.change(d, short, p.Value, at)
		}
	}
}

// print reads a line that user space wrote to the kernel's trace: a counter is "C|PID|NAME|VALUE".
// at is called if the line is used.
func (s *states) print(d *decoder, line []byte, at func() packets.Stamp) {
	rest, counter := bytes.CutPrefix(line, []byte("C|"))
	if !counter {
		return
	}
	_, rest, _ = bytes.Cut(rest, []byte("|"))
	if !bytes.HasPrefix(rest, []byte(statePrefix)) {
		return
	}
	short, value, _ := bytes.Cut(rest, []byte("|"))
	s.change(d, short, bytes.TrimRight(value, "\n\x00"), at())
}

// change records a new value of a state; one that is not a number is ignored.
func (s *states) change(d *decoder, short, value []byte, at packets.Stamp) {
	v, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return
	}
	n := packets.Name(short)
	place, known := s.byName[n]
	if !known {
		if !d.Room("states", len(s.list), maxSeries) {
			return
		}
		place = len(s.list)
		s.byName[n] = place
		s.list = append(s.list, state{name: n})
	}
	if d.Room("changes of states", s.changes, maxSamples) {
		s.changes++
		one := &s.list[place]
		one.changes = append(one.changes, stamped[StateChange]{at, StateChange{Value: v}})
	}
}

func (s *states) place(v *packets.Conversion) []State {
	var out []State
	for _, one := range s.list {
		out = append(out, State{one.name, placed(v, one.changes, func(c *StateChange, at time.Duration) { c.Time = at })})
	}
	return out
}

// Powered reports whether a charger was connected at any time of the trace; known is false if the
// trace does not show it. Battery status 4, "not charging", also means a device on a charger
// (android.os.BatteryManager).
func (t *Trace) Powered() (powered, known bool) {
	for _, s := range t.States {
		for _, c := range s.Changes {
			switch s.Name {
			case statePlugged, stateCharging, statePlugType:
				known = true
				powered = powered || c.Value != 0
			case stateBatteryStatus:
				if c.Value >= 2 && c.Value <= 5 {
					known = true
					powered = powered || c.Value != 3
				}
			}
		}
	}
	return powered, known
}
