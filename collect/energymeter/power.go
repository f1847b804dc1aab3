// Package energymeter measures the energy of a run: it finds a source of joules on a device,
// prepares the device, reads its power before, during and after the workload, and computes the
// energy of a repetition.
//
// It owns the order of EDATA's test loop (sections 3.6 and 3.7) as far as it is about energy, and
// the choice of the source. It does not know what a reading stands for (package energy), starts no
// recorder except to probe it (package recorders), and does not look at frames. A repetition whose
// energy is not known throughout has none, and is lost.
package energymeter

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/metric"
)

// Meter measures a device's energy: it is set up once, for every build that takes its turn on the
// device.
type Meter struct {
	t          *target.Target
	perfetto   *recorders.Perfetto
	simpleperf *recorders.Simpleperf
	settings   config.Energy

	choice   energy.Choice
	model    model.Model
	capacity float64 // mAh, from the power profile
	// powered is what the device is really powered by: "usb", "ac", "battery", ….
	powered  string
	facts    energy.BatteryFacts
	policies []policy
	battery  batteryProbe
	// lead is how long sensors are read before and after the workload, so that there is an update
	// on either side of it.
	lead time.Duration
	// doubted reports that the doubts about recordings of the methods were reported: they are the
	// same for each.
	doubted bool
	// statsKept reports that batterystats could not be reset.
	statsKept bool
	// feigned reports that the battery service was made to report no charger.
	feigned bool
	// settled reports that the device has rested since it was set up or came back.
	settled bool
}

// Build is the build of the app whose energy is measured.
type Build struct {
	App config.App
	// Note sets a property of the run's context.
	Note func(name, value string)

	uid        int // 0: unknown
	debuggable bool
	naming     methods.Naming
}

// New returns a meter of the device with its shared recorders.
func New(t *target.Target, settings config.Energy, perfetto *recorders.Perfetto, simpleperf *recorders.Simpleperf) *Meter {
	return &Meter{t: t, settings: settings, perfetto: perfetto, simpleperf: simpleperf, lead: minLead}
}

// Prepare finds a source of joules, and prepares the device.
func (m *Meter) Prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		m.readPower, m.loadModel, m.findPolicies, m.chooseSource, m.askSensors, m.feign, m.findProfiler,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Restore prepares a lost device again, which may have restarted.
func (m *Meter) Restore(ctx context.Context) error {
	m.settled = false
	err := m.feign(ctx)
	if m.settings.Methods {
		err = errors.Join(err, m.simpleperf.Soften(ctx))
	}
	return err
}

// detaches reports whether the workload runs without a connection.
func (m *Meter) detaches() bool { return m.settings.Disconnect > 0 }

// Settled reports whether the device has rested since it was set up or came back.
func (m *Meter) Settled() bool { return m.settled }

// loadModel loads the model, which is used where nothing measures.
func (m *Meter) loadModel(context.Context) error {
	model, capacity, err := ModelOf(m.settings.PowerProfile)
	if err != nil {
		return m.t.Final(loss.Configuration, err)
	}
	m.model, m.capacity = model, capacity
	return nil
}

// minLead is the minimum time for which sensors are read on either side of a workload.
const minLead = 500 * time.Millisecond

// chooseSource chooses the configured source, or the best one available.
func (m *Meter) chooseSource(ctx context.Context) error {
	offers := energy.Offers{Emulator: m.t.Facts.IsEmulator(), Profile: m.model.Name, Rails: energy.ErrNoRails, Battery: energy.ErrNoCurrent}
	asked := m.settings.Source
	if asked == config.EnergyRails || asked == config.EnergyBattery || asked == config.EnergyAuto && !offers.Emulator {
		if err := m.probeSensors(ctx, &offers); err != nil {
			return err
		}
	}
	choice, err := energy.Choose(asked, offers)
	if err != nil {
		return m.noEnergy(err)
	}
	if len(choice.PassedOver) > 0 && !choice.Source.Measured() && !offers.Emulator {
		m.t.Journal.Warnf("energy is estimated by the %s: %s", choice.From, strings.Join(choice.PassedOver, "; "))
	}
	m.choice = choice
	if !choice.Source.Measured() {
		m.perfetto.Withdraw(Asker)
	}
	return nil
}

// noEnergy wraps the error that the configured source is not available on this device.
func (m *Meter) noEnergy(err error) error {
	out := m.t.Final(loss.Configuration, err)
	if e := loss.As(out); e != nil && e.Advice == "" {
		if e.Advice = energy.Hint(err); e.Advice == "" {
			e.Advice = "energy.source: auto takes the best that the device offers"
		}
	}
	return out
}

// Ready records the properties of the installed build that affect its energy: the source, and
// whether it is a debug build.
func (m *Meter) Ready(ctx context.Context, b *Build) error {
	if err := m.readPackage(ctx, b); err != nil {
		return err
	}
	if err := m.loadNames(b); err != nil {
		return err
	}
	if b.debuggable {
		b.Note("debuggable", "true")
		if m.settings.Methods {
			m.t.Journal.Warnf("%s is a debug build: what its methods cost misleads, since a release build is compiled otherwise; measure a release build with <profileable android:shell=\"true\"/> in its manifest", b.App.Package)
		}
	}
	b.Note(metric.EnergyFrom, m.choice.From)
	b.Note("powered", m.powered)
	return nil
}

// findProfiler finds what samples the app's methods. A device of a lab without one measures
// everything else.
func (m *Meter) findProfiler(ctx context.Context) error {
	if !m.settings.Methods {
		return nil
	}
	there, err := m.simpleperf.Find(ctx)
	if err == nil && !there {
		m.settings.Methods = false
		m.t.Journal.Warnf("the device has no simpleperf: the app's methods are not sampled on it (Android 9 and later have it; for an older one push it out of the NDK to %s)", recorders.PushedSimpleperf)
	}
	return err
}
