package pullrequest

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/research/evaluation"
)

// Row is the result of many pull requests of one world.
type Row struct {
	World
	Trials                     int
	Failed, Inconclusive, Pass int // counts; a pass is an improvement too
	Minutes                    []float64
}

// Try draws so many pull requests of a world, each from its own random source, which is the same
// for every change: rows differ by these only.
func Try(ctx context.Context, w World, p gate.Policy, seed uint64, trials int) (Row, error) {
	row := Row{World: w, Trials: trials}
	outcomes := make([]Outcome, trials)
	var mu sync.Mutex
	h := fnv.New64a()
	fmt.Fprint(h, w.Noise, w.Scenarios, w.Nights, w.Repetitions)
	g, drawing := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range trials {
		if drawing.Err() != nil {
			break
		}
		g.Go(func() error {
			o := w.Check(p, rand.New(rand.NewPCG(seed^h.Sum64(), uint64(i))))
			mu.Lock()
			defer mu.Unlock()
			outcomes[i] = o
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return row, err
	}
	for _, o := range outcomes {
		row.Minutes = append(row.Minutes, o.Minutes)
		switch o.Verdict {
		case gate.Regression:
			row.Failed++
		case gate.Inconclusive:
			row.Inconclusive++
		default:
			row.Pass++
		}
	}
	slices.Sort(row.Minutes)
	return row, ctx.Err()
}

// Median returns the median of the device minutes.
func (r Row) Median() float64 { return r.Minutes[len(r.Minutes)/2] }

// Most returns the minutes that nine of ten take at most.
func (r Row) Most() float64 { return r.Minutes[len(r.Minutes)*9/10] }

// Head writes the head of a table of rows, in Markdown.
func Head(w io.Writer) error {
	_, err := fmt.Fprint(w, "| noise | scenarios | a round | change | fails | inconclusive | passes | device minutes: half, 9 of 10 |\n|---|--:|--:|---|--:|--:|--:|--:|\n")
	return err
}

// Write writes the row, in Markdown: shares with their 95 % intervals (Clopper and Pearson).
func (r Row) Write(w io.Writer) error {
	share := func(k int) string {
		low, high := evaluation.Interval(k, r.Trials)
		return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*float64(k)/float64(r.Trials), 100*low, 100*high)
	}
	_, err := fmt.Fprintf(w, "| %s | %d | %.1f min | %s | %s | %s | %s | %.0f, %.0f |\n",
		r.Noise.Name, r.Scenarios, r.Lasts.Round(1), r.Change.Name, share(r.Failed), share(r.Inconclusive), share(r.Pass), r.Median(), r.Most())
	return err
}

// DefaultMinutes are those of rounds.minutes in apkgate.yml.
const DefaultMinutes = 45.0

// Standard is a world at the defaults of apkgate.yml: nine nights of five repetitions, and an
// hour of a device for all of it.
func Standard(noise Noise, scenarios int, lasts gate.RoundDurations, change Change) World {
	const nights, repetitions, hour = 9, 5, 60.0
	w := World{Noise: noise, Scenarios: scenarios, Change: change, Nights: nights, Repetitions: repetitions, Lasts: lasts}
	w.Minutes = max(0, min(DefaultMinutes, hour-w.measuring()))
	return w
}

// The lengths of rounds of the table: as the simulator has them, and with the time that
// installing and compiling take on an emulator.
var (
	Short = gate.RoundDurations{SetUp: 0.2, Repetition: 0.15}
	Long  = gate.RoundDurations{SetUp: 0.6, Repetition: 0.3}
)
