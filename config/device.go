package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Device is one device to measure on, or several identical ones. Exactly one of Serial, Address,
// Simulated, AVD, Genymotion and GenymotionSaaS is set.
type Device struct {
	// The serial of a connected device, as adb devices prints it.
	Serial string `yaml:"serial,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// The host:port of a device's own adb port.
	Address string `yaml:"address,omitempty" jsonschema:"minLength=3,maxLength=300"`
	// The profile of a simulated device.
	Simulated string `yaml:"simulated,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// A device that a lab boots.
	Labs `yaml:",inline"`
	// The device's name in reports. Without it, its serial, address or profile, or what it is
	// booted from.
	Name string `yaml:"name,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// The number of such devices, called NAME #1, NAME #2 and so on, which share the work. For
	// devices that are simulated or booted by apkgate.
	Count int `yaml:"count,omitempty" jsonschema:"minimum=1,maximum=100,default=1"`
	// Devices with the same profile are alike: they share the work, and one replaces another that
	// is lost. Without it, the device's name.
	Profile string `yaml:"profile,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// The charge that the battery reports, such as 80%. For devices that are booted by apkgate.
	// Without it, the device's own.
	Battery Fraction `yaml:"battery,omitempty"`
	// The networks of this device, instead of the list of the file.
	Networks []string `yaml:"networks,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems=true"`
	// Context properties of this device only; they take precedence over context.extra.
	Context map[string]string `yaml:"context,omitempty"`
}

// BatteryPercent returns the charge that the device should report, in per cent; 0: its own.
func (d Device) BatteryPercent() int { return int(math.Round(100 * float64(d.Battery))) }

// Booted reports whether apkgate boots the device.
func (d Device) Booted() bool { return d.Virtual().Kind != "" }

// Stations returns the names of the devices that it stands for.
func (d Device) Stations() []string {
	name := d.name()
	if d.Count <= 1 {
		return []string{name}
	}
	var names []string
	for i := range d.Count {
		names = append(names, name+" #"+strconv.Itoa(i+1))
	}
	return names
}

// ProfileName returns the profile under which the device shares the work with others.
func (d Device) ProfileName() string { return cmp.Or(d.Profile, d.name()) }

func (d Device) name() string { return cmp.Or(d.Name, d.source()) }

// connectionKeys are the keys of which a device has exactly one.
var connectionKeys = append([]string{"serial", "address", "simulated"}, labKeys...)

func (d *decoder) device(c *Config) reader {
	names, ways := map[string]int{}, map[string]int{}
	profiles := map[string]likeness{}
	return func(n *node, path string) {
		dev := Device{Count: 1}
		if !d.mapping(n, path, slices.Concat([]field{
			may("serial", d.text(&dev.Serial, serialRule)),
			may("address", d.text(&dev.Address, addressRule)),
			may("simulated", d.profile(&dev.Simulated)),
		}, dev.fields(d), []field{
			may("name", d.text(&dev.Name, nameRule)),
			may("count", integer(d, &dev.Count, 1, 100)),
			may("profile", d.text(&dev.Profile, nameRule)),
			may("battery", d.charge(&dev.Battery)),
			may("networks", d.set(&dev.Networks, 1, func(s *string) reader { return d.text(s, networkRule) })),
			may("context", d.texts(&dev.Context, propertyRule)),
		})...) {
			return
		}
		d.exactlyOne(n, path, connectionKeys, "name", "count", "profile", "battery", "networks", "context")
		d.once(ways, dev.Serial, n, "serial", path, "device with the serial")
		d.once(ways, dev.Address, n, "address", path, "device with the address")
		if dev.Name == "" {
			dev.Name = dev.source()
		}
		d.onlyOfVirtual(dev, n, path)
		for _, name := range dev.Stations() {
			d.once(names, name, n, "name", path, "device named")
		}
		d.alike(profiles, dev, n, path)
		c.Devices = append(c.Devices, dev)
	}
}

