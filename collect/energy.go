package collect

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/run"
)

// meter is how a device's energy is measured: settled once at set-up, the same
// for every build that takes its turn on the device.
type meter struct {
	settings config.Energy
	choice   energy.Choice
	model    energy.PowerModel
	capacity float64 // mAh, that the power profile states
	// powered is what the device is really powered by: "usb", "ac", "battery", ….
	powered  string
	facts    energy.BatteryFacts
	policies []policy
	battery  batteryProbe
	// lead is how long sensors are read before and after the workload, so that
	// an update lies on either side of it.
	lead     time.Duration
	perfetto string // the configuration that this device's perfetto takes, "" without one
	// perfettoWaits says that it tells when it has begun to record.
	perfettoWaits bool
	profiler      profiler
	// statsKept says that batterystats goes on counting from before.
	statsKept bool
	// feigned says that the battery service is told that no charger is there.
	feigned bool
}

// measures reports whether this job asks for energy.
func (c *collector) measures() bool { return c.job.Energy.Measured() }

// prepareEnergy finds out where joules can be had, and readies the device.
func (c *collector) prepareEnergy(ctx context.Context) error {
	c.meter = &meter{settings: *c.job.Energy, lead: minLead}
	c.undoLater("end what records and remove its files", c.endRecording)
	for _, step := range []func(context.Context) error{
		c.endRecorders, c.checkDetached, c.readPower, c.loadModel, c.findPolicies, c.chooseSource, c.askSensors, c.keepLit, c.holdBrightness, c.feign, c.findProfiler, c.readyBuild,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// loadModel readies the model, which stands in where nothing measures.
func (c *collector) loadModel(context.Context) error {
	model, capacity, err := ModelOf(c.meter.settings.PowerProfile)
	if err != nil {
		return c.final(Configuration, err)
	}
	c.meter.model, c.meter.capacity = model, capacity
	return nil
}

// minLead is how long sensors are read at least on either side of a workload.
const minLead = 500 * time.Millisecond

// chooseSource takes the source that was asked for, or the best that there is.
func (c *collector) chooseSource(ctx context.Context) error {
	m := c.meter
	offers := energy.Offers{Emulator: c.facts.isEmulator(), Profile: m.model.Name, Rails: energy.ErrNoRails, Battery: energy.ErrNoCurrent}
	asked := m.settings.Source
	if asked == config.EnergyRails || asked == config.EnergyBattery || asked == config.EnergyAuto && !offers.Emulator {
		if err := c.probeSensors(ctx, &offers); err != nil {
			return err
		}
	}
	choice, err := energy.Choose(asked, offers)
	if err != nil {
		return c.noEnergy(err)
	}
	if len(choice.PassedOver) > 0 && !choice.Source.Measured() && !offers.Emulator {
		c.warnf("energy is not measured but worked out by the %s: %s", choice.From, strings.Join(choice.PassedOver, "; "))
	}
	m.choice = choice
	return nil
}

// noEnergy says that the source that was asked for can't be had on this device.
func (c *collector) noEnergy(err error) error {
	out := c.final(Configuration, err)
	if e := asError(out); e != nil && e.hint == "" {
		if e.hint = energy.Hint(err); e.hint == "" {
			e.hint = "energy.source: auto takes the best that the device offers"
		}
	}
	return out
}

// isEmulator: of the SDK, of Android Studio, of Genymotion, Cuttlefish, redroid.
// They have no battery and no power monitors worth the name.
func (f facts) isEmulator() bool {
	for _, name := range []string{"ro.kernel.qemu", "ro.boot.qemu", "ro.hardware.virtual_device"} {
		if f.properties[name] == "1" {
			return true
		}
	}
	return slices.ContainsFunc([]string{"goldfish", "ranchu", "vbox86", "cutf", "redroid"}, func(prefix string) bool {
		return strings.HasPrefix(f.properties["ro.hardware"], prefix)
	})
}

// readyBuild compiles the build that is installed, and notes what its energy
// means: where it comes from, how the app's code stands, whether it is a debug
// build.
func (c *collector) readyBuild(ctx context.Context) error {
	c.report(SetUp, 0, 0, "compiling the app")
	if err := c.compile(ctx); err != nil {
		return err
	}
	if err := c.readPackage(ctx); err != nil {
		return err
	}
	if err := c.loadNames(); err != nil {
		return err
	}
	if c.debuggable {
		c.setContext("debuggable", "true")
		if c.meter.settings.Methods {
			c.warnf("%s is a debug build: what its methods cost misleads, since a release build is compiled otherwise; measure a release build with <profileable android:shell=\"true\"/> in its manifest", c.job.App.Package)
		}
	}
	c.setContext(run.EnergyFrom, c.meter.choice.From)
	c.setContext("powered", c.meter.powered)
	return nil
}
