package phone

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/sensorservice"
	"github.com/google/go-cmp/cmp"
)

// turning is an app that registers the gyroscope about 1 s and 3 s after its start, the second
// time while it is still registered: it is on for about 4.5 s.
const turning = still + `sensor gyroscope from tap for 3s
sensor gyroscope from swipe for 2500ms
sensor light from swipe for 1s
`

// The phone reports its sensors' currents and how long each was on, and draws exactly that.
func TestSensorCurrents(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "c1-go-android-11"} {
		t.Run(phone, func(t *testing.T) {
			p := newPhone(t, phone, turning)
			d, err := sensorservice.Read(strings.NewReader(output(t, p, "dumpsys sensorservice --proto")))
			if err != nil || len(d.Sensors) != 5 || len(d.Warnings) != 0 {
				t.Fatalf("%+v, %v", d, err)
			}
			handles := map[string]int{}
			for _, s := range d.Sensors {
				handles[s.Type] = s.Handle
			}
			gyroscope, light := handles["android.sensor.gyroscope"], handles["android.sensor.light"]
			output(t, p, "dumpsys batterystats --reset")
			from, _ := play(t, p)
			pass(t, p, 3*time.Second)
			joules := p.Truth(from, p.Clock().Now()).Parts["sensors"]
			app := appOf(readStats(t, p, "dumpsys batterystats -c"))
			counted := 0.0
			for handle, ms := range app.SensorsMS {
				counted += d.Currents()[handle] / 1000 * 3.85 * ms / 1000
			}
			if len(app.SensorsMS) != 2 || app.SensorsMS[gyroscope] < 4400 || app.SensorsMS[gyroscope] > 4600 || app.SensorsMS[light] != 1000 {
				t.Errorf("the gyroscope was on for 4.5 s and the light sensor for 1 s, counted are %v", app.SensorsMS)
			}
			within(t, "what the sensors drew, by what is stated", counted, joules, 1e-3)
			if d := cmp.Diff(app.SensorsMS, appOf(readStats(t, p, "dumpsys batterystats")).SensorsMS); d != "" {
				t.Errorf("for machines (-), for people (+):\n%s", d)
			}
		})
	}
}

// Before Android 11 a phone lists its sensors as text only, but counts them.
func TestSensorsBeforeAndroid11(t *testing.T) {
	p := newPhone(t, "moto-g5-android-7.0", turning)
	d, err := sensorservice.Read(strings.NewReader(output(t, p, "dumpsys sensorservice --proto")))
	if err != nil || len(d.Sensors) != 0 || len(d.Warnings) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	has(t, output(t, p, "dumpsys sensorservice"), "Sensor List:", "Simulated Gyroscope")
	output(t, p, "dumpsys batterystats --reset")
	play(t, p)
	if app := appOf(readStats(t, p, "dumpsys batterystats -c")); len(app.SensorsMS) != 2 {
		t.Errorf("times %v", app.SensorsMS)
	}
}
