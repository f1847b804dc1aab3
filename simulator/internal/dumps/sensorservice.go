package dumps

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// sensorTypes are Android's names for the sensors in an app's file.
var sensorTypes = map[string]string{
	"accelerometer": "android.sensor.accelerometer", "gyroscope": "android.sensor.gyroscope", "magnetometer": "android.sensor.magnetic_field",
	"proximity": "android.sensor.proximity", "light": "android.sensor.light",
}

// Sensors is dumpsys sensorservice [--proto].
func Sensors(a *account.Account, c *shell.Call) int {
	if a.Profile.API >= 30 && len(c.Args) == 1 && c.Arg(0) == "--proto" {
		c.Printf("%s", sensorProto(a))
		return 0
	}
	c.Printf("Captured at: 10:11:12.345\nSensor Device:\nTotal %d h/w sensors\nSensor List:\n", len(a.SensorList()))
	for _, s := range a.SensorList() {
		c.Printf("%#010x) %-25s | Simulated       | ver: 1 | type: %20s(%d) | perm: n/a | flags: 0x00000000\n", s.Handle, s.Name, sensorTypes[s.Word], s.Kind)
	}
	return 0
}

// sensorProto is a SensorServiceProto
// (frameworks/base/core/proto/android/service/sensor_service.proto).
func sensorProto(a *account.Account) []byte {
	number := func(b []byte, field protowire.Number, v int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(int64(v)))
	}
	part := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	var list []byte
	for _, s := range a.SensorList() {
		b := part(number(nil, 1, s.Handle), 2, []byte(s.Name))
		b = part(number(part(b, 3, []byte("Simulated")), 4, 1), 5, []byte(sensorTypes[s.Word]))
		b = number(b, 6, s.Kind)
		b = protowire.AppendFixed32(protowire.AppendTag(b, 24, protowire.Fixed32Type), math.Float32bits(float32(s.Milliamperes)))
		list = part(list, 1, b)
	}
	return part(number(nil, 16, 0), 3, list)
}
