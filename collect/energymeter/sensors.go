package energymeter

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace/sensorservice"
)

// canListSensors: `dumpsys sensorservice --proto` came with Android 11.
func canListSensors(f target.Facts) bool { return f.API >= 30 }

// askSensors gives the model the currents of the device's sensors. If the device states none, or
// implausible ones, the model has no sensors, and everything else.
func (m *Meter) askSensors(ctx context.Context) error {
	if m.choice.Source != energy.Model || !canListSensors(m.t.Facts) {
		return nil
	}
	out, err := m.t.Exec(ctx, "dumpsys", "sensorservice", "--proto")
	if loss.IsGone(err) || err != nil && ctx.Err() != nil {
		return fmt.Errorf("list the device's sensors: %w", err)
	}
	d := sensorservice.Dump{}
	if err == nil {
		d, err = sensorservice.Read(bytes.NewReader(out.Stdout))
	}
	if err != nil {
		m.t.Journal.Warnf("the device does not list its sensors, so that the %s leaves them out: %v", m.choice.From, err)
		return nil
	}
	m.t.Journal.Doubts("the device's list of its sensors can't all be believed", d.Warnings)
	m.model = m.model.WithSensors(d.Currents())
	return nil
}
