// Package energytest provides what the tests of energy and its packages share: times, comparisons
// of joules, and a dump of batterystats.
//
// It is for tests alone. The dump is made up, and comes from no device.
package energytest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/batterystats"
)

// Seconds returns a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Near fails the test unless got is want to nine digits.
func Near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// Alike compares numbers of joules to nine digits after the point.
var Alike = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })

// Dump is batterystats of a minute on battery, in the checkin form.
const Dump = `9,0,i,vers,35,190,A,A
9,0,l,bt,0,60000,60000,60000,60000,0,20000,20000,0,0,0,0
9,0,l,gn,1000,2000,3000,4000,10,20,30,40,0,0
9,0,l,gwfl,60000,50000,0,0,0
9,0,l,gwfcd,8000,1000,0,0,500
9,0,l,gble,100,200,0,300
9,0,l,m,40000,0,1500,2500,2000,0,40000,0,0,0,0,0,0,0,0,0,0,0,0,0,0
9,0,l,br,10000,0,30000,0,0
9,0,l,sgt,1000,0,0,0,59000
9,0,l,sst,2000
9,0,l,gcf,500000,1000000,1000000
9,10086,l,nt,100,200,300,400,1,2,3,4,1000000,1
9,10086,l,wfcd,0,500,0,0,0
9,10086,l,wfl,0,3000000,4000000,2,0,0,0,0,0,0
9,10086,l,awl,9000,1000
9,10086,l,wl,Sync,0,f,0,0,0,0,7000,p,2,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0
9,10086,l,aud,2000,1
9,10086,l,sr,-10000,6000,1,0,6000,0
9,10086,l,sr,5,60000,1,0,60000,0
9,10086,l,cpu,700,300,0
9,10086,l,ctf,A,3,400,600,1000,0,0,0
9,10086,l,ctf,TOP,3,9000,9000,9000,0,0,0
9,1000,l,cpu,100,100,0
9,1000,l,ctf,A,3,600,400,0,0,0,0
`

// Read reads the statistics of a dump without warnings.
func Read(t testing.TB, text string) *batterystats.Period {
	t.Helper()
	d, err := batterystats.Read(strings.NewReader(text))
	if err != nil || len(d.Warnings) != 0 {
		t.Fatal(err, d.Warnings)
	}
	return d.Main()
}
