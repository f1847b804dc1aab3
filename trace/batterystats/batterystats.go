// Package batterystats reads the output of `dumpsys batterystats` and `dumpsys battery`: the
// checkin form (--checkin, -c) and the plain text, from Android 2.3 to 16, alone or inside a bug
// report. It finds the platform's estimates of power use by component and by UID, times on battery,
// CPU time, network bytes and wakelocks, and the voltages of the battery's history.
//
// It owns the text and its meaning. It does not estimate anything itself (package energy does), and
// does not know which UID is the app under test.
//
// A number that the file does not state is absent, not zero. Energy in joules is given only if the
// file states both the charge drawn and the voltage at which it was drawn.
//
// Source: frameworks/base/core/java/android/os/BatteryStats.java (dumpCheckinLocked, dumpLocked,
// HistoryPrinter).
package batterystats

import (
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Dump is the content of one file.
type Dump struct {
	Checkin *Checkin // nil if the file has no checkin form
	Periods []Period // in the order of the file
	History History
	Battery *Battery // dumpsys battery, nil if the file has none
	// Packages maps a UID to its packages, as far as the file names them.
	Packages map[int][]string
	// Cut is set if the dump is certainly incomplete, so that its totals are too low; a warning
	// gives the reason.
	Cut      bool
	Warnings []run.Warning
}

// Checkin is the header of the checkin form.
type Checkin struct {
	Format  int    `json:"format"`            // the number that each line begins with
	Version int    `json:"version,omitempty"` // of the checkin form, since Android 5
	Parcel  int    `json:"parcel,omitempty"`  // of the service's own file
	Build   string `json:"build,omitempty"`   // of the system when the statistics ended
}

// Since is when a period began.
type Since string

// The periods that Android knows.
const (
	SinceCharge    Since = "charge"    // the last full charge, or the last reset
	SinceUnplugged Since = "unplugged" // the last time the device was unplugged
	SinceBoot      Since = "boot"      // checkin's "c"
	SinceEver      Since = "ever"      // checkin's "t", before Android 4
	SinceLastRun   Since = "last-run"  // checkin's "l" where there is a "t"
)

// Form is the form in which a period was written.
type Form string

// The forms of a dump.
const (
	FormCheckin Form = "checkin"
	FormText    Form = "text"
)

// Period is one set of statistics.
type Period struct {
	Since Since `json:"since"`
	Form  Form  `json:"form"`
	Line  int   `json:"line"`
	// Stated maps names that end in their unit to the numbers that the period states
	// (docs/format/inspect.md lists them).
	Stated     map[string]float64 `json:"stated"`
	Components []Component        `json:"components,omitempty"`
	UIDs       []*UID             `json:"uids,omitempty"`
	// Wakelocks are those held for a millisecond or longer, longest first.
	Wakelocks []Wakelock `json:"wakelocks,omitempty"`
	// SpeedsKHz lists the CPU's speeds by cluster, slowest first.
	SpeedsKHz [][]int `json:"speeds_khz,omitempty"`

	byUID    map[int]*UID
	locks    map[lockKey]bool
	order    order
	sensors  int // times of sensors, over all UIDs
	overflow bool
}

// Component is the estimate for one component of the device.
type Component struct {
	Name     string   `json:"name"`
	PowerMAh float64  `json:"power_mah"`
	AppsMAh  *float64 `json:"apps_mah,omitempty"` // the share attributed to apps, since Android 12
	// DurationMS is how long the component was on, since Android 12.
	DurationMS *float64 `json:"duration_ms,omitempty"`
}

// UID is the statistics of one UID.
type UID struct {
	UID      int      `json:"uid"`
	Name     string   `json:"name"` // as in Android's text: "1000", "u0a86"
	Packages []string `json:"packages,omitempty"`
	// Stated maps names that end in their unit to numbers.
	Stated map[string]float64 `json:"stated,omitempty"`
	// PartsMAh splits the UID's power by component, as named in the text.
	PartsMAh map[string]float64 `json:"parts_mah,omitempty"`
	// AtSpeedMS is the CPU time at each of Period.SpeedsKHz, one cluster after the other; nil if it
	// is not split.
	AtSpeedMS []float64 `json:"at_speed_ms,omitempty"`
	// SensorsMS is how long the UID had each sensor on, by the sensor's handle. If several UIDs had
	// one on at once, each has its share of the time.
	SensorsMS map[int]float64 `json:"sensors_ms,omitempty"`

	processMS float64 // CPU time summed over its processes
	hasProc   bool
}

// LockKind is the kind of a wakelock.
type LockKind string

// The kinds of wakelocks.
const (
	Partial LockKind = "partial" // keeps the CPU running
	Full    LockKind = "full"    // keeps the screen on too
	Window  LockKind = "window"
	Kernel  LockKind = "kernel"
)

// Wakelock is one wakelock.
type Wakelock struct {
	UID     int      `json:"uid"`                // 0 for the kernel's
	UIDName string   `json:"uid_name,omitempty"` // "" for the kernel's
	Name    string   `json:"name"`
	Kind    LockKind `json:"kind"`
	HeldMS  float64  `json:"held_ms"`
	Count   int64    `json:"count"`
	// ScreenOff is set if HeldMS is time with the screen off. Since Android 5 partial and kernel
	// wakelocks are counted only then.
	ScreenOff bool `json:"screen_off"`
}

type lockKey struct {
	uid  int
	kind LockKind
	name string
}

// Limits of one file; a real device stays far below.
const (
	maxPeriods    = 16
	maxUIDs       = 20_000
	maxWakelocks  = 100_000
	maxSensors    = 100_000 // times of sensors, over all UIDs
	maxComponents = 256
	maxParts      = 256
	maxPackages   = 100_000
)

func newPeriod(since Since, form Form, line int) Period {
	return Period{Since: since, Form: form, Line: line, Stated: map[string]float64{},
		byUID: map[int]*UID{}, locks: map[lockKey]bool{}}
}

// state keeps the first value of a name: later ones are repetitions.
func (p *Period) state(name string, v float64) { stateIn(p.Stated, name, v) }

func stateIn(stated map[string]float64, name string, v float64) {
	if _, known := stated[name]; !known {
		stated[name] = v
	}
}

// uid finds or adds a UID. It returns nil if there are too many.
func (p *Period) uid(id int) *UID {
	if u := p.byUID[id]; u != nil {
		return u
	}
	if len(p.UIDs) == maxUIDs {
		p.overflow = true
		return nil
	}
	u := &UID{UID: id, Name: FormatUID(id), Stated: map[string]float64{}}
	p.byUID[id] = u
	p.UIDs = append(p.UIDs, u)
	return u
}

func (p *Period) addComponent(c Component) {
	if len(p.Components) == maxComponents {
		p.overflow = true
		return
	}
	p.Components = append(p.Components, c)
}

// addWakelock keeps the first occurrence of a wakelock: the text lists the partial ones twice.
func (p *Period) addWakelock(w Wakelock) {
	w.Name = trace.Name(w.Name)
	key := lockKey{w.UID, w.Kind, w.Name}
	switch {
	case w.HeldMS == 0 || p.locks[key]:
	case len(p.Wakelocks) == maxWakelocks:
		p.overflow = true
	default:
		p.locks[key] = true
		p.Wakelocks = append(p.Wakelocks, w)
	}
}
