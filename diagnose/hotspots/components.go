package hotspots

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// components returns the parts of the device in head or base.
func components(head run.Run, base []run.Run) []Component {
	out, at := []Component{}, map[string]int{}
	of := func(name string) *Component {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, Component{Name: name})
		}
		return &out[i]
	}
	for _, c := range head.Energy.Components {
		of(c.Name).HeadJ += c.EnergyJ
	}
	for _, b := range base {
		for _, c := range b.Energy.Components {
			of(c.Name).BaseJ += c.EnergyJ / float64(len(base))
		}
	}
	slices.SortStableFunc(out, func(a, b Component) int {
		return cmp.Or(cmp.Compare(math.Abs(b.ChangeJ()), math.Abs(a.ChangeJ())), cmp.Compare(b.HeadJ, a.HeadJ), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), run.MaxComponents)]
}

// wakelocks returns those that the app held in head or base.
func wakelocks(head run.Run, base []run.Run) []Wakelock {
	out, at := []Wakelock{}, map[string]int{}
	of := func(name string) *Wakelock {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, Wakelock{Name: name})
		}
		return &out[i]
	}
	for _, w := range head.Energy.Wakelocks {
		l := of(w.Name)
		l.HeadHeldMS += w.HeldMS
		l.HeadScreenOffMS += w.ScreenOffMS
	}
	longest := map[string]float64{} // with the screen off, in any run of the base
	for _, b := range base {
		for _, w := range b.Energy.Wakelocks {
			l := of(w.Name)
			l.BaseHeldMS += w.HeldMS / float64(len(base))
			l.BaseScreenOffMS += w.ScreenOffMS / float64(len(base))
			longest[w.Name] = max(longest[w.Name], w.ScreenOffMS)
		}
	}
	for i, w := range out {
		before := longest[w.Name]
		out[i].Worse = len(base) > 0 && w.HeadScreenOffMS >= max(before+DrainMS, 1.1*before)
	}
	slices.SortStableFunc(out, func(a, b Wakelock) int {
		return cmp.Or(cmp.Compare(b.HeadScreenOffMS, a.HeadScreenOffMS), cmp.Compare(b.HeadHeldMS, a.HeadHeldMS),
			cmp.Compare(b.BaseScreenOffMS, a.BaseScreenOffMS), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), run.MaxWakelocks)]
}
