// Package model estimates joules by a power profile: the current of each state, times the time
// spent in it, times one voltage, as Android's own estimate does. docs/collection/joules.md lists its
// equations and what it leaves out.
//
// It measures nothing, and its joules bear the profile's name, so that those of two profiles are
// never compared. Measured joules are package energy's.
package model

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

// Model converts times in states to joules by a power profile: the current of each state × its time
// × one voltage, as Android's own estimate does
// (frameworks/base/core/java/com/android/internal/os/*PowerCalculator.java). It measures nothing.
// docs/collection/joules.md lists its equations and what it leaves out.
type Model struct {
	// Name is the part of metric.EnergyFrom after "model ".
	Name string
	// Volts is the voltage of the battery. It is the same for all runs, so that a low battery does
	// not look like a better app.
	Volts    float64
	Warnings []run.Warning

	cpu    cpuModel
	parts  partModel
	screen screenModel
}

// ReferencePhone is the name of the model that needs no profile from the user.
const ReferencePhone = "reference-phone"

//go:embed reference-phone.xml
var referencePhone string

// ReferenceProfile returns the power profile of a fictitious but realistic phone: eight cores in
// two clusters, a 4,000 mAh battery.
func ReferenceProfile() powerprofile.Profile {
	p, err := powerprofile.Read(strings.NewReader(referencePhone))
	if err != nil {
		return powerprofile.Profile{} // a test checks that it can be read
	}
	return p
}

// Reference returns the model for ReferenceProfile.
func Reference() Model {
	m, _ := New(ReferenceProfile())
	m.Name = ReferencePhone
	return m
}

// ErrProfile is returned if a power profile has too little to estimate with.
var ErrProfile = errors.New("the power profile states no current of the CPU")

// New returns a model for a profile. A profile with Android's placeholder values is accepted, with
// a warning.
func New(p powerprofile.Profile) (Model, error) {
	m := Model{Name: profileName(p), Volts: energy.NominalVolts, cpu: newCPUModel(p), parts: newPartModel(p), screen: newScreenModel(p)}
	if len(m.cpu.clusters) == 0 {
		return Model{}, fmt.Errorf("make a model of energy: %w (cpu.active, cpu.core_power or cpu.scaling_step_power)", ErrProfile)
	}
	if p.Placeholder() {
		m.Warnings = append(m.Warnings, run.Warning{Text: "the power profile holds Android's placeholders (0.1 mA), not a device's values: its joules are meaningless"})
	}
	if m.screen.on+m.screen.full == 0 {
		m.Warnings = append(m.Warnings, run.Warning{Text: "the power profile states no current of the screen: it counts nothing"})
	}
	return m, nil
}

// WithSensors returns the model with the currents of a device's sensors, in mA by handle. They are
// stated by the device, not by the profile: without them sensors count nothing.
func (m Model) WithSensors(milliamperes map[int]float64) Model {
	m.parts.sensors = maps.Clone(milliamperes)
	return m
}

// profileName identifies a profile: the device's name, if it has one of its own, and eight digits
// of a digest.
func profileName(p powerprofile.Profile) string {
	stated, err := json.Marshal([]any{p.Items, p.Modem})
	if err != nil {
		stated = nil // unreachable: numbers and names always marshal
	}
	sum := sha256.Sum256(stated)
	digest := hex.EncodeToString(sum[:4])
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return -1
	}, p.Device)
	if name == "" || strings.EqualFold(name, "android") {
		return digest
	}
	return name[:min(len(name), 40)] + " " + digest
}

// joules converts a charge in mA × s to J.
func (m Model) joules(charge float64) float64 { return charge / 1000 * m.Volts }

// first returns the first of the named items that the profile states, in mA; 0 if it states none.
func first(p powerprofile.Profile, names ...string) float64 {
	for _, name := range names {
		if v, ok := p.Value(name); ok {
			return v
		}
	}
	return 0
}

// mean returns the mean of some numbers, 0 for none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// finite replaces the quotient of an odd profile or dump that is not finite.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0
	}
	return v
}
