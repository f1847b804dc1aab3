package level

import "github.com/apkgate/apkgate/stat"

const (
	// leastDrift is the least number of sessions of a drift.
	leastDrift = 4
	// getsBetter and getsWorse limit the chance of detecting a drift where there is none. A drift
	// for the better is accepted sooner: the better level is the one to defend.
	getsBetter = 0.05
	getsWorse  = 0.005
	// sureOfSlope is one minus the confidence of the slope's interval, whose better end is used:
	// the slope has an error of its own besides the noise of the sessions.
	sureOfSlope = 0.5
)

// bySession returns the series of the sessions.
func bySession(centres []float64) []stat.Series {
	at := make([]float64, len(centres))
	for i := range at {
		at[i] = float64(i)
	}
	return []stat.Series{{Times: at, Values: centres}}
}

// driftOf returns the drift per session.
func driftOf(centres []float64) stat.Drift { return stat.DriftOf(bySession(centres), sureOfSlope) }

// moved returns how much more each session would show by now, nil where there is no drift, or a
// step explains it better.
func moved(centres []float64, worse float64) []float64 {
	n := len(centres)
	if n < leastDrift || worse == 0 {
		return nil
	}
	better, other := stat.InOrder(bySession(centres))
	if worse < 0 {
		better, other = other, better
	}
	if better > getsBetter && other > getsWorse {
		return nil
	}
	d := driftOf(centres)
	slope := d.Low
	if worse < 0 {
		slope = d.High
	}
	if at, _ := split(centres, worse); at > 0 && stepped(centres, at) {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = slope * float64(n-1-i)
	}
	return out
}
