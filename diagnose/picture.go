package diagnose

import "github.com/apkgate/apkgate/gate"

// Picture is the data of a figure of a cause, of one kind. Renderers omit unknown kinds.
type Picture struct {
	Kind PictureKind `json:"kind"`
	// Title is above the figure, Label describes it to those who can't see it.
	Title string `json:"title"`
	Label string `json:"label"`
	Flame *Flame `json:"flame,omitempty"`
	Bars  *Bars  `json:"bars,omitempty"`
	// Threads shows what threads did in a frame, Waits shows which thread waited for which.
	Threads *Threads `json:"threads,omitempty"`
	Waits   *Waits   `json:"waits,omitempty"`
	// Delays shows how long tasks waited, before and in this build.
	Delays *Delays `json:"delays,omitempty"`
}

// PictureKind is a kind of picture.
type PictureKind string

// The kinds of pictures.
const (
	FlamePicture   PictureKind = "flame"
	BarsPicture    PictureKind = "bars"
	ThreadsPicture PictureKind = "threads"
	WaitsPicture   PictureKind = "waits"
	DelaysPicture  PictureKind = "delays"
)

// Flame is a tree of calls, each as wide as its amount including its callees.
type Flame struct {
	Unit string `json:"unit"`
	Of   string `json:"of"` // the amount of a call, in a word: "energy"
	// Beside is set if there is a base to compare the calls with.
	Beside bool   `json:"beside,omitempty"`
	Calls  []Call `json:"calls,omitempty"`
}

// Call is a node of a Flame.
type Call struct {
	Parent int     `json:"parent"` // the caller's index in the list, -1 for an outermost call
	Name   string  `json:"name"`
	Kind   string  `json:"kind,omitempty"`
	Base   float64 `json:"base"`
	Head   float64 `json:"head"`
}

// Change returns how much more the call takes in the head.
func (c Call) Change() float64 { return c.Head - c.Base }

// Bars are amounts of several things, with intervals.
type Bars struct {
	Unit   string `json:"unit"`
	Axis   string `json:"axis"` // the quantity, in words: "joules of the method's own code, per repetition"
	Beside bool   `json:"beside,omitempty"`
	List   []Bar  `json:"list,omitempty"`
}

// Bar is one thing of Bars.
type Bar struct {
	Name      string         `json:"name"`
	Base      Measured       `json:"base"`
	Head      Measured       `json:"head"`
	Direction gate.Direction `json:"direction"` // of a clear change; gate.None otherwise
	Status    string         `json:"status,omitempty"`
}

// Change returns how much more the head has.
func (b Bar) Change() float64 { return b.Head.Value - b.Base.Value }

// Measured is an amount with its interval, 0 at both ends if there is none.
type Measured struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}
