package profile

import "time"

// Sensors is what a phone tells of its power, and how badly.
type Sensors struct {
	// Powered is where the phone gets its power from: "usb", "ac", "wireless" or
	// "battery".
	Powered string
	// Rails is how often the power monitors renew their counters; 0: there are none.
	Rails time.Duration
	// Gauge is how often the battery's gauge renews what it shows; 0: it shows no
	// current.
	Gauge time.Duration
	// Smooth is the part of the current shown before that is in what is shown next: 0
	// where the gauge shows the mean since the last update, as most do.
	Smooth float64
	// CurrentUnit is how many µA one unit of the current is: 1 as specified, 1000
	// where the phone says mA, 1e6 for A.
	CurrentUnit float64
	// Outward says that current out of the battery is positive, against the
	// specification.
	Outward bool
	// ChargeUnit is how many µAh one unit of the charge counter is; 0: there is none.
	ChargeUnit float64
	// Emulator says that the phone is one: its battery shows constants.
	Emulator bool
	// NoTaskClock says that the kernel has no event task-clock.
	NoTaskClock bool
}

// honest is a phone on a USB port whose battery shows what it should.
var honest = Sensors{Powered: "usb", Gauge: time.Second, CurrentUnit: 1, ChargeUnit: 1}

// sensors of the phones that differ from honest, by model.
var sensors = map[string]Sensors{
	"Pixel 2":          {Powered: "battery", Gauge: time.Second, CurrentUnit: 1, ChargeUnit: 1},
	"Pixel 3":          {Powered: "battery", Gauge: time.Second, CurrentUnit: 1, ChargeUnit: 1},
	"Pixel 5":          {Powered: "battery", Gauge: 200 * time.Millisecond, CurrentUnit: 1, ChargeUnit: 1},
	"Pixel 7":          {Powered: "battery", Rails: 250 * time.Millisecond, Gauge: 4 * time.Second, CurrentUnit: 1, ChargeUnit: 1},
	"Galaxy S21":       {Powered: "battery", Gauge: time.Second, CurrentUnit: 1000, ChargeUnit: 1},
	"Nord":             {Powered: "battery", Gauge: time.Second, Smooth: 0.5, CurrentUnit: 1000, Outward: true, ChargeUnit: 1},
	"C1 Go":            {Powered: "battery", Gauge: time.Second, CurrentUnit: 1, Outward: true, NoTaskClock: true},
	"Moto G5":          {Powered: "battery", Gauge: 4 * time.Second, CurrentUnit: 1, Outward: true, ChargeUnit: 1000},
	"sdk gphone":       {Powered: "ac", CurrentUnit: 1, ChargeUnit: 1, Emulator: true},
	"sdk gphone64 x86": {Powered: "ac", CurrentUnit: 1, ChargeUnit: 1, Emulator: true, NoTaskClock: true},
}

func sensorsOf(model string) Sensors {
	if s, ok := sensors[model]; ok {
		return s
	}
	return honest
}
