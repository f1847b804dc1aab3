package gate

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// large returns a verdict on so many runs of so many events and two metrics each. Every tenth run
// deviates after the event of each flagged number.
func large(runs, events, flagged int) Verdict {
	v := Verdict{Runs: make([]RunVerdict, runs)}
	sample := make([]float64, MaxListed)
	for i := range v.Runs {
		r := &v.Runs[i]
		r.ID, r.Scenario = fmt.Sprint("run", i), "open"
		r.Reference, r.ReferenceTotal = make([]Reference, MaxListed), 10_000
		for e := range events + 1 {
			for _, metric := range []string{"cpu.time_ms", "frames.duration_ms"} {
				c := Comparison{Metric: metric, Direction: None, N: 9, Sample: sample}
				if e > 0 {
					c.Event = fmt.Sprint("E", e)
				}
				if i%10 == 0 && e > 0 && e <= flagged {
					c.Direction = ToRegression
					r.Deviations = append(r.Deviations, c)
				}
				r.Comparisons = append(r.Comparisons, c)
			}
		}
	}
	return v
}

func TestTrimKeepsAVerdictOfALab(t *testing.T) {
	v := large(40, 3, 1)
	v.Trim()
	if !reflect.DeepEqual(v, large(40, 3, 1)) {
		t.Error("a verdict of 40 runs, 3 events and 8 deviations was cut")
	}
}

// With hundreds of phones the findings and the whole runs stay, and the rest is counted.
func TestTrimKeepsFindingsOfHundredsOfRuns(t *testing.T) {
	v := large(500, 50, 5)
	v.Trim()
	counted, compared := 0, 0
	for _, u := range v.Unlisted {
		counted, compared = counted+u.Runs, compared+u.Compared
		if u.Event == "" || u.Scenario != "open" {
			t.Errorf("%+v is not listed", u)
		}
	}
	listed, sampled, references := 0, 0, 0
	for i, r := range v.Runs {
		whole, flagged := 0, 0
		for _, c := range r.Comparisons {
			if c.Event == "" {
				whole++
			} else if c.Direction != None {
				flagged++
			}
			sampled += len(c.Sample)
		}
		for _, d := range r.Deviations {
			sampled += len(d.Sample)
		}
		want := 0
		if i%10 == 0 {
			want = 5 * 2
		}
		if whole != 2 || flagged != want || len(r.Deviations) != want || r.ComparisonsTotal != 51*2 {
			t.Fatalf("run %d lists %d of the whole run, %d flagged, %d deviations, of %d comparisons; want 2, %d, %d, 102",
				i, whole, flagged, len(r.Deviations), r.ComparisonsTotal, want, want)
		}
		listed, references = listed+len(r.Comparisons), references+len(r.Reference)
	}
	if listed+counted != 500*51*2 || compared != counted {
		t.Errorf("%d listed and %d counted, want %d in all; %d of them compared", listed, counted, 500*51*2, compared)
	}
	if sampled > maxSampled || references > maxReferences || references == 0 || sampled == 0 {
		t.Errorf("%d values in samples, %d references", sampled, references)
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, fmt.Sprintf("of 51000 comparisons, %d of single events are counted but not listed", counted)) {
		t.Errorf("warnings %v", v.Warnings)
	}
}

// Where nearly everything deviates, the gravest deviations of each run stay, and all are counted.
func TestTrimLimitsDeviations(t *testing.T) {
	v := large(500, 50, 50)
	for i := range v.Runs { // all of them, not every tenth
		v.Runs[i].Deviations = v.Runs[0].Deviations
		v.Runs[i].Comparisons = append(v.Runs[i].Comparisons[:2:2], v.Runs[0].Deviations...)
	}
	v.Trim()
	comparisons, deviations := 0, 0
	for _, r := range v.Runs {
		comparisons, deviations = comparisons+len(r.Comparisons), deviations+len(r.Deviations)
		if r.DeviationsTotal != 100 || r.ComparisonsTotal != 102 || len(r.Deviations) == 0 {
			t.Fatalf("%d deviations of %d, %d comparisons of %d", len(r.Deviations), r.DeviationsTotal, len(r.Comparisons), r.ComparisonsTotal)
		}
	}
	if comparisons > maxComparisons || deviations > maxComparisons {
		t.Errorf("%d comparisons and %d deviations, want at most %d of each", comparisons, deviations, maxComparisons)
	}
}

// However many runs deviate, each keeps its gravest deviation and its nearest reference.
func TestTrimKeepsOnePerRun(t *testing.T) {
	v := Verdict{Runs: make([]RunVerdict, maxComparisons+1)}
	for i := range v.Runs {
		v.Runs[i].Deviations = []Comparison{{Event: "worst"}, {Event: "bad"}}
		v.Runs[i].Reference = []Reference{{ID: "nearest"}, {ID: "next"}}
	}
	v.Trim()
	for i, r := range v.Runs {
		if len(r.Deviations) != 1 || r.Deviations[0].Event != "worst" || len(r.Reference) != 1 || r.Reference[0].ID != "nearest" {
			t.Fatalf("run %d keeps %+v and %+v, want the first of each", i, r.Deviations, r.Reference)
		}
	}
}

// Samples are for figures: those of deviations are kept, shortened where there are many; the others
// are dropped first.
func TestTrimShortensSamplesEvenly(t *testing.T) {
	for _, c := range []struct{ runs, flagged, each int }{{600, 0, 0}, {1000, 2, MaxListed}, {1000, 50, maxSampled / (100 * 100)}} {
		v := large(c.runs, c.flagged, c.flagged)
		v.trimSamples()
		for i, r := range v.Runs {
			for _, d := range r.Deviations {
				if len(d.Sample) != c.each {
					t.Fatalf("%+v: run %d has a sample of %d", c, i, len(d.Sample))
				}
			}
			for _, d := range r.Comparisons {
				if len(d.Sample) != 0 {
					t.Fatalf("%+v: run %d keeps a sample of %d beside its deviations", c, i, len(d.Sample))
				}
			}
		}
	}
}
