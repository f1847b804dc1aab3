package layout

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/report/reporttest"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// The energy fixtures are made by hand; nothing in them was measured. A repetition of the base
// takes 12.4 J, one of the head 15.6 J; their battery has 60,000 J. The samples of the app's
// methods take 6 J and 9 J.

// ownCode returns a method whose own code takes j joules, ± give.
func ownCode(name string, j, give float64) run.Method {
	return run.Method{Name: name, File: "base.apk", Kind: "aot", Local: run.Cost{Samples: int(100 * j), EnergyJ: j, LowJ: j - give, HighJ: j + give}}
}

// withCalls adds the joules that a method calls.
func withCalls(m run.Method, j float64) run.Method {
	m.NonLocal = run.Cost{Samples: int(100 * j), EnergyJ: j, LowJ: j, HighJ: j}
	return m
}

func joulesRun(id string, totalJ, methodsJ float64, e run.Energy) run.Run {
	e.Source, e.BatteryJ, e.UpdateMS = "model reference-phone", 60_000, 200
	if e.Methods != nil {
		e.Methods.Event, e.Methods.SampleHz, e.Methods.Level = "task-clock", 500, 0.95
		e.Methods.EnergyJ, e.Methods.Samples = methodsJ, int(100*methodsJ)
	}
	return run.Run{
		Format: run.Format, ID: id, Scenario: "open-message", Status: run.Complete, App: run.App{Package: "com.example.mail", Version: "2.0", Build: "release"},
		Context:    map[string]string{"manufacturer": "Google", "model": "Emulator", "sdk": "14", "energy_from": "model reference-phone"},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"energy.total_j": totalJ}}},
		Energy:     &e,
	}
}

const mailPackage = "com.example.mail."

func baseJoules() run.Run {
	return joulesRun("B1", 12.4, 6, run.Energy{
		Components: []run.Component{{Name: "screen", EnergyJ: 8}, {Name: "cpu", EnergyJ: 4}, {Name: "wifi", EnergyJ: 0.4}},
		Methods: &run.Methods{
			List: []run.Method{
				withCalls(ownCode("android.os.Looper.loop", 0.4, 0.1), 5.6),
				withCalls(ownCode(mailPackage+"Inbox.open", 0.2, 0.1), 2),
				ownCode(mailPackage+"MessageList.bind", 2, 0.3),
				ownCode(mailPackage+"MessageView.decode", 0.6, 0.1),
				ownCode("art::gc::collector::ConcurrentCopying::MarkingPhase()", 1, 0.2),
				ownCode(mailPackage+"Legacy.strip", 0.5, 0.1),
			},
			Calls: calls(6, 2.2, 0.6, 2, 1, 0.5, 0),
		},
	})
}

// calls returns the tree of calls: of everything, of Inbox.open and decode below it, of bind, of
// the collector's thread, of Legacy.strip and of Fresh.parse.
func calls(all, open, decode, bind, gc, strip, parse float64) []run.Call {
	out := []run.Call{{Parent: -1, Name: "com.android.internal.os.ZygoteInit.main", EnergyJ: all - gc}}
	chain := []string{"com.android.internal.os.RuntimeInit.run", "java.lang.reflect.Method.invoke", "android.app.ActivityThread.main", "android.os.Looper.loop"}
	for i, name := range chain {
		out = append(out, run.Call{Parent: i, Name: name, EnergyJ: all - gc})
	}
	loop := len(chain)
	add := func(parent int, name string, j float64) int {
		if j > 0 {
			out = append(out, run.Call{Parent: parent, Name: name, Kind: "aot", EnergyJ: j})
		}
		return len(out) - 1
	}
	at := add(loop, mailPackage+"Inbox.open", open)
	d := add(at, mailPackage+"MessageView.decode", decode)
	add(d, "java.util.zip.Inflater.inflate", decode/4)
	add(loop, mailPackage+"MessageList.bind", bind)
	add(loop, mailPackage+"Legacy.strip", strip)
	add(at, mailPackage+"Fresh.parse", parse)
	add(-1, "art::gc::collector::ConcurrentCopying::MarkingPhase()", gc)
	return out
}

