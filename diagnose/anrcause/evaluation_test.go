package anrcause

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// set are instances of every fault, each with the fault's index in labelledFaults.
type set struct {
	points []point
	labels []int
}

func labelledSet(t *testing.T, n noise, each int, seed uint64) set {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 4))
	s := showing{random, n, builds(t, random)}
	var v vectors
	var out set
	for label, f := range labelledFaults {
		for range each {
			points := v.points(s.show(f), 0, len(out.labels))
			out.points = append(out.points, points...)
			out.labels = append(out.labels, label)
		}
	}
	return out
}

// judged is the quality of a clustering: of the pairs of ANRs that it puts together, how many are
// of one fault (precision), and of those that are, how many it puts together (recall); clusters
// counts them.
type judged struct {
	precision, recall float64
	clusters          int
}

// judge clusters the set as a history is. An ANR of a cycle is together with everything in any of
// its clusters.
func (s set) judge(above float64) judged {
	c := cluster(s.points, above)
	of := make([][]int, len(s.labels))
	for part, points := range c.points {
		for _, p := range points {
			of[p.anr] = append(of[p.anr], part)
		}
	}
	var together, right, same float64
	for i := range s.labels {
		for j := range i {
			both, one := meet(of[i], of[j]), s.labels[i] == s.labels[j]
			if both {
				together++
			}
			if one {
				same++
			}
			if both && one {
				right++
			}
		}
	}
	return judged{right / together, right / same, len(c.points)}
}

// clustering is a row of the tables of docs/evaluation/anrs.md: the result for 100 instances of
// each fault.
type clustering struct{ precision, recall float64 }

// byNoise are the results of docs/evaluation/anrs.md at the threshold.
var byNoise = map[string]clustering{
	"lines, addresses, thread ids, lambdas":  {1, 1},
	"obfuscated names, with mappings":        {1, 1},
	"another depth of a loop":                {1, 1},
	"Android 7 to 16":                        {1, 1},
	"CPU and memory otherwise, or not told":  {1, 1},
	"other threads wait, and more of them":   {1, 1},
	"another moment of its work":             {1, 0.872},
	"all of them":                            {1, 0.869},
	"obfuscated names, mappings lost":        {1, 0.411},
	"all of them, each function counts once": {0.926, 0.906},
}

// byThreshold are its results for all noises at other thresholds.
var byThreshold = map[float64]clustering{
	0.8: {0.581, 1}, 0.85: {0.634, 1}, 0.9: {0.841, 0.959}, 0.92: {0.927, 0.920}, 0.94: {0.926, 0.897},
	0.95: {1, 0.869}, 0.96: {1, 0.807}, 0.97: {1, 0.803}, 0.98: {1, 0.734}, 0.99: {1, 0.734},
}

// TestClustersOfALabelledSet compares the result of the set with docs/evaluation/anrs.md, with a
// few instances of each fault; APKGATE_EVALUATION=full makes as many as for its tables.
func TestClustersOfALabelledSet(t *testing.T) {
	each, slack := 12, 0.08
	if os.Getenv("APKGATE_EVALUATION") == "full" {
		each, slack = 100, 0.005
	}
	hold := func(what string, got judged, want clustering) {
		t.Logf("%-45s precision %.3f, recall %.3f, %d clusters of %d faults", what, got.precision, got.recall, got.clusters, len(labelledFaults))
		if math.Abs(got.precision-want.precision) > slack || math.Abs(got.recall-want.recall) > slack {
			t.Errorf("%s: precision %.3f and recall %.3f, documented are %.3f and %.3f", what, got.precision, got.recall, want.precision, want.recall)
		}
	}
	for i, n := range noises {
		s := labelledSet(t, n, each, uint64(i+1))
		hold(n.name, s.judge(Threshold), byNoise[n.name])
		if !n.load || !n.moments { // all of them

			continue
		}
		for _, above := range []float64{0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99} {
			hold(fmt.Sprintf("above %.2f", above), s.judge(above), byThreshold[above])
		}
		for i := range s.points {
			s.points[i].own = nil
		}
		hold("all of them, each function counts once", s.judge(Threshold), byNoise["all of them, each function counts once"])
	}
}

// The cause of each instance is that of its fault.
func TestReasonsOfALabelledSet(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 4))
	for _, n := range noises {
		s := showing{random, n, builds(t, random)}
		for _, f := range labelledFaults {
			for range 5 {
				a := s.show(f)
				if got := reasonOf(a).kind; got != f.reason && !(got == CPUKind && n.load) {
					t.Errorf("%s, with %s: %s, want %s of %+v", f.label, n.name, got, f.reason, a)
				}
			}
		}
	}
}
