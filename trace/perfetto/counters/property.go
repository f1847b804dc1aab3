package counters

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// traced begins the names of the system's properties that Perfetto reads.
const traced = "debug.tracing."

// properties maps properties to the names of their counters.
var properties = map[string]string{
	"mcc": "mcc", "mnc": "mnc", "desktop_mode_visible_tasks": "desktop_mode_visible_tasks",
	"battery_status": "BatteryStatus", "plug_type": "PlugType",
}

// property reads an AndroidSystemProperty (android_system_property.proto): what counters
// were when the trace began.
func (r *Reader) property(at time.Duration, message []byte) {
	list := messages.SystemPropertyOf(message)
	for property := range list.Values.Each {
		p := messages.PropertyOf(property)
		n, err := strconv.ParseInt(packets.Name(p.Value), 10, 32)
		name, ours := strings.CutPrefix(packets.Name(p.Name), traced)
		if err != nil || !ours {
			continue
		}
		t := Track{Thread: None, Process: None, CPU: None}
		switch {
		case name == "screen_state":
			t.Type, t.Name = "screen_state", "ScreenState"
		case strings.HasPrefix(name, batteryStats):
			t.Type, t.Name = "battery_stats", name
		case properties[name] != "":
			t.Type, t.Name = "sysprop_counter", properties[name]
		default:
			continue
		}
		r.put(at, float64(n), t)
	}
}
