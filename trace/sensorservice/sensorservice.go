// Package sensorservice reads the output of `dumpsys sensorservice --proto` since Android 11: the
// device's sensors, each with its handle, its name, its type and the current that the manufacturer
// states for it.
//
// It owns the message and its meaning. It does not know how long a sensor was on (package
// batterystats does) and multiplies nothing (package energy does).
//
// An impossible current is dropped, with a warning, and one that is not stated is absent, not zero.
//
// Sources: frameworks/base/core/proto/android/service/sensor_service.proto and
// frameworks/native/services/sensorservice/SensorList.cpp.
package sensorservice

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Dump is the content of one file.
type Dump struct {
	Sensors  []Sensor // in the order of the file
	Warnings []run.Warning
}

// Sensor is one sensor of the device.
type Sensor struct {
	Handle int    `json:"handle"` // the key of its times in batterystats
	Name   string `json:"name"`
	// Type is "android.sensor.accelerometer", or the manufacturer's name for a type of its own.
	Type string `json:"type,omitempty"`
	// CurrentMA is the current it draws while on (Sensor.getPower()); nil if not stated or
	// impossible.
	CurrentMA *float64 `json:"current_ma,omitempty"`
}

// Currents returns mA by handle, of the sensors that state a current.
func (d Dump) Currents() map[int]float64 {
	out := map[int]float64{}
	for _, s := range d.Sensors {
		if s.CurrentMA != nil && *s.CurrentMA > 0 {
			out[s.Handle] = *s.CurrentMA
		}
	}
	return out
}

// MostMA is the largest plausible current. The largest that devices state are about 20 mA (an
// emulator's, and orientations that take three sensors), whereas a manufacturer that states µA has
// hundreds for any sensor. A sensor of 100 mA would draw more than all else in an awake phone with
// its screen off.
const MostMA = 100

// Limits of one file; a real device stays far below.
const (
	maxFile    = 16 << 20 // bytes
	maxSensors = 1024
	maxName    = 300 // bytes
)

// Read reads a dump. It returns an error only where reading fails; what can't be understood is a
// warning.
func Read(src io.Reader) (Dump, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxFile+1))
	if err != nil {
		return Dump{}, fmt.Errorf("read the list of sensors: %w", err)
	}
	r := reader{handles: map[int]bool{}}
	if len(data) > maxFile {
		data = data[:maxFile]
		r.warnings.Addf(0, "the file is larger than %d MiB: its rest is not read", maxFile>>20)
	}
	if at := bytes.Index(data, []byte("\n*** SERVICE ")); at >= 0 && trace.CutShort(data[at+1:min(len(data), at+200)], "sensorservice") {
		data = data[:at]
		r.warnings.Addf(0, "the device aborted its own dump at byte %d: it is incomplete", at)
	}
	r.read(data)
	return Dump{r.sensors, r.warnings.List()}, nil
}

// reader is the state between messages.
type reader struct {
	sensors  []Sensor
	warnings trace.Warnings
	handles  map[int]bool
	dropped  int
}

// read parses a SensorServiceProto.
func (r *reader) read(data []byte) {
	const list, sensor = 3, 1 // SensorServiceProto.sensors, SensorListProto.sensors
	whole := eachField(data, func(f field) {
		if f.number != list || f.kind != protowire.BytesType {
			return
		}
		if !eachField(f.bytes, func(f field) {
			if f.number == sensor && f.kind == protowire.BytesType {
				r.sensor(f.bytes)
			}
		}) {
			r.warnings.Addf(0, "the list of sensors ends in the middle of a field: it is incomplete")
		}
	})
	switch {
	case !whole && len(r.sensors) == 0:
		r.warnings.Addf(0, "the file is not the output of dumpsys sensorservice --proto: it begins with %s", trace.Quote(data))
	case !whole:
		r.warnings.Addf(0, "the file ends in the middle of a field: it is incomplete")
	}
	if r.dropped > 0 {
		r.warnings.Counted(0, r.dropped,
			"%d sensor beyond the first %d is not read",
			"%d sensors beyond the first %d are not read", maxSensors)
	}
}

// sensor parses a SensorListProto.SensorProto.
func (r *reader) sensor(b []byte) {
	s, current := Sensor{}, math.NaN()
	stated := false
	whole := eachField(b, func(f field) {
		switch {
		case f.number == 1 && f.kind == protowire.VarintType:
			s.Handle = int(int32(f.value))
		case f.number == 2 && f.kind == protowire.BytesType:
			s.Name = text(f.bytes)
		case f.number == 5 && f.kind == protowire.BytesType:
			s.Type = text(f.bytes)
		case f.number == 24:
			stated = true
			if f.kind == protowire.Fixed32Type {
				current = shortest(math.Float32frombits(uint32(f.value)))
			}
		}
	})
	switch {
	case !whole:
		r.warnings.Addf(0, "sensor %d ends in the middle of a field: it is not read", s.Handle)
		return
	case r.handles[s.Handle]:
		r.warnings.Addf(0, "sensor %d is listed twice: the first counts", s.Handle)
		return
	case len(r.sensors) == maxSensors:
		r.dropped++
		return
	case stated && !(current >= 0 && current <= MostMA):
		r.warnings.Addf(0, "sensor %d, %s, states a current of %g mA, want 0 to %d: it is left out", s.Handle, trace.Quote(s.Name), current, MostMA)
	case stated:
		s.CurrentMA = &current
	}
	r.handles[s.Handle] = true
	r.sensors = append(r.sensors, s)
}

// shortest returns the number with the fewest digits that rounds to the float: 0.19, not
// 0.1899999976158142.
func shortest(f float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return math.NaN() // never: every float can be formatted
	}
	return v
}

func text(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxName)]), "\uFFFD")
}

// field is one field of a message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64 // of a varint or a float
	bytes  []byte // of a string or a message
}

// eachField calls f for each field of a message and reports whether the message is complete.
func eachField(b []byte, f func(field)) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		next := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			next.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			next.value = uint64(v)
		case protowire.BytesType:
			next.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return false
		}
		b = b[n:]
		f(next)
	}
	return true
}
