package account

import (
	"time"
)

// Sensor is one sensor of the phone, with the app's name for it and its maker's specification.
type Sensor struct {
	Word         string // of simapp.Sensors
	Handle, Kind int
	Name         string
	Milliamperes float64
}

// phoneSensors and emulatorSensors are the sensors of phones, and those that Android's
// emulator reports.
var (
	phoneSensors = []Sensor{
		{"accelerometer", 11, 1, "Simulated Accelerometer", 0.19},
		{"magnetometer", 21, 2, "Simulated Magnetometer", 5},
		{"gyroscope", 41, 4, "Simulated Gyroscope", 3.6},
		{"light", 51, 5, "Simulated Light", 0.18},
		{"proximity", 81, 8, "Simulated Proximity", 0.15},
	}
	emulatorSensors = []Sensor{
		{"accelerometer", 0, 1, "Goldfish 3-axis Accelerometer", 3},
		{"gyroscope", 1, 4, "Goldfish 3-axis Gyroscope", 3},
		{"magnetometer", 2, 2, "Goldfish 3-axis Magnetic field sensor", 6.7},
		{"proximity", 5, 8, "Goldfish Proximity sensor", 20},
		{"light", 6, 5, "Goldfish Light sensor", 20},
	}
)

// SensorList returns the phone's sensors by handle.
func (a *Account) SensorList() []Sensor {
	if a.Sensors.Emulator {
		return emulatorSensors
	}
	return phoneSensors
}

// registration is a span in which a process keeps a sensor on.
type registration struct {
	handle   int
	watts    float64
	from, to time.Duration
}

// register turns a sensor on for a process, or extends its registration: a sensor that is
// already on draws no more power.
func (a *Account) register(d *Process, word string, long time.Duration) {
	const nominalV = 3.85
	now := a.Clock.Now()
	for _, s := range a.SensorList() {
		if s.Word != word {
			continue
		}
		for i := range d.sensors {
			if r := &d.sensors[i]; r.handle == s.Handle && r.to >= now {
				r.to = max(r.to, now+long)
				return
			}
		}
		d.sensors = append(d.sensors, registration{s.Handle, s.Milliamperes / 1000 * nominalV, now, now + long})
	}
}
