package phone

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// sensor is one sensor of the phone, as an app names it and as its maker states
// it.
type sensor struct {
	word         string // of simapp.Sensors
	handle, kind int
	name         string
	milliamperes float64
}

// phoneSensors and emulatorSensors are what phones have, and what Android's
// emulator says that it has.
var (
	phoneSensors = []sensor{
		{"accelerometer", 11, 1, "Simulated Accelerometer", 0.19},
		{"magnetometer", 21, 2, "Simulated Magnetometer", 5},
		{"gyroscope", 41, 4, "Simulated Gyroscope", 3.6},
		{"light", 51, 5, "Simulated Light", 0.18},
		{"proximity", 81, 8, "Simulated Proximity", 0.15},
	}
	emulatorSensors = []sensor{
		{"accelerometer", 0, 1, "Goldfish 3-axis Accelerometer", 3},
		{"gyroscope", 1, 4, "Goldfish 3-axis Gyroscope", 3},
		{"magnetometer", 2, 2, "Goldfish 3-axis Magnetic field sensor", 6.7},
		{"proximity", 5, 8, "Goldfish Proximity sensor", 20},
		{"light", 6, 5, "Goldfish Light sensor", 20},
	}
	sensorTypes = map[string]string{
		"accelerometer": "android.sensor.accelerometer", "gyroscope": "android.sensor.gyroscope", "magnetometer": "android.sensor.magnetic_field",
		"proximity": "android.sensor.proximity", "light": "android.sensor.light",
	}
)

func (p *Phone) sensorList() []sensor {
	if p.sensors().Emulator {
		return emulatorSensors
	}
	return phoneSensors
}

// registration is a time in which a process has a sensor on.
type registration struct {
	handle   int
	watts    float64
	from, to time.Duration
}

// register turns a sensor on for a process, or leaves it on for longer: a sensor
// that is on already draws no more.
func (p *Phone) register(d *deeds, word string, long time.Duration) {
	const nominalV = 3.85
	now := p.clock.Now()
	for _, s := range p.sensorList() {
		if s.word != word {
			continue
		}
		for i := range d.sensors {
			if r := &d.sensors[i]; r.handle == s.handle && r.to >= now {
				r.to = max(r.to, now+long)
				return
			}
		}
		d.sensors = append(d.sensors, registration{s.handle, s.milliamperes / 1000 * nominalV, now, now + long})
	}
}

// dumpSensors is dumpsys sensorservice [--proto].
func dumpSensors(c *call) int {
	if c.profile.API >= 30 && len(c.Args) == 1 && c.Arg(0) == "--proto" {
		c.Printf("%s", c.sensorProto())
		return 0
	}
	c.Printf("Captured at: 10:11:12.345\nSensor Device:\nTotal %d h/w sensors\nSensor List:\n", len(c.sensorList()))
	for _, s := range c.sensorList() {
		c.Printf("%#010x) %-25s | Simulated       | ver: 1 | type: %20s(%d) | perm: n/a | flags: 0x00000000\n", s.handle, s.name, sensorTypes[s.word], s.kind)
	}
	return 0
}

// sensorProto is a SensorServiceProto
// (frameworks/base/core/proto/android/service/sensor_service.proto).
func (p *Phone) sensorProto() []byte {
	number := func(b []byte, field protowire.Number, v int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(int64(v)))
	}
	part := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	var list []byte
	for _, s := range p.sensorList() {
		b := part(number(nil, 1, s.handle), 2, []byte(s.name))
		b = part(number(part(b, 3, []byte("Simulated")), 4, 1), 5, []byte(sensorTypes[s.word]))
		b = number(b, 6, s.kind)
		b = protowire.AppendFixed32(protowire.AppendTag(b, 24, protowire.Fixed32Type), math.Float32bits(float32(s.milliamperes)))
		list = part(list, 1, b)
	}
	return part(number(nil, 16, 0), 3, list)
}
