package energy

import "github.com/apkgate/apkgate/run"

// Estimate is an estimate over an interval.
type Estimate struct {
	// Device and App are joules by component, the largest first. The screen and the device's base
	// load are not attributed to the app.
	Device, App  []run.Component
	TotalJ, AppJ float64
	// Curve and AppCurve are the power over the interval. A component without a series of its own
	// is spread evenly.
	Curve, AppCurve Curve
	// Timed and AppTimed are the part of these with a series of its own, the only one that differs
	// between moments; empty if no component has one.
	Timed, AppTimed Curve
	Warnings        []run.Warning
}
