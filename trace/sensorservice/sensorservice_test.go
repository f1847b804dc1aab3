package sensorservice_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/sensorservice"
)

// message is a protocol buffer message under construction.
type message []byte

func (m message) num(number protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), uint64(v))
}

func (m message) in(number protowire.Number, part []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), part)
}

func (m message) text(number protowire.Number, s string) message { return m.in(number, []byte(s)) }

func (m message) float(number protowire.Number, v float32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, number, protowire.Fixed32Type), math.Float32bits(v))
}

// sensor encodes a sensor's fields in the order of SensorList::dump.
func sensor(handle int64, name, kind string, current float32) message {
	return message(nil).num(1, handle).text(2, name).text(3, "Maker").num(4, 1).text(5, kind).num(6, 1).text(7, "").num(8, 0).num(9, 1).
		num(10, 0).num(11, 5000).num(14, 0).float(21, -78.4).float(22, 78.4).float(23, 0.01).float(24, current)
}

// dump is a dump with these sensors, and other fields that a device writes.
func dump(sensors ...message) message {
	list := message(nil)
	for _, s := range sensors {
		list = list.in(1, s)
	}
	device := message(nil).num(1, 1).num(2, int64(len(sensors))).in(4, message(nil).num(1, 5).num(2, 0))
	return message(nil).num(16, 0).num(1, 1_800_000_000_000).in(2, device).in(3, list).
		in(5, message(nil).in(1, message(nil).text(1, "Accelerometer").num(2, 1))).num(7, 102400).num(10, 1)
}

func read(t *testing.T, b []byte) sensorservice.Dump {
	t.Helper()
	d, err := sensorservice.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func milli(v float64) *float64 { return &v }

func TestReadWarnsOfAnAbortedSensorDump(t *testing.T) {
	t.Parallel()
	whole := dump(sensor(1, "Gyroscope", "android.sensor.gyroscope", 6.1))
	d := read(t, append(whole, "\n*** SERVICE 'sensorservice' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n"...))
	if len(d.Sensors) != 1 || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "aborted its own dump") {
		t.Errorf("%+v, %v", d.Sensors, d.Warnings)
	}
}

func TestReadSensors(t *testing.T) {
	t.Parallel()
	d := read(t, dump(
		sensor(11, "LSM6DSO Accelerometer", "android.sensor.accelerometer", 0.19),
		sensor(1, "Gyroscope", "android.sensor.gyroscope", 6.1),
		sensor(-7, "Proximity", "android.sensor.proximity", 0),
		message(nil).num(1, 2).text(2, "Pickup").text(5, "com.maker.sensor.pickup"),
	))
	want := []sensorservice.Sensor{
		{Handle: 11, Name: "LSM6DSO Accelerometer", Type: "android.sensor.accelerometer", CurrentMA: milli(0.19)},
		{Handle: 1, Name: "Gyroscope", Type: "android.sensor.gyroscope", CurrentMA: milli(6.1)},
		{Handle: -7, Name: "Proximity", Type: "android.sensor.proximity", CurrentMA: milli(0)},
		{Handle: 2, Name: "Pickup", Type: "com.maker.sensor.pickup"},
	}
	if d := cmp.Diff(want, d.Sensors); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[int]float64{11: 0.19, 1: 6.1}, d.Currents()); d != "" {
		t.Error("currents:", d)
	}
	if len(d.Warnings) != 0 {
		t.Error(d.Warnings)
	}
}

// An impossible current is dropped, but not its sensor.
func TestReadDropsImpossibleCurrents(t *testing.T) {
	t.Parallel()
	for name, current := range map[string]float32{
		"negative": -0.5, "not a number": float32(math.NaN()), "without an end": float32(math.Inf(1)), "in µA": 180,
	} {
		d := read(t, dump(sensor(3, "Odd", "", current), sensor(4, "Light", "", 0.1)))
		if len(d.Sensors) != 2 || d.Sensors[0].CurrentMA != nil || !cmp.Equal(d.Currents(), map[int]float64{4: 0.1}) {
			t.Errorf("%s: %+v", name, d.Sensors)
		}
		if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, `sensor 3, "Odd", states a current of`) {
			t.Errorf("%s: %v", name, d.Warnings)
		}
	}
	d := read(t, dump(message(nil).num(1, 3).text(2, "Odd").num(24, 5)))
	if len(d.Currents()) != 0 || len(d.Warnings) != 1 {
		t.Errorf("a current that is no float: %+v %v", d.Sensors, d.Warnings)
	}
	if d := read(t, dump(sensor(3, "Hungry", "", sensorservice.MostMA))); len(d.Warnings) != 0 || d.Currents()[3] != sensorservice.MostMA {
		t.Errorf("the largest that is believed: %+v %v", d.Sensors, d.Warnings)
	}
}

