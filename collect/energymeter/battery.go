package energymeter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
)

// batteryProbe is what set-up found out about the battery.
type batteryProbe struct {
	// polled reports that the battery service is queried at each reading, since Perfetto isn't
	// there or does not report the voltage.
	polled bool
	// ofKernel reports that the kernel's files have current and voltage.
	ofKernel bool
	// lit reports that the screen is on while the sensors are probed.
	lit bool
}

// The kernel's readings of the battery, in µA, µV and µAh; readable for adb on many devices before
// Android 8, seldom later.
const batteryFiles = "/sys/class/power_supply/battery/"

var kernelBattery = []string{"current_now", "voltage_now", "charge_counter"}

// batteryQuestion returns the command for one reading of the battery.
func (m *Meter) batteryQuestion() string {
	line := "dumpsys battery"
	if m.battery.ofKernel {
		for _, name := range kernelBattery {
			line += "; echo apkgate-" + name + "; cat " + batteryFiles + name
		}
	}
	return line
}

// Lines of `dumpsys battery` (BatteryService.dumpInternal). Some makers have "current now".
var (
	batteryVoltage = regexp.MustCompile(`(?mi)^\s*voltage: (-?\d{1,12})\s*$`)
	batteryCharge  = regexp.MustCompile(`(?mi)^\s*charge counter: (-?\d{1,12})\s*$`)
	batteryCurrent = regexp.MustCompile(`(?mi)^\s*current[ _]now: (-?\d{1,12})\s*$`)
	levelLine      = regexp.MustCompile(`(?m)^\s*level: (\d+)`)
	poweredBy      = regexp.MustCompile(`(?m)^\s*(AC|USB|Wireless|Dock) powered: (true|false)`)
	batteryMark    = regexp.MustCompile(`(?m)^apkgate-(current_now|voltage_now|charge_counter)\r?\n(-?\d{1,15})\r?$`)
)

// batteryReading parses the answer to batteryQuestion.
func batteryReading(at time.Duration, text []byte) energy.BatteryReading {
	service := text
	if i := bytes.Index(text, []byte("apkgate-")); i >= 0 {
		service = text[:i]
	}
	r := energy.BatteryReading{
		Time: at, Current: firstNumber(batteryCurrent, service), Voltage: firstNumber(batteryVoltage, service),
		Charge: firstNumber(batteryCharge, service), Power: powerOf(service),
	}
	for _, m := range batteryMark.FindAllSubmatch(text, -1) {
		v, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			continue
		}
		switch string(m[1]) {
		case "current_now":
			r.Current = &v
		case "voltage_now":
			r.Voltage = &v
		case "charge_counter":
			r.Charge = &v
		}
	}
	return r
}

func firstNumber(re *regexp.Regexp, text []byte) *float64 {
	m := re.FindSubmatch(text)
	if m == nil {
		return nil
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		return nil
	}
	return &v
}

// powerOf parses what the battery service reports on chargers.
func powerOf(text []byte) energy.Power {
	power := energy.PowerUnknown
	for _, m := range poweredBy.FindAllSubmatch(text, -1) {
		if string(m[2]) == "true" {
			return energy.External
		}
		power = energy.OnBattery
	}
	return power
}

// feignedMark is how the battery service reports that its state is faked.
const feignedMark = "UPDATES STOPPED"

// readPower reads what the device is powered by, before anything is faked. A state faked by a
// killed run is reset.
func (m *Meter) readPower(ctx context.Context) error {
	text, err := m.t.Output(ctx, "dumpsys", "battery")
	if err == nil && strings.Contains(text, feignedMark) {
		m.t.Journal.Warnf("the battery service reports a faked state, as after a killed run: it was reset")
		if err = m.t.Try(ctx, "dumpsys", "battery", "reset"); err == nil {
			text, err = m.t.Output(ctx, "dumpsys", "battery")
		}
	}
	if err != nil {
		return fmt.Errorf("read what the device is powered by: %w", err)
	}
	for _, by := range poweredBy.FindAllStringSubmatch(text, -1) {
		switch {
		case by[2] == "true":
			m.powered = strings.ToLower(by[1])
		case m.powered == "":
			m.powered = "battery"
		}
	}
	if percent := levelLine.FindStringSubmatch(text); percent != nil {
		m.facts.LevelPercent, _ = strconv.ParseFloat(percent[1], 64)
	}
	m.facts.CapacityMAh = energy.Capacity(m.settings.BatteryCapacity)
	return nil
}

