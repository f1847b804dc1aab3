// Package simapp parses the text file that describes a simulated app
// (docs/format/simulated-app.md), and contains the apps that apkgate ships.
//
// The file is the APK: this text is what is pushed to a simulated phone and installed. The
// package does not know how an app's frames are computed (see package choreo). A file that is
// not understood completely is rejected, with the line and what is allowed there, since a
// misread app would look like a measurement.
package simapp

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// App is one simulated app, one simulated test APK if Tests is set, or a split of an app if
// Split is set.
type App struct {
	Package     string
	Version     string // versionName
	VersionCode int
	Build       string // an arbitrary word: "good", "mutated"
	Activity    string // the launcher activity; ".MainActivity" by default
	Cost        time.Duration
	Think       time.Duration // work on the UI thread between two frames, part of neither
	Startup     time.Duration // from launch to the first frame on the screen
	Drawn       time.Duration // from then until the app reports that it is fully drawn; 0: never
	Touch       int           // frames of the response to a touch that is no named event, at 60 Hz
	MemoryKB    int           // PSS
	Noise       Noise
	Networks    map[string]Network
	Lag         Lag
	Slow        []Slow
	Janks       []Jank
	Causes      []Cause // of slow frames
	Calls       []Calls // of methods on the UI thread
	FrameCalls  int     // how many short methods each frame calls beyond those of every app
	Faults      []Fault
	Silent      bool // logs no UI events
	Surface     bool // draws all frames but the first of each window itself, on a SurfaceView
	Scenarios   []Scenario
	Launch      Launch
	Permissions []string // requested runtime permissions
	AllocatesKB int      // on its heap for each frame; 0: nothing to be collected
	NoProfile   bool     // contains neither a baseline profile nor profileinstaller
	Tests       string   // the package that this test APK tests
	Split       string   // the name of this split, "" for the base or a single APK
	NeedsSplits bool     // the base can't be installed alone
	Runner      string
	TestCases   []TestCase
	Text        []byte // the file
	// Plain is the file without the lines that only affect power, the compiler, views or
	// tasks (powerstatements.go): an app's power does not change the random numbers of its frames.
	Plain string
	Power Power
	// Tasks are its asynchronous tasks, and Units what executes them, apart from the main thread.
	Tasks []Task
	Units []Unit
	// Layers are the views of its windows, in drawing order; none: unknown.
	Layers []Layer
}

// Noise is an app's variation. The first three are the standard deviation of the logarithm of
// a factor; a tail frame takes TailFactor times longer.
type Noise struct {
	Session, Repetition, Frame float64
	Tail, TailFactor           float64
	Phone                      float64 // a factor on the phone's own session noise
}

// Network is the effect of one type of network on events that load something.
type Network struct {
	Delay  time.Duration // before the content arrives
	Spread float64       // standard deviation of the logarithm of the delay
	Lag    Lag           // work on the UI thread when the content arrives
}

// Lag is work on the UI thread that occasionally follows an event.
type Lag struct {
	Chance float64
	For    time.Duration
}

// Slow multiplies the cost of frames where a condition holds.
type Slow struct {
	When   Condition
	Factor float64
	After  []string // only in the buckets of these events; nil: everywhere
}

// Jank is a heavy computation on the UI thread after certain events. Recover is the share of
// it that recurs at the next event, before the app has recovered (paper, section 8.4).
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
	Frames int  // the length of its animation, in frames at 60 Hz
	Opens  bool // opens a window, whose first frame is marked
	// Life is how long the window stays open, as for a dialog; 0: until the process ends.
	Life  time.Duration
	Loads bool // most of the animation waits for the network
}

// TestCase is the scenario that a test class, or one method of it, plays; for a Macrobenchmark
// it is how the app is started.
type TestCase struct {
	Class, Method, Scenario string
	Mode                    string // of the starts: cold, warm or hot; crash: the test's own process crashes in the first
	Iterations              int    // 0: not a Macrobenchmark
}

// Condition restricts a rule to some contexts, such as sdk>=5.0 or network=3g.
// The zero Condition always holds.
type Condition struct{ Key, Op, Value string }

// Context is the input of conditions.
type Context struct {
	SDK     string // "4.4.4"
	API     int
	Network string
}

// Holds reports whether the condition holds in a context.
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

// compareVersions compares dotted numbers; missing parts are 0.
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

// Component returns the launcher activity as in am: "pkg/.MainActivity".
func (a *App) Component() string { return a.Package + "/" + a.Activity }

// ActivityClass returns the full class name of the launcher activity.
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
