package history

import (
	"maps"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
)

// An emulator's history from before its renderer was recorded is still used; once that is known,
// another renderer is another context.
func TestEmulatorHistoryWithoutRenderer(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	before := map[string]string{"model": "sdk_gphone64", "sdk": "14", "network": "wifi"}
	as := func(gpu string) map[string]string {
		c := maps.Clone(before)
		c[devctx.Virtual], c[devctx.GPU], c[devctx.RAM], c[devctx.Cores], c[devctx.Density] = "emulator", gpu, "2 GB", "4", "420"
		c[devctx.Host], c[devctx.SecurityPatch] = "some CPU, 4 cores", "2026-01-05"
		return c
	}
	past := gatetest.Steady(12, before, 8)
	verdict := func(context map[string]string, ms float64) gate.RunVerdict {
		now := gatetest.In(gatetest.Run("now", map[string]float64{"frames.duration_ms": ms}), context)
		return Check(p, metric.Default(), []Subject{{Run: now, References: gatetest.Summaries(p, past...)}}).Runs[0]
	}
	old, since := verdict(before, 8), verdict(as("swiftshader"), 8)
	if old.Verdict != gate.Pass || since.Verdict != old.Verdict || since.Reason != old.Reason {
		t.Errorf("judged %s (%s), and before, %s (%s)", since.Verdict, since.Reason, old.Verdict, old.Reason)
	}
	past = append(past, gatetest.In(gatetest.Run("z", map[string]float64{"frames.duration_ms": 8}), as("swiftshader")))
	if v := verdict(as("swiftshader"), 8); v.Verdict != gate.Pass {
		t.Errorf("after the first run that tells it: %s (%s)", v.Verdict, v.Reason)
	}
	if v := verdict(as("NVIDIA"), 8); v.Verdict != gate.Inconclusive {
		t.Errorf("another renderer is cleared by the history of the one before: %s (%s)", v.Verdict, v.Reason)
	}
}