// askBattery reads the battery and the time.
func (m *Meter) askBattery(ctx context.Context) (energy.BatteryReading, error) {
	out, err := m.t.Ask(ctx, m.t.ClockQuestion()+"; echo "+powerMark+"; "+m.batteryQuestion())
	if err != nil {
		return energy.BatteryReading{}, fmt.Errorf("read the battery: %w", err)
	}
	head, text, _ := bytes.Cut(out.Stdout, []byte(powerMark))
	at, err := target.Uptime(head)
	return batteryReading(at, text), err
}

// How long the sensors are probed at set-up: long enough for rails; then, for a battery that
// updates slowly, once more.
var probeTimes = []time.Duration{2 * time.Second, 20 * time.Second}

// probeSensors finds out which sensors there are and whether they can be trusted.
func (m *Meter) probeSensors(ctx context.Context, offers *energy.Offers) error {
	m.t.Journal.Report(journal.SetUp, 0, 0, "trying the power sensors")
	power, err := m.t.Output(ctx, "dumpsys", "power")
	if err != nil {
		return fmt.Errorf("read whether the screen is on: %w", err)
	}
	screen, _ := device.ReadScreen(power)
	m.battery.lit = screen == device.ScreenOn
	probe := m.probePolled
	if recorders.HasPerfetto(m.t.Facts) {
		switch err := m.askPerfetto(ctx); {
		case errors.Is(err, recorders.ErrNoPerfetto):
			offers.Rails = err
		case err != nil:
			return err
		default:
			probe = m.probeTraced
		}
	}
	for _, d := range probeTimes {
		if err := probe(ctx, d, offers); err != nil {
			return err
		}
		tooShort := errors.Is(offers.Battery, energy.ErrNoUpdates) || errors.Is(offers.Battery, energy.ErrUnit)
		if offers.Rails == nil && m.settings.Source != string(energy.Battery) || !tooShort {
			return nil
		}
	}
	return nil
}

// probeTraced records a short trace and checks its contents.
func (m *Meter) probeTraced(ctx context.Context, d time.Duration, offers *energy.Offers) error {
	before, err := m.askBattery(ctx)
	if err != nil {
		return err
	}
	t, err := m.recordFor(ctx, d)
	if err != nil {
		return err
	}
	_, offers.Rails = energy.OfRails(energy.RailsOf(t))
	readings := energy.BatteryOf(t, chargers(before.Power, t))
	voltage := slices.ContainsFunc(readings, func(r energy.BatteryReading) bool { return r.Voltage != nil })
	if m.battery.polled = !voltage; m.battery.polled {
		readings = withVoltage(readings, []energy.BatteryReading{before})
	}
	m.judgeBattery(readings, offers)
	return nil
}

// probePolled polls the battery service.
func (m *Meter) probePolled(ctx context.Context, d time.Duration, offers *energy.Offers) error {
	m.battery.polled = true
	out, err := m.t.Ask(ctx, device.Quote("cat", batteryFiles+"current_now", batteryFiles+"voltage_now"))
	if err != nil {
		return fmt.Errorf("read the battery: %w", err)
	}
	m.battery.ofKernel = len(strings.Fields(string(out.Stdout))) == 2 && out.ExitCode == 0
	var readings []energy.BatteryReading
	for end := m.t.Clock.Now() + d; m.t.Clock.Now() < end; {
		r, err := m.askBattery(ctx)
		if err != nil {
			return err
		}
		readings = append(readings, r)
		if err := m.t.Clock.Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	m.judgeBattery(readings, offers)
	return nil
}

// judgeBattery decides whether the battery can be trusted. What it finds out about the current's
// unit settles readings of a repetition that are ambiguous.
func (m *Meter) judgeBattery(readings []energy.BatteryReading, offers *energy.Offers) {
	facts := m.facts
	facts.ScreenOn = m.battery.lit
	correction, err := energy.Correct(readings, facts)
	if offers.Battery = err; err == nil {
		m.facts.AmperesPerUnit = correction.AmperesPerUnit
		m.lead = min(max(minLead, 3*correction.Update/2), maxLead)
	}
}

// maxLead limits how long sensors are read on either side of a workload.
const maxLead = 15 * time.Second

// withVoltage adds the battery service's voltages to readings that have none, sorted by time.
func withVoltage(readings, polled []energy.BatteryReading) []energy.BatteryReading {
	out := slices.Clone(readings)
	for _, p := range polled {
		if p.Voltage != nil {
			out = append(out, energy.BatteryReading{Time: p.Time, Voltage: p.Voltage, Power: p.Power})
		}
	}
	slices.SortStableFunc(out, func(a, b energy.BatteryReading) int { return cmp.Compare(a.Time, b.Time) })
	return out
}
