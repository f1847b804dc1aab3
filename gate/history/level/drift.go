package level

import "github.com/apkgate/apkgate/stat"

const (
	// leastDrift is how many sessions a drift takes.
	leastDrift = 4
	// getsBetter and getsWorse bound the chance of a drift where there is none. One that
	// gets better is believed sooner: the level that is to be defended is the better one.
	getsBetter = 0.05
	getsWorse  = 0.005
	// sureOfSlope is one less the confidence of the slope's interval, whose better end is
	// taken: beside the noise of the sessions the slope has its own.
	sureOfSlope = 0.5
)

// bySession is the series of them.
func bySession(centres []float64) []stat.Series {
	at := make([]float64, len(centres))
	for i := range at {
		at[i] = float64(i)
	}
	return []stat.Series{{Times: at, Values: centres}}
}

// driftOf is the drift by session.
func driftOf(centres []float64) stat.Drift { return stat.DriftOf(bySession(centres), sureOfSlope) }

// moved is what each session would show more by now, nil where there is no drift, or a
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
