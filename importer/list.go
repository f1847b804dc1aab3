package importer

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// list reads the list of results that github-action-benchmark calls customSmallerIsBetter and
// customBiggerIsBetter: [{"name","unit","value"}], with optional "range" and "extra". It is one run
// with one iteration, each entry a metric of the whole run. The file doesn't record which of the
// two it is, so that the direction follows from the unit (see direction).
func (im *importing) list(data []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return explain(err)
	}
	if n := len(entries); n == 0 || n > run.MaxMetrics {
		return fmt.Errorf("the list has %d entries, want 1 to %d", n, run.MaxMetrics)
	}
	metrics := map[string]float64{}
	for i, raw := range entries {
		name, value, err := im.entry(raw)
		if err != nil {
			return fmt.Errorf("[%d].%w", i, err)
		}
		if _, twice := metrics[name]; twice {
			return fmt.Errorf("[%d].name: %s is in the list twice, want each name once", i, name)
		}
		metrics[name] = value
	}
	r := im.newRun("", "", "imported list", nil)
	r.Iterations = []run.Iteration{{Metrics: metrics}}
	return im.add(r, 0)
}

func (im *importing) entry(raw json.RawMessage) (name string, value float64, err error) {
	var e struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value *number `json:"value"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return "", 0, explain(err)
	}
	switch {
	case e.Name == "":
		return "", 0, errors.New("name is empty, want the metric's name")
	case e.Value == nil:
		return "", 0, errors.New("value is missing, want a number")
	}
	name, err = im.listed(e.Name, e.Unit)
	return name, float64(*e.Value), err
}

// listed returns our name of a metric that the file has with a unit, and declares it. All values of a
// name have the same unit.
func (im *importing) listed(called, unit string) (name string, err error) {
	name = im.nameOf(called)
	if err := checkUnit(name, unit); err != nil {
		return "", err
	}
	m := guessed(name, called, unit)
	before, known := im.declared[name]
	if known && before.Unit != unit {
		return "", fmt.Errorf("unit is %q, but %s had %q before; want one unit for all of its values", prose.Short(unit), prose.Short(called), prose.Short(before.Unit))
	}
	if !known && m.Direction == metric.Neutral && !builtin(name) {
		im.warnf("%s: whether more or less of %q is better is not known, so it is shown but never gated; declare the metric with its direction to gate it", name, prose.Short(unit))
	}
	im.declare(m)
	return name, nil
}

// checkUnit returns an error for a catalogue's name with another unit.
func checkUnit(name, unit string) error {
	m, known := metric.Default().Lookup(name)
	if known && unit != "" && unit != m.Unit {
		return fmt.Errorf("unit is %q, but %s is in %q", unit, name, m.Unit)
	}
	return nil
}
