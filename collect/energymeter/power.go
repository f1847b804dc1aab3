// Package energymeter measures the energy of a run: it finds out where joules can be had on
// a device, readies the device for it, reads its power before, while and after the
// workload runs, and says what a repetition took.
//
// It owns the order of EDATA's test loop (sections 3.6 and 3.7) as far as it is about
// energy, and which source counts. It does not know what a reading stands for
// (package energy), starts no recorder by itself but to try it (package recorders),
// and does not look at frames. It takes a stand: a repetition whose energy is not
// known all along has none, and is lost.
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

// Meter is how a device's energy is measured: settled once at set-up, the same
// for every build that takes its turn on the device.
type Meter struct {
	t          *target.Target
	perfetto   *recorders.Perfetto
	simpleperf *recorders.Simpleperf
	settings   config.Energy

	choice   energy.Choice
	model    model.Model
	capacity float64 // mAh, that the power profile states
	// powered is what the device is really powered by: "usb", "ac", "battery", ….
	powered  string
	facts    energy.BatteryFacts
	policies []policy
	battery  batteryProbe
	// lead is how long sensors are read before and after the workload, so that
	// an update lies on either side of it.
	lead time.Duration
	// doubted says that what a recording of the methods can't tell was told: it is the
	// same of each.
	doubted bool
	// statsKept says that batterystats goes on counting from before.
	statsKept bool
	// feigned says that the battery service is told that no charger is there.
	feigned bool
	// settled says that the device has rested since it was set up or came back.
	settled bool
}

// Build is the build of the app whose energy is measured.
type Build struct {
	App config.App
	// Note takes down a property of the run's context.
	Note func(name, value string)

	uid        int // 0: not known
	debuggable bool
	naming     methods.Naming
}

// New is a meter of the device; its recorders are those that serve everybody there.
func New(t *target.Target, settings config.Energy, perfetto *recorders.Perfetto, simpleperf *recorders.Simpleperf) *Meter {
	return &Meter{t: t, settings: settings, perfetto: perfetto, simpleperf: simpleperf, lead: minLead}
}

// Prepare finds out where joules can be had, and readies the device.
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

// Restore readies the device again that was lost and may have restarted.
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

// loadModel readies the model, which stands in where nothing measures.
func (m *Meter) loadModel(context.Context) error {
	model, capacity, err := ModelOf(m.settings.PowerProfile)
	if err != nil {
		return m.t.Final(loss.Configuration, err)
	}
	m.model, m.capacity = model, capacity
	return nil
}

// minLead is how long sensors are read at least on either side of a workload.
const minLead = 500 * time.Millisecond

// chooseSource takes the source that was asked for, or the best that there is.
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
		m.t.Journal.Warnf("energy is not measured but worked out by the %s: %s", choice.From, strings.Join(choice.PassedOver, "; "))
	}
	m.choice = choice
	if !choice.Source.Measured() {
		m.perfetto.Withdraw(Asker)
	}
	return nil
}

// noEnergy says that the source that was asked for can't be had on this device.
func (m *Meter) noEnergy(err error) error {
	out := m.t.Final(loss.Configuration, err)
	if e := loss.As(out); e != nil && e.Advice == "" {
		if e.Advice = energy.Hint(err); e.Advice == "" {
			e.Advice = "energy.source: auto takes the best that the device offers"
		}
	}
	return out
}

// Ready notes what the energy of the build means that is installed: where it comes
// from, whether it is a debug build.
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

// findProfiler looks for what samples the app's methods. A device of a lab that has
// none measures all else.
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
