package simulated

import (
	"io"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func of(variable, value string) (Phones, error) {
	return Of(terminal.Console{Getenv: func(name string) string {
		if name == variable {
			return value
		}
		return ""
	}}, 0)
}

func TestFaultsOfStations(t *testing.T) {
	t.Parallel()
	p, err := of(Faults, " pixel #2: hang at 12s; lab: shelf: die; pixel #2: drop after scroll repetition 2 ;")
	if err != nil || len(p.faults) != 2 || len(p.faults["pixel #2"]) != 2 || p.faults["pixel #2"][1].Repetition != 2 || len(p.faults["lab: shelf"]) != 1 {
		t.Errorf("%+v, %v", p.faults, err)
	}
	if p, err := of(Faults, ""); err != nil || len(p.faults) != 0 {
		t.Errorf("none: %+v, %v", p.faults, err)
	}
}

func TestInvalidFaults(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"hang": "is not STATION: FAULT", ": hang": "is not STATION: FAULT", "pixel: explode": `"explode" is not one of`} {
		if _, err := of(Faults, value); err == nil || exit.Finish(io.Discard, err) != exit.StatusUsage || !strings.Contains(err.Error(), Faults) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", value, err, want)
		}
	}
}
