package profile

import "time"

// Sensors are a phone's power sensors, and their distortions.
type Sensors struct {
	// Powered is the phone's power source: "usb", "ac", "wireless" or "battery".
	Powered string
	// Rails is the update interval of the power monitors' counters; 0: none.
	Rails time.Duration
	// Gauge is the update interval of the battery's gauge; 0: it reports no current.
	Gauge time.Duration
	// Smooth is the weight of the previous current in the next one: 0 if the gauge reports the
	// mean since the last update, as most do.
	Smooth float64
	// CurrentUnit is the unit of the current in µA: 1 as specified, 1000 if the phone reports
	// mA, 1e6 for A.
	CurrentUnit float64
	// Outward reports that current out of the battery is positive, contrary to the
	// specification.
	Outward bool
	// ChargeUnit is the unit of the charge counter in µAh; 0: none.
	ChargeUnit float64
	// Emulator reports that it is an emulator, whose battery reports constants.
	Emulator bool
	// NoTaskClock reports that the kernel lacks the event task-clock.
	NoTaskClock bool
}

// honest is a phone on a USB port whose battery reports as specified.
var honest = Sensors{Powered: "usb", Gauge: time.Second, CurrentUnit: 1, ChargeUnit: 1}

// sensors are the phones that differ from honest, by model.
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
