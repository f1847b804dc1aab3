package collect

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace/sensorservice"
)

// canListSensors: `dumpsys sensorservice --proto` came with Android 11.
func (f facts) canListSensors() bool { return f.api >= 30 }

// askSensors gives the model the currents of the device's sensors. A device that
// states none, or nonsense, costs the model its sensors and nothing else.
func (c *collector) askSensors(ctx context.Context) error {
	m := c.meter
	if m.choice.Source != energy.Model || !c.facts.canListSensors() {
		return nil
	}
	out, err := c.exec(ctx, "dumpsys", "sensorservice", "--proto")
	if isGone(err) || err != nil && ctx.Err() != nil {
		return fmt.Errorf("list the device's sensors: %w", err)
	}
	d := sensorservice.Dump{}
	if err == nil {
		d, err = sensorservice.Read(bytes.NewReader(out.Stdout))
	}
	if err != nil {
		c.warnf("the device does not list its sensors, so that the %s leaves them out: %v", m.choice.From, err)
		return nil
	}
	c.tellDoubts("the device's list of its sensors can't all be believed", d.Warnings)
	m.model = m.model.WithSensors(d.Currents())
	return nil
}