// headJoules takes 3.2 J more, 3 of it in methods: decode +2.1 J (+350 %, 70 % of the change), the
// new Fresh.parse 0.6 J (20 %), the collector +0.5 J (not needed to explain it), Legacy.strip −0.5
// J (gone). bind's intervals overlap.
func headJoules() run.Run {
	return joulesRun("H1", 15.6, 9, run.Energy{
		Components: []run.Component{{Name: "screen", EnergyJ: 8.1}, {Name: "cpu", EnergyJ: 7}, {Name: "wifi", EnergyJ: 0.5}},
		Methods: &run.Methods{
			List: []run.Method{
				withCalls(ownCode("android.os.Looper.loop", 0.4, 0.1), 8.6),
				withCalls(ownCode(mailPackage+"Inbox.open", 0.2, 0.1), 4.5),
				ownCode(mailPackage+"MessageView.decode", 2.7, 0.3),
				ownCode(mailPackage+"MessageList.bind", 2.2, 0.3),
				ownCode("art::gc::collector::ConcurrentCopying::MarkingPhase()", 1.5, 0.2),
				ownCode(mailPackage+"Fresh.parse", 0.6, 0.1),
			},
			Calls: calls(9, 4.7, 2.7, 2.2, 1.5, 0, 0.6),
		},
	})
}

// heldAwake is the paper's case study: the methods are unchanged, and a wakelock is held for 9
// minutes and 58 seconds while the screen is off.
func heldAwake() (base, head run.Run) {
	base, head = baseJoules(), baseJoules()
	head.ID = "H1"
	head.Iterations[0].Metrics["energy.total_j"] = 124
	head.Energy.Wakelocks = []run.Wakelock{{Name: "SyncService", HeldMS: 600_000, ScreenOffMS: 598_000}}
	return base, head
}

// hostileEnergy has hostile names in all places where energy has one.
func hostileEnergy() []hotspots.Change {
	base, head := baseJoules(), headJoules()
	base.Energy.Methods.List, head.Energy.Methods.List = nil, nil
	base.Energy.Methods.Calls, head.Energy.Methods.Calls = nil, nil
	head.ID, head.Scenario, base.Scenario = reporttest.Hostile[0], reporttest.Hostile[1], reporttest.Hostile[1]
	for i, bad := range reporttest.Hostile {
		bad = prose.Clip(bad, 1_000)
		base.Energy.Methods.List = append(base.Energy.Methods.List, ownCode(bad, 0.1, 0.05))
		m := ownCode(bad, 0.5+float64(i)/10, 0.05)
		m.Kind, m.File = bad, bad
		head.Energy.Methods.List = append(head.Energy.Methods.List, m)
		head.Energy.Methods.Calls = append(head.Energy.Methods.Calls, run.Call{Parent: -1, Name: bad, Kind: bad, EnergyJ: 1})
		head.Energy.Components = append(head.Energy.Components, run.Component{Name: bad, EnergyJ: 1})
		head.Energy.Wakelocks = append(head.Energy.Wakelocks, run.Wakelock{Name: bad, HeldMS: 9e9, ScreenOffMS: 9e9})
	}
	c := explain(head, base)
	c.Source = strings.Join(reporttest.Hostile[:3], " ")
	return []hotspots.Change{c}
}

