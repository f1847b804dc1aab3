package simapp

import (
	"fmt"
	"slices"
	"time"
)

// Power is an app's power-related behaviour apart from its frames.
type Power struct {
	Methods   []Method
	Loads     []Load
	Traffic   []Traffic
	Holds     []Hold
	ScreenOff []Period
	// Debuggable and Unprofileable are flags of its manifest.
	Debuggable    bool
	Unprofileable bool
	// RegistersPerfetto reports that its processes register their track events with Perfetto, so
	// that the system's traces contain them.
	RegistersPerfetto bool
}

// Method is a method that runs in the app's CPU time.
type Method struct {
	Name  string
	Share float64 // of the CPU time that belongs to no other
	Jank  bool    // runs the heavy computations
	Power float64 // a factor on the CPU's power while it runs
	From  string  // its caller; "": the system
	Kind  Code
}

// Code is how a method's code is compiled.
type Code string

// The kinds of code. Java is JIT-compiled, or compiled ahead of time once the package was
// compiled.
const (
	Java        Code = "java"
	AOT         Code = "aot"
	JIT         Code = "jit"
	Interpreted Code = "interpreted"
	Native      Code = "native"
)

var codes = []Code{Java, AOT, JIT, Interpreted, Native}

// Load is work apart from the UI thread.
type Load struct {
	For   time.Duration // CPU time on a good phone
	After []string      // events
	In    string        // the method; "": by shares
}

// Traffic is what the app receives and sends over the network.
type Traffic struct {
	KB, SentKB int
	After      []string
}

// Hold is a part of the phone that the app keeps on, or a wakelock.
type Hold struct {
	Part     string // "wakelock", "sensor", or one of HeldParts
	Wakelock string // its name
	Sensor   string // one of Sensors
	Period
}

// Period is a time span after an event.
type Period struct {
	After string
	For   time.Duration
}

// HeldParts are the parts for `uses`.
var HeldParts = []string{"gps", "audio", "camera", "bluetooth", "torch"}

// Sensors are the sensors for `sensor`.
var Sensors = []string{"accelerometer", "gyroscope", "magnetometer", "proximity", "light"}

// MaxMethods limits the methods of an app.
const MaxMethods = 200

// Method returns the index of a method, -1 for none.
func (p Power) Method(name string) int {
	return slices.IndexFunc(p.Methods, func(m Method) bool { return m.Name == name })
}

// JankMethod returns the method of heavy computations, -1 if the app does not specify it.
func (p Power) JankMethod() int {
	return slices.IndexFunc(p.Methods, func(m Method) bool { return m.Jank })
}

// Chain returns a method and its callers, innermost first.
func (p Power) Chain(method int) []int {
	var out []int
	for method >= 0 && len(out) <= len(p.Methods) {
		out = append(out, method)
		method = p.Method(p.Methods[method].From)
	}
	return out
}

func (p Power) check() error {
	sum := 0.0
	for i, m := range p.Methods {
		sum += m.Share
		switch {
		case p.Method(m.Name) != i:
			return fmt.Errorf("method %s is there twice", m.Name)
		case m.From != "" && p.Method(m.From) < 0:
			return fmt.Errorf("method %s from %s: there is no such method", m.Name, m.From)
		case len(p.Chain(i)) > len(p.Methods):
			return fmt.Errorf("method %s calls itself in the end", m.Name)
		case m.Jank && p.JankMethod() != i:
			return fmt.Errorf("method %s: only one method can be where the jank is", m.Name)
		}
	}
	if sum > 1+1e-9 {
		return fmt.Errorf("the methods' shares add up to %.4g%%, at most 100%% are allowed", 100*sum)
	}
	for _, l := range p.Loads {
		if l.In != "" && p.Method(l.In) < 0 {
			return fmt.Errorf("load in %s: there is no such method", l.In)
		}
	}
	return nil
}

// named is an event in a rule.
type named struct{ rule, name string }

// events returns the events in the rules.
func (p Power) events() (out []named) {
	add := func(rule string, names ...string) {
		for _, n := range names {
			out = append(out, named{rule, n})
		}
	}
	for _, l := range p.Loads {
		add("load", l.After...)
	}
	for _, t := range p.Traffic {
		add("traffic", t.After...)
	}
	for _, h := range p.Holds {
		add(h.Part, h.After)
	}
	for _, s := range p.ScreenOff {
		add("screen-off", s.After)
	}
	return out
}
