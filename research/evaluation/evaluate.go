package evaluation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/research/evaluation/series"
)

// Question is one row without its answer.
type Question struct {
	Design         Design
	AcrossSessions bool
	Metrics        int // series at once in a run; 0 is 1
	World          World
	Shift          float64 // by which the new run's first metric is worse, as a share
	Rule           Rule
}

// Setup is what all rows of an evaluation share.
type Setup struct {
	Series []series.Series
	Policy gate.Policy
	// Rounds is the maximum number of rounds for what the history leaves open: 0 is a check without
	// a base build.
	Rounds int
	// Widen spreads the repetitions of a session before rounds are drawn from them, so that rounds
	// from a few vary as much as the noise that these are a sample of.
	Widen bool
	Draws int
	Seed  uint64
}

// Limits on an evaluation.
const (
	MaxDraws   = 1_000_000
	MaxMetrics = 100
	MaxShift   = 10.0
	MaxRounds  = 1000
)

// Evaluate answers the questions, in their order. It calls progress after each draw with the number
// of finished and of all draws. The same setup gives the same answer on every machine.
func Evaluate(ctx context.Context, s Setup, questions []Question, progress func(done, of int)) (Report, error) {
	report := Report{Format: Format, Preset: s.Policy.Preset, Draws: s.Draws, Series: len(s.Series), Rounds: s.said(), Rows: []Row{}, Warnings: []string{}}
	var done atomic.Int64
	tell := func() {
		if progress != nil {
			progress(int(done.Add(1)), s.Draws*len(questions))
		}
	}
	for _, q := range questions {
		counts, skipped, err := s.answer(ctx, q, tell)
		if err != nil {
			return report, err
		}
		report.Rows = append(report.Rows, counts.row(q))
		report.warn(q, counts, skipped, len(s.Series))
	}
	return report, nil
}

// said describes how rounds were drawn.
func (s Setup) said() string {
	if s.Rounds == 0 {
		return "no rounds: the history alone decides"
	}
	widened := ""
	if s.Widen {
		widened = ", widened"
	}
	return fmt.Sprintf("%d rounds at most, simulated from the repetitions of the new run's session%s", s.Rounds, widened)
}

// answer makes the draws of one question.
func (s Setup) answer(ctx context.Context, q Question, tell func()) (counts, int, error) {
	p, err := poolOf(q, s.Series)
	if err != nil {
		return counts{}, 0, err
	}
	var mu sync.Mutex
	var sum counts
	g, drawing := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for draw := range s.Draws {
		if drawing.Err() != nil {
			break
		}
		g.Go(func() error {
			rng := q.chance(s.Seed, draw)
			sc, err := p.scene(q, draw, rng)
			if err != nil {
				return err
			}
			o, err := s.judge(sc, q, rng)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(o)
			tell()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return sum, 0, err
	}
	return sum, p.skipped, ctx.Err()
}

// chance returns the random source of one draw: the same for every shift and every rule, so that
// rows differ by these only.
func (q Question) chance(seed uint64, draw int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, q.Design, q.AcrossSessions, max(q.Metrics, 1), q.World)
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(draw)))
}

// Check returns an error for what can't be evaluated, with what is allowed.
func (s Setup) Check(questions []Question) error {
	if s.Draws < 1 || s.Draws > MaxDraws {
		return fmt.Errorf("draws are %d, want 1 to %d", s.Draws, MaxDraws)
	}
	if len(questions) == 0 {
		return errors.New("there is no design to evaluate")
	}
	for _, q := range questions {
		if q.Metrics < 0 || q.Metrics > MaxMetrics {
			return fmt.Errorf("metrics are %d, want 1 to %d", q.Metrics, MaxMetrics)
		}
		if !(q.Shift >= 0 && q.Shift <= MaxShift) {
			return fmt.Errorf("a shift is %g, want 0 to %g as a share: 0.1 is a worsening by 10 %%", q.Shift, MaxShift)
		}
		if !slices.ContainsFunc(Worlds(), func(d Described) bool { return d.World == q.World }) {
			return fmt.Errorf("there is no world %q", q.World)
		}
		if _, err := poolOf(q, s.Series); err != nil {
			return err
		}
	}
	return nil
}
