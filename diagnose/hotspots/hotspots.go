// Package hotspots explains where a run's energy went compared with similar runs: by method, by
// part of the device and by wakelock.
//
// It owns what is compared with what, the matching of methods across builds, which of them explain
// a change, and the words: causes, sentences, tables and the data of figures. It does not decide
// whether a change is a regression (package gate does, on whole runs and events), and it formats no
// numbers: package report does.
//
// A method is explained by the energy of its own code, so that no joule counts twice, and nothing
// is claimed of a method where the intervals of base and head overlap.
//
// Source: EDATA, section 3.5.3.4 (local and non-local metrics) and chapter 5 (the case study: a
// list of methods that does not explain the energy points to a wakelock).
package hotspots

import (
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// Limits on a Change.
const (
	MaxBase       = 5  // runs that a head is compared with
	MaxExplaining = 10 // methods that explain a change
	MaxCallers    = 8  // listed callers of a method
)

// Change is where the energy of one run, the head, went compared with similar runs, the base. All
// joules are per iteration; those of the base are the mean of its runs.
type Change struct {
	Run      string `json:"run"`
	Scenario string `json:"scenario"`
	// Device are the properties of the context that identify the device: manufacturer, model, sdk
	// and network, as far as known.
	Device map[string]string `json:"device,omitempty"`
	// Source is the source of the joules, as in run.Energy; those of the base have the same.
	Source string `json:"source"`
	// Base are the ids of the runs compared with; empty where no similar run is known, and then
	// everything of the base is zero.
	Base []string `json:"base"`
	// DebugBuild is set where the head is a debug build, whose energy is misleading (EDATA,
	// sections 6.2.1 and 6.4.1).
	DebugBuild bool `json:"debug_build,omitempty"`
	// UpdateMS is the median time between two readings of the sensor, 0 where there is none;
	// BatteryJ is the energy of a full battery, 0 where unknown.
	UpdateMS float64 `json:"update_ms,omitempty"`
	BatteryJ float64 `json:"battery_j,omitempty"`
	// Total is the energy.total_j of an iteration, App its energy.app_j; zero
	// where unknown.
	Total Amount `json:"total"`
	App   Amount `json:"app"`
	// Traffic is what the app received and sent; nil where the head lacks it.
	Traffic *Traffic `json:"traffic,omitempty"`
	// Components are sorted by change; without a base, by energy.
	Components []Component `json:"components"`
	// Wakelocks are sorted by how long they were held while the screen was off.
	Wakelocks []Wakelock `json:"wakelocks"`
	// Methods is nil where the head's methods were not sampled.
	Methods *Methods `json:"methods,omitempty"`
}

// Amount is joules of the base and of the head.
type Amount struct {
	BaseJ float64 `json:"base_j"`
	HeadJ float64 `json:"head_j"`
}

// ChangeJ returns how much more the head takes.
func (a Amount) ChangeJ() float64 { return a.HeadJ - a.BaseJ }

// Traffic is bytes of the base and of the head.
type Traffic struct {
	BaseBytes float64 `json:"base_bytes"`
	HeadBytes float64 `json:"head_bytes"`
}

// Component is a part of the device.
type Component struct {
	Name string `json:"name"`
	Amount
}

// Wakelock is one of the app's wakelocks.
type Wakelock struct {
	Name string `json:"name"`
	// How long it was held in an iteration, and how much of that with the screen off.
	BaseHeldMS      float64 `json:"base_held_ms"`
	HeadHeldMS      float64 `json:"head_held_ms"`
	BaseScreenOffMS float64 `json:"base_screen_off_ms"`
	HeadScreenOffMS float64 `json:"head_screen_off_ms"`
	// Worse is set where the head held it with the screen off for clearly longer than any run of
	// the base.
	Worse bool `json:"worse,omitempty"`
}

// DrainMS is the time held with the screen off from which on a wakelock is reported.
const DrainMS = 1_000

// HasBase reports whether there are runs to compare the head with.
func (c Change) HasBase() bool { return len(c.Base) > 0 }

// Explaining returns the methods that explain the change, the largest first.
func (c Change) Explaining() []Method {
	var out []Method
	if c.Methods != nil {
		for _, m := range c.Methods.List {
			if m.Explains {
				out = append(out, m)
			}
		}
	}
	return out
}

// Enclosing returns the method that contains the change, where the own code of few methods doesn't
// explain it; ok is false where there is none.
func (c Change) Enclosing() (m Method, ok bool) {
	if c.Methods != nil {
		for _, m := range c.Methods.List {
			if m.Encloses {
				return m, true
			}
		}
	}
	return Method{}, false
}

// Explain compares a run with the most similar candidates: at most MaxBase, of the same app,
// scenario and source of joules. ok is false where the head has no energy.
func Explain(head run.Run, candidates []run.Run) (c Change, ok bool) {
	if head.Energy == nil {
		return Change{}, false
	}
	base := beside(head, candidates)
	c = Change{
		Run: head.ID, Scenario: head.Scenario, Device: devctx.Only(head.Context, devctx.Named), Source: head.Energy.Source, Base: []string{}, DebugBuild: debugBuild(head),
		UpdateMS: head.Energy.UpdateMS, BatteryJ: head.Energy.BatteryJ,
		Total: amount(head, base, "energy.total_j"), App: amount(head, base, "energy.app_j"), Traffic: traffic(head, base),
		Components: components(head, base), Wakelocks: wakelocks(head, base),
	}
	for _, b := range base {
		c.Base = append(c.Base, b.ID)
		if c.BatteryJ == 0 {
			c.BatteryJ = b.Energy.BatteryJ
		}
	}
	if head.Energy.Methods != nil {
		c.Methods = compareMethods(head, base)
		c.explain(diagnose.OwnNames(head.App.Package))
	}
	return c, true
}

// debugBuild reports whether the app is built for debugging: by the name of its build type or by
// the device.
func debugBuild(r run.Run) bool {
	switch strings.ToLower(r.Context["debuggable"]) {
	case "true", "yes", "1":
		return true
	}
	return strings.Contains(strings.ToLower(r.App.Build), "debug")
}

// amount returns a metric of whole iterations: the mean of the head's, and the mean over the base's
// runs of theirs.
func amount(head run.Run, base []run.Run, metric string) Amount {
	a := Amount{HeadJ: mean(head, metric)}
	known := 0
	for _, b := range base {
		if v := mean(b, metric); v > 0 {
			a.BaseJ += v
			known++
		}
	}
	a.BaseJ /= float64(max(known, 1))
	return a
}

// traffic returns the bytes received and sent of the head, and the mean of those base runs that
// have them; nil where the head or all of the base lack them.
func traffic(head run.Run, base []run.Run) *Traffic {
	of, ok := bytes(head)
	if !ok {
		return nil
	}
	t, known := &Traffic{HeadBytes: of}, 0
	for _, b := range base {
		if v, ok := bytes(b); ok {
			t.BaseBytes += v
			known++
		}
	}
	if known == 0 && len(base) > 0 {
		return nil
	}
	t.BaseBytes /= float64(max(known, 1))
	return t
}

// bytes returns what an iteration received and sent; ok is false where none has it.
func bytes(r run.Run) (sum float64, ok bool) {
	for _, it := range r.Iterations {
		_, told := it.Metrics["network.rx_bytes"]
		ok = ok || told
	}
	return mean(r, "network.rx_bytes") + mean(r, "network.tx_bytes"), ok
}

// mean returns a metric's mean over the iterations that have it, 0 where none has.
func mean(r run.Run, metric string) float64 {
	sum, n := 0.0, 0
	for _, it := range r.Iterations {
		if v, ok := it.Metrics[metric]; ok {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1))
}
