// Package simapp owns the text file that describes a simulated app
// (docs/format/simulated-app.md): its types, its strict reader, and the apps
// that apkgate ships.
//
// The file is the APK: what is pushed to a simulated phone and installed there
// is this text. The package does not know how an app's frames come about (see
// package choreo). It takes a stand: a file that is not understood in full is
// refused, with the line and what is allowed there, since a misread app would
// look like a measurement.
package simapp

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// App is one simulated app, or one simulated test APK where Tests is set, or one of
// the parts of an app beside its base where Split is set.
type App struct {
	Package     string
	Version     string // versionName
	VersionCode int
	Build       string // a free word: "good", "mutated"
	Activity    string // the launcher activity, ".MainActivity" unless set
	Cost        time.Duration
	Think       time.Duration // work on the UI thread between two frames, not part of either
	Startup     time.Duration // from launch to the first frame on the screen
	Drawn       time.Duration // from then until the app says that it is fully drawn; 0: it never does
	Touch       int           // frames of an answer to a touch that is no named event, at 60 Hz
	MemoryKB    int           // PSS
	Noise       Noise
	Networks    map[string]Network
	Lag         Lag
	Slow        []Slow
	Janks       []Jank
	Causes      []Cause // of slow frames
	Faults      []Fault
	Silent      bool // writes no UI events to the log
	Surface     bool // draws all but the first frame of each window itself, on a SurfaceView
	Scenarios   []Scenario
	Launch      Launch
	Permissions []string // runtime permissions that the app asks for
	AllocatesKB int      // on its heap with each frame; 0: nothing that would be collected
	NoProfile   bool     // it brings no baseline profile, nor profileinstaller
	Tests       string   // the package that this test APK tests
	Split       string   // the name of this part of an app, "" of the base or of all in one
	NeedsSplits bool     // the base is no app without others
	Runner      string
	TestCases   []TestCase
	Text        []byte // the file itself
	// Plain is the file without the lines that only power, the compiler or views are about
	// (power.go): what an app burns does not change the frames that chance gives it.
	Plain string
	Power Power
	// Layers are the views of its windows, in the order in which they are drawn; none:
	// nothing is known of them.
	Layers []Layer
}

// Noise is how much an app varies. The first three are the standard deviation
// of the logarithm of a factor; a tail frame takes TailFactor times longer.
type Noise struct {
	Session, Repetition, Frame float64
	Tail, TailFactor           float64
	Phone                      float64 // a factor on the phone's own noise from session to session
}

// Network is what one type of network does to events that load something.
type Network struct {
	Delay  time.Duration // before the content arrives
	Spread float64       // standard deviation of the logarithm of the delay
	Lag    Lag           // work on the UI thread when it arrives
}

// Lag is work on the UI thread that now and then follows an event.
type Lag struct {
	Chance float64
	For    time.Duration
}

// Slow multiplies what frames cost where a condition holds.
type Slow struct {
	When   Condition
	Factor float64
	After  []string // only in the buckets of these events; nil: everywhere
}

// Jank is a heavy computation on the UI thread after each of some events.
// Recover is the share of it that comes back at the next event, before the app
// has recovered (paper, section 8.4).
type Jank struct {
	For     time.Duration
	After   []string
	Recover float64
}

// Scenario is a timed list of UI events.
type Scenario struct {
	Name     string
	Duration time.Duration
	Start    int // frames before the first event, at 60 Hz
	Events   []Event
}

// Event is one UI event of a scenario.
type Event struct {
	At     time.Duration // since the scenario's start
	Name   string
	Frames int  // the animation that answers it, as frames at 60 Hz
	Opens  bool // opens a window: its first frame is marked as the window's first
	// Life is how long the window stays, as a dialog does; 0: to the end of the process.
	Life  time.Duration
	Loads bool // most of the animation waits for the network
}

// TestCase says which scenario a test class, or one method of it, plays; a
// Macrobenchmark says how it starts the app instead.
type TestCase struct {
	Class, Method, Scenario string
	Mode                    string // of the starts: cold, warm or hot; crash: the test's own process ends in the first
	Iterations              int    // 0: it is no Macrobenchmark
}

// Condition restricts a rule to some contexts, such as sdk>=5.0 or network=3g.
// The zero Condition always holds.
type Condition struct{ Key, Op, Value string }

// Context is what conditions are about.
type Context struct {
	SDK     string // "4.4.4"
	API     int
	Network string
}

// Holds reports whether the condition holds there.
func (c Condition) Holds(in Context) bool {
	var order int
	switch c.Key {
	case "":
		return true
	case "sdk":
		order = compareVersions(in.SDK, c.Value)
	case "api":
		n, _ := strconv.Atoi(c.Value)
		order = cmp.Compare(in.API, n)
	case "network":
		order = strings.Compare(in.Network, c.Value)
	}
	switch c.Op {
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	}
	return order == 0
}

// compareVersions orders dotted numbers; parts that are missing are 0.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if d := cmp.Compare(part(as, i), part(bs, i)); d != 0 {
			return d
		}
	}
	return 0
}

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i])
	return n
}

// Component is the launcher activity as am spells it: "pkg/.MainActivity".
func (a *App) Component() string { return a.Package + "/" + a.Activity }

// ActivityClass is the launcher activity's class name in full.
func (a *App) ActivityClass() string {
	return a.whole(a.Activity)
}

// Scenario returns the scenario of that name.
func (a *App) Scenario(name string) (Scenario, bool) {
	for _, s := range a.Scenarios {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}
