package measure_test

import (
	"testing"

	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
)

// The default number of rounds can prove a change among eighty comparisons, and two fewer can't.
func TestDefaultRoundsCanProveAChange(t *testing.T) {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	const comparisons = 80
	if _, err := rounds.PlanOf(p, measure.DefaultRounds, comparisons); err != nil {
		t.Error(err)
	}
	if _, err := rounds.PlanOf(p, measure.DefaultRounds-2, comparisons); err == nil {
		t.Errorf("%d rounds would do", measure.DefaultRounds-2)
	}
}
