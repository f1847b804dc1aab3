package energy

import "github.com/apkgate/apkgate/run"

// Estimate is what was estimated over an interval.
type Estimate struct {
	// Device and App are joules by component, the hungriest first. The screen
	// and what the device draws anyhow are not the app's.
	Device, App  []run.Component
	TotalJ, AppJ float64
	// Curve and AppCurve are the power over the interval. What has no series of
	// its own is spread evenly.
	Curve, AppCurve Curve
	// Timed and AppTimed are the part of them that has a series of its own, the
	// only one that tells one moment from another; empty where nothing has.
	Timed, AppTimed Curve
	Warnings        []run.Warning
}
