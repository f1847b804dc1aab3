package network

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/network/shaping"
)

// Profile describes a network.
type Profile struct {
	Name  string
	Radio string // "wifi", "data", or "none"
	shaping.Shape
	Source string // of the numbers
}

// The sources of the numbers. WebPageTest's are round trips.
const (
	webPageTest = "WebPageTest, connectivity.ini.sample"
	genymotion  = "Genymotion, mobile profiles"
)

// profiles are the networks of known speed. Wi-Fi is not slowed down, since the lab chooses what is
// behind it.
var profiles = []Profile{
	{Name: "wifi", Radio: "wifi"},
	{"5g", "data", shaping.Shape{DownKbit: 1_174_000, UpKbit: 211_000, Delay: 5 * time.Millisecond}, genymotion},
	{"lte", "data", shaping.Shape{DownKbit: 12_000, UpKbit: 12_000, Delay: 70 * time.Millisecond}, webPageTest},
	{"3g", "data", shaping.Shape{DownKbit: 1_600, UpKbit: 768, Delay: 300 * time.Millisecond}, webPageTest},
	{"edge", "data", shaping.Shape{DownKbit: 240, UpKbit: 200, Delay: 840 * time.Millisecond}, webPageTest},
	{"lossy", "data", shaping.Shape{DownKbit: 12_000, UpKbit: 12_000, Delay: 70 * time.Millisecond, Loss: 10}, webPageTest + "; the loss: Genymotion, 4g-high-losses"},
	{Name: "offline", Radio: "none"},
	{Name: "none", Radio: "none"},
}

// Named returns the network of that name. An unknown name stands for the device's own mobile data.
func Named(name string) Profile {
	if i := slices.IndexFunc(profiles, func(p Profile) bool { return p.Name == name }); i >= 0 {
		return profiles[i]
	}
	return Profile{Name: name, Radio: "data"}
}