// source names the device by how it is reached or booted.
func (d Device) source() string {
	v := d.Virtual()
	return d.Serial + d.Address + d.Simulated + v.Existing + strings.TrimSpace(v.Model+" "+v.Android)
}

// onlyOfVirtual reports keys that have no meaning for an existing device.
func (d *decoder) onlyOfVirtual(dev Device, n *node, path string) {
	if at := n.find("battery"); at != nil && (!dev.Booted() || dev.Virtual().Phone) && dev.source() != "" {
		d.at(at, join(path, "battery"), "the battery is set only of virtual devices, which apkgate boots: remove the key")
	}
	one := dev.Virtual().Once
	if dev.Serial != "" || dev.Address != "" {
		one = "a connected device is there once"
	}
	if at := n.find("count"); one != "" && dev.Count > 1 {
		d.at(at, join(path, "count"), "%s: want a count of 1, got %d", one, dev.Count)
	}
}

// likeness is what all devices of a profile have in common, and the line of the first of them.
type likeness struct {
	kind, details string
	networks      []string
	context       map[string]string
	line          int
	asked         bool // shared explicitly, by the key profile
}

// alike reports a device that differs from another of its profile: a run must not depend on which
// of them made it.
func (d *decoder) alike(profiles map[string]likeness, dev Device, n *node, path string) {
	name := dev.ProfileName()
	if name == "" {
		return
	}
	its := likeness{kind: dev.kind(), details: dev.details(), networks: dev.Networks, context: dev.Context, line: n.line, asked: dev.Profile != ""}
	first, has := profiles[name]
	if !has {
		profiles[name] = its
		return
	}
	unlike := ""
	switch {
	case its.kind != first.kind:
		unlike = fmt.Sprintf("one is %s, one %s", first.kind, its.kind)
	case its.details != first.details:
		unlike = "they are described differently"
	case !sameSet(its.networks, first.networks):
		unlike = "they have different networks"
	case !maps.Equal(its.context, first.context):
		unlike = "they have different contexts"
	}
	if unlike == "" || !its.asked && !first.asked {
		return // equal names are already reported
	}
	at := n
	if key := n.find("profile"); key != nil {
		at, path = key, join(path, "profile")
	}
	d.at(at, path, "devices of one profile make each other's runs and so have to be alike; this and the one on line %d are not: %s", first.line, unlike)
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// kind returns the kind of device: connected ones are of one kind, however adb reaches them.
func (d Device) kind() string {
	if d.Simulated != "" {
		return "simulated"
	}
	return cmp.Or(d.Virtual().Kind, "connected")
}

// details describes how a device is simulated or booted, "" for a connected one.
func (d Device) details() string {
	return fmt.Sprint(d.Simulated, d.Virtual(), d.BatteryPercent())
}

// profile decodes the name of a simulated device.
func (d *decoder) profile(dst *string) reader {
	return func(n *node, path string) {
		var name string
		d.text(&name, nameRule)(n, path)
		if name != "" && d.opts.Profiles != nil && !slices.Contains(d.opts.Profiles, name) {
			d.hinted(n, path, DidYouMean(name, d.opts.Profiles), "no simulated device is called %q; allowed: %s", prose.Short(name), strings.Join(d.opts.Profiles, ", "))
			return
		}
		*dst = name
	}
}

// charge decodes the charge of a battery, in whole per cent.
func (d *decoder) charge(dst *Fraction) reader {
	return func(n *node, path string) {
		var share Fraction
		d.fraction(&share, false)(n, path)
		if share == 0 {
			return // already reported
		}
		if whole := math.Round(100 * float64(share)); whole < 1 || math.Abs(whole-100*float64(share)) > 1e-9 {
			d.at(n, path, "want whole per cent from 1%% to 100%%, got %s", describe(n))
			return
		}
		*dst = share
	}
}
