package hotspots

import "github.com/apkgate/apkgate/diagnose"

// mostBars is how many methods are drawn as bars.
const mostBars = 12

// pictures returns the methods' own code as bars, and the tree of calls.
func (t teller) pictures() []diagnose.Picture {
	if t.Methods == nil {
		return nil
	}
	return []diagnose.Picture{
		{Kind: diagnose.BarsPicture, Title: "The methods' own code", Label: "Energy of methods", Bars: t.Methods.bars()},
		{Kind: diagnose.FlamePicture, Title: "Where the energy goes, by call", Label: "Calls by energy", Flame: t.Methods.flame()},
	}
}

func (m Methods) bars() *diagnose.Bars {
	out := &diagnose.Bars{Unit: "J", Axis: "joules of the method's own code, per repetition", Beside: m.HasBase()}
	for _, method := range m.List {
		if len(out.List) == mostBars {
			break
		}
		if max(method.Local.Head.J, method.Local.Base.J) > 0 {
			out.List = append(out.List, diagnose.Bar{
				Name: method.Name, Base: method.Local.Base.measured(), Head: method.Local.Head.measured(),
				Direction: direction(method), Status: methodStatus(method),
			})
		}
	}
	return out
}

func (j Joules) measured() diagnose.Measured {
	return diagnose.Measured{Value: j.J, Low: j.LowJ, High: j.HighJ}
}

func (m Methods) flame() *diagnose.Flame {
	out := &diagnose.Flame{Unit: "J", Of: "energy", Beside: m.HasBase(), Calls: make([]diagnose.Call, len(m.Calls))}
	for i, c := range m.Calls {
		out.Calls[i] = diagnose.Call{Parent: c.Parent, Name: c.Name, Kind: c.Kind, Base: c.BaseJ, Head: c.HeadJ}
	}
	return out
}