// hugeEnergy has as many methods and calls as a record may contain.
func hugeEnergy() hotspots.Change {
	base, head := baseJoules(), headJoules()
	base.Energy.Methods.List, head.Energy.Methods.List = nil, nil
	base.Energy.Methods.Calls, head.Energy.Methods.Calls = nil, nil
	for i := range run.MaxMethods {
		name := fmt.Sprintf("com.example.mail.Generated.method%c", 'A'+i)
		base.Energy.Methods.List = append(base.Energy.Methods.List, ownCode(name, 1, 0.01))
		head.Energy.Methods.List = append(head.Energy.Methods.List, ownCode(name, 2+float64(i)/1000, 0.01))
	}
	for i := range run.MaxCalls {
		c := run.Call{Parent: (i - 1) / 4, Name: fmt.Sprintf("com.example.mail.Generated.method%c", 'A'+i), EnergyJ: 9}
		if i == 0 {
			c.Parent = -1
		} else {
			c.EnergyJ = head.Energy.Methods.Calls[c.Parent].EnergyJ / 4
		}
		head.Energy.Methods.Calls = append(head.Energy.Methods.Calls, c)
	}
	for i := range run.MaxComponents {
		head.Energy.Components = append(head.Energy.Components, run.Component{Name: fmt.Sprintf("rail %d", i), EnergyJ: 1})
	}
	for i := range run.MaxWakelocks {
		head.Energy.Wakelocks = append(head.Energy.Wakelocks, run.Wakelock{Name: fmt.Sprintf("lock %d", i), HeldMS: 5_000, ScreenOffMS: 5_000})
	}
	head.Energy.Components = head.Energy.Components[:run.MaxComponents]
	return explain(head, base)
}

func explain(head run.Run, base ...run.Run) hotspots.Change {
	c, ok := hotspots.Explain(head, base)
	if !ok {
		panic("the fixture has no energy")
	}
	return c
}

// judged returns a verdict on runs whose energy deviates in that direction.
func judged(d gate.Direction, changes ...hotspots.Change) Input {
	outcome := gate.Pass
	switch d {
	case gate.ToRegression:
		outcome = gate.Regression
	case gate.ToImprovement:
		outcome = gate.Improvement
	}
	in := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: outcome, Preset: "default", Level: 0.95}, Energy: changes, Meta: Meta{Version: "apkgate 0.5.0"}}
	for i, c := range changes {
		r := runVerdict(c.Run, outcome, phone("Google", fmt.Sprintf("Emulator %d", i+1), "14", "34"), compared("", "energy.total_j", 12.4, 0.4, c.Total.HeadJ, d))
		r.App = run.App{Package: "com.example.mail", Version: "2.0"}
		in.Verdict.Runs = append(in.Verdict.Runs, r)
	}
	return in
}

// hungrier is a regression whose methods are known.
func hungrier() Input { return judged(gate.ToRegression, explain(headJoules(), baseJoules())) }

// twoBuilds is hungrier as a comparison of two builds.
func twoBuilds() ComparisonInput {
	return ComparisonInput{
		Energy: []hotspots.Change{explain(headJoules(), baseJoules())},
		Verdict: sidebyside.Verdict{
			Format: sidebyside.Format, Verdict: gate.Regression, Level: 0.95, Reason: "energy +26 %",
			Base: sidebyside.Build{App: run.App{Package: "com.example.mail", Version: "1.9"}}, Head: sidebyside.Build{App: run.App{Package: "com.example.mail", Version: "2.0"}},
			Scenarios: []sidebyside.Scenario{{
				Scenario: "open-message", Verdict: gate.Regression, Unit: sidebyside.Round, Contexts: []sidebyside.Context{{Base: 20, Head: 20}},
				Comparisons: []sidebyside.Comparison{{
					Metric: "energy.total_j", Direction: gate.ToRegression, Together: gate.ToRegression,
					Difference: sidebyside.Difference{Base: 12.4, Head: 15.6, Shift: 3.2, ShiftLow: new(2.9), ShiftHigh: new(3.5), Change: 0.258, ChangeLow: new(0.23), ChangeHigh: new(0.28), P: 0.0001, PRaw: 0.0001, Effect: 0.9, N: 20},
				}},
			}},
		},
	}
}