func TestReadWarnsOfOtherFiles(t *testing.T) {
	t.Parallel()
	whole := dump(sensor(1, "Accelerometer", "android.sensor.accelerometer", 0.2), sensor(2, "Light", "android.sensor.light", 0.1))
	many := message(nil)
	for i := range 1030 {
		many = many.in(1, sensor(int64(i), "", "", 0.1))
	}
	for name, c := range map[string]struct {
		in      []byte
		sensors int
		warning string
	}{
		"the text form":     {[]byte("Captured at: 10:11:12.345\nSensor Device:\nTotal 9 h/w sensors"), 0, `not the output of dumpsys sensorservice --proto: it begins with "Captured at`},
		"no such service":   {[]byte("Can't find service: sensorservice\n"), 0, "not the output of dumpsys sensorservice --proto"},
		"cut":               {whole[:len(whole)-1], 2, "ends in the middle of a field"},
		"cut in the list":   {message(nil).in(3, message(nil).in(1, sensor(1, "A", "", 1)).in(1, sensor(2, "B", "", 1))[:60]), 1, "the list of sensors ends in the middle"},
		"cut in a sensor":   {message(nil).in(3, message(nil).in(1, sensor(1, "A", "", 1)).in(1, sensor(2, "B", "", 1)[:30])), 1, "sensor 2 ends in the middle"},
		"the same twice":    {dump(sensor(1, "A", "", 1), sensor(1, "A", "", 2)), 1, "sensor 1 is listed twice"},
		"too many":          {message(nil).in(3, many), 1024, "6 sensors beyond the first 1024"},
		"a name that isn't": {dump(message(nil).num(1, 1).text(2, "\xff"+strings.Repeat("n", 400)).float(24, -1)), 1, "states a current of -1 mA"},
	} {
		d := read(t, c.in)
		if len(d.Sensors) != c.sensors || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, c.warning) {
			t.Errorf("%s: %d sensors, %v", name, len(d.Sensors), d.Warnings)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	// An unused field of 32 MiB before the list.
	d, err := sensorservice.Read(io.MultiReader(bytes.NewReader(dump(sensor(1, "A", "", 1))), bytes.NewReader(message(nil).in(99, make([]byte, 32<<20)))))
	if err != nil || len(d.Sensors) != 1 || !slices.ContainsFunc(texts(d), func(s string) bool { return strings.Contains(s, "larger than 16 MiB") }) {
		t.Errorf("%d sensors, %v, %v", len(d.Sensors), d.Warnings, err)
	}
	if _, err := sensorservice.Read(iotest.ErrReader(errors.New("unplugged"))); err == nil || !strings.Contains(err.Error(), "read the list of sensors: unplugged") {
		t.Error(err)
	}
}

func texts(d sensorservice.Dump) (out []string) {
	for _, w := range d.Warnings {
		out = append(out, w.Text)
	}
	return out
}

func TestInspectListsLargestCurrentsFirst(t *testing.T) {
	t.Parallel()
	seen, err := sensorservice.Inspect(bytes.NewReader(dump(sensor(1, "Light\n", "", 0.1), sensor(2, "Gyroscope", "", 6), sensor(3, "Steps", "", 0))))
	if err != nil {
		t.Fatal(err)
	}
	got := seen.Details.(sensorservice.Details).Summary()
	if d := cmp.Diff([]string{"3 sensors, of which 2 state a current", `sensor 2: 6 mA, "Gyroscope"`, `sensor 1: 0.1 mA, "Light\n"`}, got); d != "" {
		t.Error(d)
	}
}

// A device may have no sensors: no warning of the dump, but one of an inspection.
func TestInspectWithoutSensors(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]message{"nothing": nil, "no sensors": message(nil).num(16, -19)} {
		if d := read(t, in); len(d.Sensors) != 0 || len(d.Warnings) != 0 {
			t.Errorf("%s: %+v", name, d)
		}
		seen, err := sensorservice.Inspect(bytes.NewReader(in))
		if err != nil || len(seen.Warnings) != 1 || seen.Warnings[0].Text != "no sensor is in the file" || seen.Details.(sensorservice.Details).Summary() != nil {
			t.Errorf("%s: %+v %v", name, seen, err)
		}
	}
}

// FuzzRead tests that on any input there is no panic, no error, only plausible currents, each
// handle once, and details that JSON can encode.
func FuzzRead(f *testing.F) {
	f.Add([]byte(dump(sensor(1, "Accelerometer", "android.sensor.accelerometer", 0.2), sensor(-2, "Light", "", 180))))
	f.Add([]byte(message(nil).in(3, message(nil).in(1, sensor(1, "A", "", 1)[:30]).in(1, sensor(1, "A", "", -1)))))
	f.Add([]byte("Captured at: 10:11:12.345\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		seen, err := sensorservice.Inspect(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(seen); err != nil {
			t.Fatal(err)
		}
		seenHandles := map[int]bool{}
		for _, s := range seen.Details.(sensorservice.Details).Sensors {
			if c := s.CurrentMA; seenHandles[s.Handle] || c != nil && !(*c >= 0 && *c <= sensorservice.MostMA) {
				t.Fatalf("sensor %+v", s)
			}
			seenHandles[s.Handle] = true
		}
	})
}
