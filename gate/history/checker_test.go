package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// lab returns a history and runs of it, on devices with some runs each.
func lab(devices, perDevice, subjects int) (history []run.Summary, runs []run.Run) {
	w := gatetest.World{Contexts: devices, PerContext: perDevice, Events: 5, Session: 0.03, Noise: 0.03, Tail: 0.3}
	rng := rand.New(rand.NewPCG(3, 4))
	p, _ := gate.PolicyOf(gate.PresetDefault)
	var shared run.Layouts
	for c := range w.Contexts {
		for i := range w.PerContext {
			s := run.Summarize(w.Run(rng, fmt.Sprint(c, ".", i), c, 1), p.Centre, metric.Default())
			s.Cells = shared.Share(s.Cells)
			history = append(history, s)
		}
	}
	for i := range subjects {
		slow := 1.0
		if i%3 == 0 {
			slow = 1.5
		}
		runs = append(runs, w.Run(rng, fmt.Sprint("new", i), i%devices, slow))
	}
	return history, runs
}

func TestCheckerIgnoresOrderOfSubjects(t *testing.T) {
	history, runs := lab(6, 8, 12)
	for _, preset := range gate.Presets() {
		p := gatetest.Policy(t, preset)
		var subjects []Subject
		for _, r := range runs {
			subjects = append(subjects, Subject{Run: r, References: history})
		}
		want := Check(p, metric.Default(), subjects)
		k := NewChecker(p, metric.Default(), len(subjects))
		var all sync.WaitGroup
		for i := range subjects {
			all.Go(func() { k.Add(len(subjects)-1-i, subjects[len(subjects)-1-i]) })
		}
		all.Wait()
		if got := k.Verdict(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the verdict differs where the subjects came all at once", preset)
		}
	}
}

// A checked run leaves behind what the verdict reports, not the thousands of runs that it was
// compared with.
func TestCheckerMemory(t *testing.T) {
	const subjects, most = 40, 100 << 10 // bytes for each: 18 samples of 200 values are 29 kB
	history, runs := lab(50, 100, subjects)
	before := heap()
	k := NewChecker(gatetest.Policy(t, gate.PresetDefault), metric.Default(), subjects)
	for i, r := range runs {
		k.Add(i, Subject{Run: r, References: slices.Clone(history)}) // as a store would return them
	}
	if per := (heap() - before) / subjects; per > most {
		t.Errorf("%d kB are held for each run, want at most %d kB", per>>10, most>>10)
	}
	if v := k.Verdict(); len(v.Runs) != subjects || v.Runs[0].ReferenceTotal != len(history) {
		t.Fatalf("%d runs, %d references", len(v.Runs), v.Runs[0].ReferenceTotal)
	}
	runtime.KeepAlive(history)
}

// For up to a hundred runs each comparison keeps all values that a verdict may list. For more runs
// the number falls in proportion, to a tenth at least.
func TestCheckerSamplesOfManyRuns(t *testing.T) {
	for runs, want := range map[int]int{0: gate.MaxListed, 1: gate.MaxListed, 100: gate.MaxListed, 200: gate.MaxListed / 2, 5000: gate.MaxListed / 10} {
		if got := NewChecker(gatetest.Policy(t, gate.PresetDefault), metric.Default(), runs).sampled(); got != want {
			t.Errorf("%d runs: %d values, want %d", runs, got, want)
		}
	}
}

// heap returns the bytes in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
