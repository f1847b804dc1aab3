// Package profile contains the simulated phones as data: their properties, speed and noise.
//
// The phones are simulated. A profile may pair a model with an Android version that was never
// shipped for it, because the paper's experiments need the same model before and after an
// upgrade (section 8.1).
package profile

import (
	"fmt"
	"strings"
	"time"
)

// Profile is one simulated phone.
type Profile struct {
	Name         string // "nexus-4-android-4.3"
	Manufacturer string
	Model        string
	SDK          string // the release, "4.3"
	API          int
	ABI          string // ro.product.cpu.abi
	Screen       string // "1080x1920", in pixels
	DPI          int
	Hz           int     // the highest refresh rate
	Adaptive     bool    // lowers it to 60 Hz when nothing moves
	Speed        float64 // a factor on all work: 1 is a good phone, 1.35 a low-end one
	LowEnd       float64 // a factor on frame noise: 1 is none
	Noise        float64 // standard deviation of the logarithm of a session's factor
	// Keys reports that the phone has system keys, such as volume up. An emulator created
	// without a keyboard has none, nor has Android in a container.
	Keys    bool
	Sensors Sensors
	// SDKTracing reports that Android's flag perfetto_sdk_tracing_v2 is on: processes that register
	// with Perfetto write track events.
	SDKTracing bool
}

// Serial returns ro.serialno.
func (p Profile) Serial() string { return "sim-" + p.Name }

// ABIs returns the ABIs that the phone runs, its own first: emulators since Android 11
// translate ARM code.
func (p Profile) ABIs() []string {
	switch {
	case p.ABI == "arm64-v8a":
		return []string{p.ABI, "armeabi-v7a", "armeabi"}
	case p.ABI == "armeabi-v7a":
		return []string{p.ABI, "armeabi"}
	case p.Sensors.Emulator && p.ABI == "x86_64":
		return []string{p.ABI, "arm64-v8a"}
	case p.Sensors.Emulator:
		return []string{p.ABI, "armeabi-v7a", "armeabi"}
	}
	return []string{p.ABI}
}

// Period returns the time between two vsyncs.
func (p Profile) Period() time.Duration { return time.Second / time.Duration(p.Hz) }

// Size returns the screen's width and height in pixels.
func (p Profile) Size() (width, height int) {
	fmt.Sscanf(p.Screen, "%dx%d", &width, &height)
	return width, height
}

// All returns the profiles, in the order of the table.
func All() []Profile {
	out := make([]Profile, len(table))
	for i, row := range table {
		out[i] = row.profile()
	}
	return out
}

// Find returns the profile of that name.
func Find(name string) (Profile, error) {
	for _, row := range table {
		if p := row.profile(); p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("no simulated phone is named %q; %q is one of %d", name, All()[0].Name, len(table))
}

// Lab returns the profiles of a lab: "device-lab" and "upgraded-lab" are the paper's (section
// 7.2), "today-lab" and "today-upgraded" are similar ones with phones of the 2020s, "modern"
// has phones to play with, "emulators" two of Android's emulator.
func Lab(name string) ([]Profile, error) {
	var out []Profile
	for _, row := range table {
		if row.lab == name {
			out = append(out, row.profile())
		}
	}
	if out == nil {
		return nil, fmt.Errorf("no lab is named %q; there are %s", name, strings.Join(Labs(), ", "))
	}
	return out, nil
}

// Labs returns the names of the labs.
func Labs() []string {
	return []string{"device-lab", "upgraded-lab", "today-lab", "today-upgraded", "modern", "emulators"}
}

func (r row) profile() Profile {
	p := Profile{
		Name:         strings.ToLower(strings.ReplaceAll(r.model, " ", "-")) + "-android-" + r.sdk,
		Manufacturer: r.brand, Model: r.model, SDK: r.sdk, API: r.api, ABI: r.abi, Screen: r.screen, DPI: r.dpi, Hz: r.hz,
		Adaptive: r.api >= 31 && r.hz > 60,
		Speed:    1, LowEnd: 1, Noise: 0.03, Keys: r.lab != "emulators", Sensors: sensorsOf(r.model),
	}
	p.SDKTracing = r.api >= 36 && r.model != "Pixel 6" // whose build has the flag off
	switch r.class {
	case low:
		p.Speed, p.LowEnd, p.Noise = 1.3, 1.4, 0.05
	case middle:
		p.Speed, p.LowEnd, p.Noise = 1.12, 1.15, 0.04
	case fast:
		p.Speed, p.Noise = 0.7, 0.025
	}
	return p
}
