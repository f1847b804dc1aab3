package energycmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// powerCurve reads the device's power from a trace: its rails, else its battery. All traces of one
// call must have the same source.
func powerCurve(c terminal.Console, all *attributed, path string, f flags) (energy.Curve, error) {
	var t *powerdata.Trace
	if err := read(c, path, inputfiles.TracesOfPerfetto, func(r io.Reader) (err error) {
		t, err = powerdata.Read(r)
		return err
	}); err != nil {
		return energy.Curve{}, err
	}
	if len(t.Rails) == 0 && len(t.Battery) == 0 {
		return energy.Curve{}, noPower(path, t)
	}
	all.warn(path, t.Warnings)
	if t.Clock != "monotonic" {
		all.warnings = append(all.warnings, run.Warning{Text: path + ": its times are of the clock " + t.Clock + ", not monotonic: samples may get the power of another instant"})
	}
	curve, source, corrected, err := curveOf(t, f)
	if err != nil {
		hint := energy.Hint(err)
		if errors.Is(err, errChargerUnknown) {
			hint = "say --on-battery if none was"
		}
		return energy.Curve{}, exit.Usage(fmt.Errorf("%s: %w", path, err), hint)
	}
	if all.source != "" && all.source != source {
		return energy.Curve{}, exit.Usage(fmt.Errorf("%s: its power is of the source %s, that of the trace before of %s", path, source, all.source), "joules of two sources can't be added: name one with --source")
	}
	if corrected != "" {
		all.warnings = append(all.warnings, run.Warning{Text: path + ": the battery's readings: " + corrected})
	}
	all.source, all.update = source, curve.Update()
	return curve, nil
}

// noPower returns the error of a trace without power, with the reader's own message if there is
// one.
func noPower(path string, t *powerdata.Trace) error {
	err := fmt.Errorf("%s: neither power rails nor battery counters are in it", path)
	if len(t.Warnings) > 0 {
		err = fmt.Errorf("%w: %s", err, t.Warnings[0].Text)
	}
	return exit.Usage(err, "record Perfetto's data source android.power (docs/energy.md)")
}

// errChargerUnknown reports that only the user knows.
var errChargerUnknown = errors.New("the trace does not say whether a charger was connected")

// curveOf returns the power over the trace, and a description of the corrections to a battery's
// readings.
func curveOf(t *powerdata.Trace, f flags) (_ energy.Curve, _ energy.Source, correction string, _ error) {
	asked := energy.Source(f.source)
	rails, noRails := energy.OfRails(energy.RailsOf(t))
	if asked != energy.Battery && (noRails == nil || asked == energy.Rails) {
		return rails.Total, energy.Rails, "", noRails
	}
	power := energy.PowerOf(t)
	switch {
	case power != energy.PowerUnknown:
	case f.onBattery:
		power = energy.OnBattery
	case len(t.Battery) > 0:
		return energy.Curve{}, energy.Battery, "", errChargerUnknown
	}
	corrected, err := energy.Correct(energy.BatteryOf(t, power), energy.BatteryFacts{CapacityMAh: f.capacity})
	if asked == energy.Auto && err != nil {
		err = fmt.Errorf("neither rails (%w) nor battery: %w", noRails, err)
	}
	if err != nil {
		return energy.Curve{}, energy.Battery, "", err
	}
	return corrected.Curve, energy.Battery, corrected.String(), nil
}
