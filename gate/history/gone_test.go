package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// An event that the runs of this context have and the new one lacks is missing; one that only other
// phones have raises no doubt, and the preset dune ignores missing events.
func TestMissingEventsOfOwnContext(t *testing.T) {
	on := func(id, model string, events ...string) run.Run {
		var buckets []run.Bucket
		for _, name := range events {
			buckets = append(buckets, run.Bucket{Name: name, Metrics: map[string]float64{"frames.duration_ms": 8, "frames.count": 60}})
		}
		return gatetest.In(gatetest.Run(id, gatetest.Frames(450, 0.9, 8), buckets...), map[string]string{"model": model})
	}
	var accepted []run.Run
	for i := range 8 {
		accepted = append(accepted, on(fmt.Sprint("r", i), "a", "tap", "swipe"))
	}
	for _, c := range []struct {
		preset, model string
		missed        bool
	}{{gate.PresetDefault, "a", true}, {gate.PresetDefault, "b", false}, {gate.PresetDune, "a", false}, {gate.PresetDune, "b", false}} {
		p := gatetest.Policy(t, c.preset)
		p.Grain = gate.Both
		v := checkOne(p, on("new", c.model, "swipe"), accepted...)
		said := strings.Contains(v.Reason, "tap")
		if said != c.missed {
			t.Errorf("%s on %s: its reason says that tap is gone: %t (%s)", c.preset, c.model, said, v.Reason)
		}
	}
}
