package evaluation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/research/evaluation/series"
	"github.com/apkgate/apkgate/run"
)

// measured are joules of one workload on one phone, in the order in which they
// were measured: three minutes each, with two minutes between them.
type measured struct {
	phone, workload string
	sessions        [][]float64
}

func (m measured) all() []float64 { return slices.Concat(m.sessions...) }

// energyMeasures are the measurements of 27 workloads, 30 times each, on two phones by
// their batterystats estimate and on one by a hardware meter, the last in ten sessions of
// three (S2-group/energy-measures-android-apps-benchmark).
func energyMeasures(t *testing.T) []measured {
	t.Helper()
	monsoon, batterystats := energySeries(t)
	var out []measured
	for _, s := range slices.Concat(batterystats, monsoon) {
		m := measured{phone: s.Device, workload: s.Name}
		for _, session := range s.Sessions() {
			m.sessions = append(m.sessions, session.Values)
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b measured) int {
		return strings.Compare(a.phone+a.workload, b.phone+b.workload)
	})
	return out
}

// energySeries are the same as series.
func energySeries(t *testing.T) (monsoon, batterystats []series.Series) {
	t.Helper()
	corpus := filepath.Dir(corpustest.Path(t, "dataset"))
	monsoon, batterystats, err := published.Energy(corpus)
	if errors.Is(err, published.ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return monsoon, batterystats
}

// block is how many measurements of a phone are kept together, in their order, so
// that what one shares with the next stays: a session of the metered phone has as many.
const block = 3

// rounds returns two versions' runs alternately, combined from blocks that were really measured one
// after the other; the head's joules are a little more.
func (m measured) rounds(rng *rand.Rand, n int, change float64) (base, head run.Run) {
	var joules [2][]float64
	for place := 0; place < 2*n; {
		session := m.sessions[rng.IntN(len(m.sessions))]
		from := rng.IntN(len(session) - block + 1)
		for _, j := range session[from : from+block] {
			if place == 2*n {
				break
			}
			side := headsTurn(place)
			joules[side] = append(joules[side], j*(1+change*float64(side)))
			place++
		}
	}
	return energyRun("base", "together", joules[0]), energyRun("head", "together", joules[1])
}

// The same question with the noise of real phones: measurements of one workload
// are dealt to two versions alternately, and one is given some per cent more.
func TestEnergyOfTwoVersionsOnRealPhones(t *testing.T) {
	workloads := energyMeasures(t)
	times := trials(5, 200) // of each workload
	for _, rounds := range []int{20, 30} {
		t.Logf("| %d rounds | %s |", rounds, heads(changes))
		for phone, of := range byPhone(workloads) {
			row := []string{phone}
			for _, change := range changes {
				sum := found{}
				for _, m := range of {
					f := compared(t, m.phone+m.workload, m.rounds, rounds, change, times)
					sum.detected, sum.failed, sum.trials = sum.detected+f.detected, sum.failed+f.failed, sum.trials+f.trials
				}
				row = append(row, sum.String())
				if most := mostOf(sum.trials, 0.05); change == 0 && (sum.detected > most || sum.failed > most) {
					t.Errorf("%s, %d rounds: %v of equal versions, want at most %d of %d", phone, rounds, sum, most, sum.trials)
				}
				if change >= 0.94 && sum.failed < sum.trials {
					t.Errorf("%s, %d rounds: %v of versions that take twice as much, want all to fail", phone, rounds, sum)
				}
			}
			t.Logf("| %s |", strings.Join(row, " | "))
		}
	}
}

func byPhone(all []measured) func(func(string, []measured) bool) {
	return func(yield func(string, []measured) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && all[n].phone == all[0].phone {
				n++
			}
			if !yield(all[0].phone, all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// Each real measurement is compared with at most twenty before it, and on the metered phone each
// session with the others. Nothing changed, so that every failure is a false alarm.
func TestEnergyOfOneRealRunBesideAHistory(t *testing.T) {
	for phone, of := range byPhone(energyMeasures(t)) {
		checks, alarms, opened := 0, 0, 0
		var least []float64
		for _, m := range of {
			runs := m.runs()
			for i := range runs {
				if past := m.past(runs, i); past != nil {
					checks++
					if checkEnergy(past, runs[i]).Verdict == gate.Regression {
						alarms++
					}
					change := leastOpen(past, runs[i])
					least = append(least, change)
					if change == 0 {
						opened++
					}
				}
			}
		}
		if most := mostOf(checks, 0.01); alarms > most {
			t.Errorf("%s: %d of %d fail, want at most %d", phone, alarms, checks, most)
		}
		t.Logf("| %s | %d | %s | %s | %.1f %% | %.1f %% |", phone, checks, share(alarms, checks), share(opened, checks), 100*quantile(least, 0.5), 100*quantile(least, 0.9))
	}
}

// runs are the sessions; or each measurement where there is one session alone.
func (m measured) runs() [][]float64 {
	if len(m.sessions) > 1 {
		return m.sessions
	}
	var out [][]float64
	for _, j := range m.all() {
		out = append(out, []float64{j})
	}
	return out
}

// past are the runs before one, if twenty are; of ten sessions all the others.
func (m measured) past(runs [][]float64, i int) []run.Summary {
	const enough = 20
	from, to := i-enough, i
	if len(m.sessions) > 1 {
		from, to = 0, len(runs)
	}
	if from < 0 {
		return nil
	}
	var out []run.Summary
	for k := from; k < to; k++ {
		if k != i {
			out = append(out, summary(fmt.Sprint(k), runs[k]))
		}
	}
	return out
}
