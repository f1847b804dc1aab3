package model_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

func item(name, value string) string { return `<item name="` + name + `">` + value + "</item>\n" }

func array(name string, values ...string) string {
	return `<array name="` + name + `"><value>` + strings.Join(values, "</value><value>") + "</value></array>\n"
}

func profile(t testing.TB, body string) powerprofile.Profile {
	t.Helper()
	p, err := powerprofile.Read(strings.NewReader("<device name=\"Android\">\n" + body + "</device>"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// small is a profile with round numbers: two small cores and a big one.
func small(t testing.TB) powerprofile.Profile {
	return profile(t, array("cpu.clusters.cores", "2", "1")+item("cpu.suspend", "5")+item("cpu.idle", "20")+item("cpu.active", "10")+
		item("cpu.cluster_power.cluster0", "1")+item("cpu.cluster_power.cluster1", "5")+
		array("cpu.core_speeds.cluster0", "500000", "1000000")+array("cpu.core_power.cluster0", "10", "30")+
		array("cpu.core_speeds.cluster1", "1000000")+array("cpu.core_power.cluster1", "100")+
		item("screen.on", "50")+item("screen.full", "200")+item("ambient.on", "9")+
		item("wifi.controller.idle", "2")+item("wifi.controller.rx", "100")+item("wifi.controller.tx", "300")+
		item("bluetooth.controller.idle", "1")+item("bluetooth.controller.rx", "10")+item("bluetooth.controller.tx", "12")+
		item("radio.active", "120")+item("radio.scanning", "50")+array("radio.on", "20", "10", "8", "6", "4")+
		item("gps.on", "30")+item("audio", "40")+item("video", "60")+item("camera.avg", "500")+item("camera.flashlight", "150"))
}

func smallModel(t testing.TB) model.Model {
	t.Helper()
	m, err := model.New(small(t))
	if err != nil {
		t.Fatal(err)
	}
	m.Volts = 4
	return m
}

// TestEstimateByHand follows two intervals of two seconds by snapshots, with times of batterystats.
// Charges in mA × s, at 4 V:
//
//	first interval, CPU: two small cores 1 s in all, half of it at 500 MHz and half
//	  at 1 GHz: (10+30)/2 × 1 = 20, their cluster 1 × 1 = 1; the big core 0.5 s:
//	  100 × 0.5 = 50, its cluster 5 × 0.5 = 2.5; the CPU for 1.5 s of the 2 s at
//	  most: 10 × 1.5 = 15. Together 88.5, so 0.354 J, of which the app has
//	  0.75 s of 1.5 s: 0.177 J.
//	second interval, CPU: the small cores 4 s in all at 1 GHz: 30 × 4 = 120, their
//	  cluster 1 × 2, the CPU 10 × 2: 142, so 0.568 J, all of it the app's.
//	screen: on for the first interval at half its brightness: (50 + 100) × 2 = 300,
//	  so 1.2 J.
//	base load: (5 + 20) × 4 = 100, so 0.4 J.
//	Wi-Fi: 2 × 8 + 100 × 1 + 300 × 0.5 = 266, so 1.064 J; the app's 100 × 0.5, so 0.2 J.
//	mobile: active 120 × 2, waiting at the best signal 4 × 10: 280, so 1.12 J; the
//	  app's 120 × 1, so 0.48 J.
//	audio: 40 × 2, so 0.32 J, the app's.
//	wakelock: 20 × 1 of the base load are the app's: 0.08 J.
func TestEstimateByHand(t *testing.T) {
	t.Parallel()
	at := func(low, high time.Duration) map[int]time.Duration {
		return map[int]time.Duration{500_000: low, 1_000_000: high}
	}
	snapshots := []model.Snapshot{
		{Time: energytest.Seconds(10), AppCPU: energytest.Seconds(7), ScreenOn: true, Brightness: 0.5, Clusters: []model.ClusterState{
			{Cores: 2, Busy: energytest.Seconds(100), AtSpeed: at(energytest.Seconds(900), energytest.Seconds(50))}, {Cores: 1, Busy: energytest.Seconds(30), AtSpeed: map[int]time.Duration{1_000_000: energytest.Seconds(950)}}}},
		{Time: energytest.Seconds(12), AppCPU: energytest.Seconds(7.75), Clusters: []model.ClusterState{
			{Cores: 2, Busy: energytest.Seconds(101), AtSpeed: at(energytest.Seconds(901), energytest.Seconds(51))}, {Cores: 1, Busy: energytest.Seconds(30.5), AtSpeed: map[int]time.Duration{1_000_000: energytest.Seconds(952)}}}},
		{Time: energytest.Seconds(14), AppCPU: energytest.Seconds(11.75), Clusters: []model.ClusterState{
			{Cores: 2, Busy: energytest.Seconds(105), AtSpeed: at(energytest.Seconds(901), energytest.Seconds(53))}, {Cores: 1, Busy: energytest.Seconds(30.5), AtSpeed: map[int]time.Duration{1_000_000: energytest.Seconds(954)}}}},
	}
	app := model.Usage{Wifi: model.RadioTimes{Rx: energytest.Seconds(0.5)}, Mobile: energytest.Seconds(1), Audio: energytest.Seconds(2), PartialLocks: energytest.Seconds(1)}
	device := model.Usage{Wifi: model.RadioTimes{Idle: energytest.Seconds(8), Rx: energytest.Seconds(1), Tx: energytest.Seconds(0.5)}, Mobile: energytest.Seconds(2), Audio: energytest.Seconds(2)}
	states := model.States{Elapsed: energytest.Seconds(10), Awake: energytest.Seconds(10), ScreenOn: energytest.Seconds(9), Signal: [5]time.Duration{4: energytest.Seconds(10)}, Device: device, App: app}
	e, err := smallModel(t).Estimate(energytest.Seconds(10), energytest.Seconds(14), snapshots, states)
	if err != nil {
		t.Fatal(err)
	}
	wantDevice := []run.Component{{Name: "screen", EnergyJ: 1.2}, {Name: "mobile", EnergyJ: 1.12}, {Name: "wifi", EnergyJ: 1.064},
		{Name: "cpu", EnergyJ: 0.922}, {Name: "idle", EnergyJ: 0.4}, {Name: "audio", EnergyJ: 0.32}}
	wantApp := []run.Component{{Name: "cpu", EnergyJ: 0.745}, {Name: "mobile", EnergyJ: 0.48}, {Name: "audio", EnergyJ: 0.32},
		{Name: "wifi", EnergyJ: 0.2}, {Name: "wakelock", EnergyJ: 0.08}}
	if d := cmp.Diff(wantDevice, e.Device, energytest.Alike); d != "" {
		t.Error("device:", d)
	}
	if d := cmp.Diff(wantApp, e.App, energytest.Alike); d != "" {
		t.Error("app:", d)
	}
	energytest.Near(t, "all of the device", e.TotalJ, 5.026)
	energytest.Near(t, "all of the app", e.AppJ, 1.825)
	// Half of the energy that is spread evenly (2.504 J) falls into the first interval, with its
	// CPU, screen and base load: 1.252 + 0.354 + 1.2 + 0.2.
	first, _ := e.Curve.Energy(energytest.Seconds(10), energytest.Seconds(12))
	energytest.Near(t, "the device in the first interval", first, 3.006)
	// (0.2 + 0.48 + 0.32 + 0.08) / 2 + 0.568
	second, covered := e.AppCurve.Energy(energytest.Seconds(12), energytest.Seconds(14))
	energytest.Near(t, "the app in the second interval", second, 1.108)
	if covered != energytest.Seconds(2) || len(e.Warnings) != 0 {
		t.Errorf("covered %v, warnings %v", covered, e.Warnings)
	}
}

// An ambient display takes the profile's current for it, whatever the brightness setting: 9 mA × 4
// V × 10 s.
func TestEstimateOfAnAmbientDisplay(t *testing.T) {
	t.Parallel()
	at := func(s float64) model.Snapshot {
		return model.Snapshot{Time: energytest.Seconds(s), Doze: true, Brightness: 1, Clusters: []model.ClusterState{{Cores: 2}, {Cores: 1}}}
	}
	e, err := smallModel(t).Estimate(energytest.Seconds(10), energytest.Seconds(20), []model.Snapshot{at(10), at(20)}, model.States{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.Device, func(c run.Component) bool { return c.Name == energy.PartScreen })
	if i < 0 {
		t.Fatalf("no screen in %v", e.Device)
	}
	energytest.Near(t, "the screen", e.Device[i].EnergyJ, 0.36)
}

// TestEstimateOfSensorsByHand has a minute on battery, at 4 V. Sensor 5 (2 mA) was on throughout,
// for the app and for the system, half of it each: 2 × 60 = 120 mA × s, so 0.48 J, and the app's
// half 0.24 J. Sensor 0 (0.5 mA) was on for the app for 10 s: 5, so 0.02 J. For sensor 9 (1 mA)
// more than the minute is stated: it counts with 60, so 0.24 J. Sensor 7 states no current, and GPS
// is another component.
func TestEstimateOfSensorsByHand(t *testing.T) {
	t.Parallel()
	p := energytest.Read(t, `9,0,l,bt,0,60000,60000,60000,60000,0,0,0,0,0,0,0
9,10086,l,sr,5,30000,1,0,60000,0
9,10086,l,sr,0,10000,3,0,10000,0
9,10086,l,sr,7,60000,1,0,60000,0
9,10086,l,sr,-10000,6000,1,0,6000,0
9,1000,l,sr,5,30000,1,0,60000,0
9,1000,l,sr,9,90000,1,0,90000,0
`)
	plain := smallModel(t)
	sensing := plain.WithSensors(map[int]float64{0: 0.5, 5: 2, 9: 1, 42: 20})
	states := model.StatesOf(p, 10_086)
	joulesOf := func(m model.Model) (device, app map[string]float64) {
		e, err := m.Estimate(0, energytest.Seconds(60), nil, states)
		if err != nil || len(e.Warnings) != 0 {
			t.Fatal(err, e.Warnings)
		}
		device, app = map[string]float64{}, map[string]float64{}
		for _, c := range e.Device {
			device[c.Name] = c.EnergyJ
		}
		for _, c := range e.App {
			app[c.Name] = c.EnergyJ
		}
		return device, app
	}
	device, app := joulesOf(sensing)
	energytest.Near(t, "the device's sensors", device["sensors"], 0.74)
	energytest.Near(t, "the app's sensors", app["sensors"], 0.26)
	energytest.Near(t, "GPS", device["gps"], 0.72)
	// Without the sensors' currents, the rest is unchanged.
	without, _ := joulesOf(plain)
	delete(device, "sensors")
	if d := cmp.Diff(device, without); d != "" {
		t.Error("without the currents:", d)
	}
	if sensing.Name != plain.Name {
		t.Errorf("the model is named %q with the device's sensors, %q without", sensing.Name, plain.Name)
	}
}

// TestEstimateOfBatterystatsByHand has only batterystats. Charges in mA × s, at 4 V:
//
//	CPU: of the app 0.4 s and 0.6 s at the small cores' speeds and 1 s of the big
//	  core, of the system 0.6 s and 0.4 s. Small: 10 × 1 + 30 × 1 = 40, big: 100;
//	  clusters 1 × 2 and 5 × 1; CPU 10 × 3 s: 177, so 0.708 J. The app's cores:
//	  10 × 0.4 + 30 × 0.6 + 100 × 1 = 122, and of the 37 of clusters and CPU its 2 s
//	  of 3 s. With 366 + 74 thirds it has 0.586667 J.
//	screen: 10 s darkest (50 + 200 × 0.1) and 30 s medium (50 + 200 × 0.5): 700 +
//	  4500 = 5200, so 20.8 J.
//	base load: (5 + 20) × 60 = 1500, so 6 J.
//	Wi-Fi: 2 × 8 + 100 × 1 + 300 × 0.5 = 266, so 1.064 J; the app's 50, so 0.2 J.
//	mobile: 120 × 2 + 50 × 2 + 20 × 1 + 4 × 59 = 596, so 2.384 J; the app's 120,
//	  so 0.48 J.
//	Bluetooth: 1 × 0.1 + 10 × 0.2 + 12 × 0.3 = 5.7, so 0.0228 J.
//	GPS: 30 × 6 = 180, so 0.72 J. Audio: 40 × 2 = 80, so 0.32 J. Both the app's.
//	wakelock: 20 × 9 = 180 of the base load, so 0.72 J of the app's.
func TestEstimateOfBatterystatsByHand(t *testing.T) {
	t.Parallel()
	states := model.StatesOf(energytest.Read(t, energytest.Dump), 10_086)
	e, err := smallModel(t).Estimate(energytest.Seconds(100), energytest.Seconds(160), nil, states)
	if err != nil {
		t.Fatal(err)
	}
	wantDevice := []run.Component{{Name: "screen", EnergyJ: 20.8}, {Name: "idle", EnergyJ: 6}, {Name: "mobile", EnergyJ: 2.384},
		{Name: "wifi", EnergyJ: 1.064}, {Name: "gps", EnergyJ: 0.72}, {Name: "cpu", EnergyJ: 0.708}, {Name: "audio", EnergyJ: 0.32}, {Name: "bluetooth", EnergyJ: 0.0228}}
	wantApp := []run.Component{{Name: "gps", EnergyJ: 0.72}, {Name: "wakelock", EnergyJ: 0.72}, {Name: "cpu", EnergyJ: 440.0 / 3 * 4 / 1000},
		{Name: "mobile", EnergyJ: 0.48}, {Name: "audio", EnergyJ: 0.32}, {Name: "wifi", EnergyJ: 0.2}}
	if d := cmp.Diff(wantDevice, e.Device, energytest.Alike); d != "" {
		t.Error("device:", d)
	}
	if d := cmp.Diff(wantApp, e.App, energytest.Alike); d != "" {
		t.Error("app:", d)
	}
	energytest.Near(t, "power, spread evenly", e.Curve.Mean(energytest.Seconds(120), energytest.Seconds(121)), e.TotalJ/60)
}

func TestEstimateOfWifiWithoutAController(t *testing.T) {
	t.Parallel()
	m, err := model.New(profile(t, array("cpu.speeds", "1000000")+array("cpu.active", "100")+item("wifi.on", "1")+item("wifi.active", "90")))
	if err != nil {
		t.Fatal(err)
	}
	m.Volts = 4
	wifi := func(u model.Usage) float64 {
		e, err := m.Estimate(0, energytest.Seconds(60), nil, model.States{Elapsed: energytest.Seconds(60), Device: u})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Device {
			if c.Name == "wifi" {
				return c.EnergyJ
			}
		}
		return 0
	}
	// A packet of 2 KiB at 1 Mbit/s takes 16.384 ms: 1000 of them 16.384 s. With 90
	// mA × 16.384 s + 1 mA × 50 s = 1524.56 mA × s, so 6.09824 J.
	energytest.Near(t, "by packets", wifi(model.Usage{WifiPackets: 1000, WifiRunning: energytest.Seconds(50)}), 6.09824)
	// No more than it ran: 90 × 50 + 50 = 4550.
	energytest.Near(t, "by very many packets", wifi(model.Usage{WifiPackets: 1e7, WifiRunning: energytest.Seconds(50)}), 18.2)
	// 90 × (2 + 1) + 1 × 50 = 320.
	energytest.Near(t, "by times that are newer than the profile", wifi(model.Usage{WifiPackets: 1e7, WifiRunning: energytest.Seconds(50), Wifi: model.RadioTimes{Rx: energytest.Seconds(2), Tx: energytest.Seconds(1)}}), 1.28)
}

// TestEstimateOfUnsplitWork has 1 s of the system without speeds, and 2 s of the app, half of them on
// the big core at 100 mA and half on the small ones at 30 mA: the system's is assumed to be split
// in the same way.
func TestEstimateOfUnsplitWork(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"9,1000,l,cpu,600,400,0\n%s", "%s9,1000,l,cpu,600,400,0\n"} {
		p := energytest.Read(t, "9,0,l,bt,0,60000,60000,60000,60000,0,0,0,0,0,0,0\n9,0,l,gcf,500000,1000000,1000000\n"+
			fmt.Sprintf(order, "9,10086,l,cpu,2000,0,0\n9,10086,l,ctf,A,3,0,1000,1000,0,0,0\n"))
		e, err := smallModel(t).Estimate(0, energytest.Seconds(60), nil, model.StatesOf(p, 10_086))
		if err != nil {
			t.Fatal(err)
		}
		// Cores 30 × 1.5 + 100 × 1.5, clusters 1 × 1.5 + 5 × 1.5, CPU 10 × 3, at 4 V.
		if got := e.Device[1]; got.Name != "cpu" || !cmp.Equal(got.EnergyJ, (45+150+1.5+7.5+30)*4/1000, energytest.Alike) {
			t.Errorf("%+v, want 0.936 J of the CPU", e.Device)
		}
	}
}

func TestEstimateOfOtherCPULayouts(t *testing.T) {
	t.Parallel()
	cpu := func(body string, work ...model.Work) float64 {
		m, err := model.New(profile(t, body))
		if err != nil {
			t.Fatal(err)
		}
		m.Volts = 4
		e, err := m.Estimate(0, energytest.Seconds(10), nil, model.States{Elapsed: energytest.Seconds(10), Awake: energytest.Seconds(10), Device: model.Usage{CPU: work}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Device {
			if c.Name == "cpu" {
				return c.EnergyJ
			}
		}
		return 0
	}
	at := func(khz int) map[int]time.Duration { return map[int]time.Duration{khz: energytest.Seconds(3)} }
	single := array("cpu.speeds", "400000", "800000", "1200000") + array("cpu.active", "40", "80", "160")
	energytest.Near(t, "one cluster at a speed between two: 120 mA × 2 s", cpu(single, model.Work{Busy: energytest.Seconds(2), AtSpeed: at(1_000_000)}), 0.96)
	energytest.Near(t, "above the fastest: 160 mA × 2 s", cpu(single, model.Work{Busy: energytest.Seconds(2), AtSpeed: at(3_000_000)}), 1.28)
	energytest.Near(t, "at an unknown speed, the middle one: 80 mA × 2 s", cpu(single, model.Work{Busy: energytest.Seconds(2)}), 0.64)
	clusters := array("cpu.clusters.cores", "3", "1") + array("cpu.speeds.cluster0", "400000") + array("cpu.active.cluster0", "40") +
		array("cpu.speeds.cluster1", "900000") + array("cpu.active.cluster1", "200")
	// An emulator's CPU is one cluster: of its 4 s, three small cores have 3 s.
	energytest.Near(t, "another number of clusters: 40 × 3 + 200 × 1", cpu(clusters, model.Work{Busy: energytest.Seconds(4), AtSpeed: at(2_000_000)}), 1.28)
	scaling := item("cpu.scaling_policy_power.policy0", "3") + array("cpu.scaling_step_power.policy0", "10", "20", "30")
	// The device's speeds, in order, are the profile's steps: 1 s at the first, 3 s
	// at the third: (10 × 1 + 30 × 3) / 4 = 25 mA × 2 s + 3 mA × 2 s.
	energytest.Near(t, "steps without speeds", cpu(scaling, model.Work{Busy: energytest.Seconds(2), AtSpeed: map[int]time.Duration{300: energytest.Seconds(1), 600: 0, 900: energytest.Seconds(3)}}), 0.224)
}

// TestEstimateOfTheModemsController has profiles without radio.active and radio.on. The mean of the
// controller's receive and transmit currents counts while it is active: (100 + 150 + 200 + 250 +
// 300 + 500) / 6 = 250 mA; while it waits 25/180 of its idle current without a signal, 1/256 with
// one, at least 1.
func TestEstimateOfTheModemsController(t *testing.T) {
	t.Parallel()
	cpu := array("cpu.speeds", "1000") + array("cpu.active", "100")
	states := model.States{Elapsed: energytest.Seconds(60), Signal: [5]time.Duration{energytest.Seconds(10), energytest.Seconds(5)}, Device: model.Usage{Mobile: energytest.Seconds(2)}}
	for name, body := range map[string]string{
		"items": item("modem.controller.idle", "360") + item("modem.controller.rx", "100") + array("modem.controller.tx", "150", "200", "250", "300", "500"),
		"element": `<modem><sleep>0</sleep><idle>360</idle><active rat="DEFAULT"><receive>100</receive><transmit level="0">150</transmit><transmit level="1">200</transmit>` +
			`<transmit level="2">250</transmit><transmit level="3">300</transmit><transmit level="4">500</transmit></active></modem>`,
	} {
		m, err := model.New(profile(t, cpu+body))
		if err != nil {
			t.Fatal(err)
		}
		m.Volts = 4
		e, err := m.Estimate(0, energytest.Seconds(60), nil, states)
		if err != nil {
			t.Fatal(err)
		}
		// 250 × 2 + 360 × 25/180 × 10 + 360/256 × 5 mA × s at 4 V.
		energytest.Near(t, name, e.TotalJ, (500+500+7.03125)*4/1000)
	}
}

func TestEstimateOfOlderProfilesBase(t *testing.T) {
	t.Parallel()
	m, err := model.New(profile(t, array("cpu.speeds", "1000")+array("cpu.active", "100")+item("cpu.idle", "3")+item("cpu.awake", "17")))
	if err != nil {
		t.Fatal(err)
	}
	m.Volts = 4
	e, err := m.Estimate(0, energytest.Seconds(10), nil, model.States{Elapsed: energytest.Seconds(10), Awake: energytest.Seconds(5)})
	if err != nil {
		t.Fatal(err)
	}
	energytest.Near(t, "3 mA for 10 s and 17 mA for 5 s", e.TotalJ, 0.46)
}

func TestModelName(t *testing.T) {
	t.Parallel()
	reference := model.Reference()
	if reference.Name != "reference-phone" || len(reference.Warnings) != 0 {
		t.Errorf("the reference is %q, %v", reference.Name, reference.Warnings)
	}
	name := func(p powerprofile.Profile) string {
		m, err := model.New(p)
		if err != nil {
			t.Fatal(err)
		}
		return m.Name
	}
	one := name(small(t))
	other := name(profile(t, array("cpu.speeds", "1000")+array("cpu.active", "100")))
	if len(one) != 8 || one == other || one != name(small(t)) {
		t.Errorf("names of two profiles: %q and %q", one, other)
	}
	named := small(t)
	named.Device = "Fine Phone\n[2]"
	if got := name(named); got != "FinePhone2 "+one {
		t.Errorf("a profile with a name of its own is %q", got)
	}
}

func TestModelErrors(t *testing.T) {
	t.Parallel()
	if _, err := model.New(profile(t, item("screen.on", "50"))); !errors.Is(err, model.ErrProfile) {
		t.Errorf("a profile without a CPU: %v", err)
	}
	m := smallModel(t)
	if _, err := m.Estimate(0, energytest.Seconds(1), nil, model.States{}); !errors.Is(err, model.ErrNothing) {
		t.Errorf("nothing to go by: %v", err)
	}
	if _, err := m.Estimate(energytest.Seconds(2), energytest.Seconds(1), nil, model.States{Elapsed: 1}); err == nil || !strings.Contains(err.Error(), "ends at 1s, before it begins at 2s") {
		t.Errorf("an interval that ends before it begins: %v", err)
	}
	late := []model.Snapshot{{Time: energytest.Seconds(5)}, {Time: energytest.Seconds(6)}}
	e, err := m.Estimate(0, energytest.Seconds(10), late, model.States{})
	if err != nil || len(e.Warnings) != 1 || e.Warnings[0].Text != "the state of the CPU is unknown for 9s of 10s: the nearest one is assumed" {
		t.Errorf("snapshots of a tenth of the time: %v, %v", err, e.Warnings)
	}
	energytest.Near(t, "its base load", e.TotalJ, 1)
	placeholders := profile(t, array("cpu.speeds", "1000")+array("cpu.active", "0.1")+item("screen.on", "0.1")+item("screen.full", "0.1"))
	if m, err := model.New(placeholders); err != nil || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0].Text, "placeholders") {
		t.Errorf("placeholders: %v, %v", err, m.Warnings)
	}
}

// TestEstimateOfUnorderedSnapshots has one that was reported late: two seconds of the base load
// remain two seconds.
func TestEstimateOfUnorderedSnapshots(t *testing.T) {
	t.Parallel()
	snapshots := []model.Snapshot{{Time: 0}, {Time: energytest.Seconds(1.5)}, {Time: energytest.Seconds(1)}, {Time: energytest.Seconds(2)}}
	e, err := smallModel(t).Estimate(0, energytest.Seconds(2), snapshots, model.States{})
	if err != nil {
		t.Fatal(err)
	}
	energytest.Near(t, "25 mA for 2 s at 4 V", e.TotalJ, 0.2)
}

// TestEstimateOfDecreasingCounters has a core that was switched off in between, and an app that is
// restarted: neither returns energy.
func TestEstimateOfDecreasingCounters(t *testing.T) {
	t.Parallel()
	snapshots := []model.Snapshot{
		{Time: 0, AppCPU: energytest.Seconds(9), Clusters: []model.ClusterState{{Busy: energytest.Seconds(9)}, {Busy: energytest.Seconds(9)}}},
		{Time: energytest.Seconds(1), AppCPU: energytest.Seconds(1), Clusters: []model.ClusterState{{Busy: energytest.Seconds(8)}, {Busy: energytest.Seconds(9)}}},
		{Time: energytest.Seconds(2), AppCPU: energytest.Seconds(5)},
	}
	e, err := smallModel(t).Estimate(0, energytest.Seconds(2), snapshots, model.States{})
	if err != nil {
		t.Fatal(err)
	}
	// The app's last 4 s are more than the kernel reports in total. Two small cores and a big one
	// share them at their middle speeds: 30 mA × 8/3 s + 100 mA × 4/3 s, plus 1 mA, 5 mA and 10 mA
	// for the one second that it took; at 4 V.
	energytest.Near(t, "CPU of the app", e.AppJ, (80+400.0/3+16)*4/1000)
}

// FuzzEstimate reads a hostile profile and a hostile dump: the results are numbers, and the app's
// are finite.
func FuzzEstimate(f *testing.F) {
	f.Add([]byte(array("cpu.speeds", "1000")+array("cpu.active", "100")), []byte(energytest.Dump))
	f.Add([]byte(item("cpu.idle", "1e12")+array("cpu.scaling_step_power.policy0", "1e12")+item("screen.on", "1e12")), []byte(strings.ReplaceAll(energytest.Dump, "60000", "999999999999999")))
	f.Fuzz(func(t *testing.T, body, text []byte) {
		p, err := powerprofile.Read(strings.NewReader("<device>" + string(body) + "</device>"))
		if err != nil {
			return
		}
		m, err := model.New(p)
		if err != nil {
			return
		}
		d, err := batterystats.Read(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Estimate(0, energytest.Seconds(60), nil, model.StatesOf(d.Main(), 10_086))
		if err != nil {
			return
		}
		for _, c := range append(e.Device, e.App...) {
			if !(c.EnergyJ >= 0 && c.EnergyJ <= 1e30) {
				t.Errorf("%s: %g J", c.Name, c.EnergyJ)
			}
		}
	})
}
