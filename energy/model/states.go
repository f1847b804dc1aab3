package model

import (
	"maps"
	"time"

	"github.com/apkgate/apkgate/trace/batterystats"
)

// States are the times in each state that batterystats counted, on battery, since its last reset.
// Those not stated are zero.
type States struct {
	Elapsed    time.Duration    // in total
	Awake      time.Duration    // of that, with the CPU not suspended
	ScreenOn   time.Duration    // of that, with the screen on
	Doze       time.Duration    // of that, with a screen that shows the time
	Brightness [5]time.Duration // of the time with the screen on, darkest first
	Signal     [5]time.Duration // of the mobile network, none first
	SignalScan time.Duration    // looking for a mobile network
	Device     Usage            // of all apps and the system
	App        Usage            // of the one app
}

// Usage is the usage of one app or of all.
type Usage struct {
	// CPU has one entry for each cluster, or one without speeds for all.
	CPU                              []Work
	Wifi, Bluetooth                  RadioTimes
	WifiRunning, WifiScan            time.Duration
	WifiPackets                      float64
	Mobile                           time.Duration // with the modem active
	GPS, Audio, Video                time.Duration
	Camera, Flashlight, PartialLocks time.Duration
	// Sensors are the times of the sensors by handle. The time of a sensor that several apps have
	// on at once is divided, so that the times of all apps add up.
	Sensors map[int]time.Duration
}

// RadioTimes are the times reported by a radio's controller.
type RadioTimes struct{ Idle, Rx, Tx time.Duration }

// StatesOf returns the times of a period of batterystats, with those of one UID (-1 for none) as
// the app's.
func StatesOf(p *batterystats.Period, uid int) States {
	if p == nil {
		return States{}
	}
	at := stated(p.Stated)
	s := States{
		Elapsed:    at.ms("on_battery_ms"),
		Awake:      at.ms("on_battery_uptime_ms"),
		ScreenOn:   at.ms("screen_on_ms"),
		Doze:       at.ms("screen_doze_ms"),
		SignalScan: at.ms("signal_scan_ms"),
	}
	for i, name := range batterystats.Brightnesses {
		s.Brightness[i] = at.ms("screen_" + name + "_ms")
	}
	for i, name := range batterystats.Signals {
		s.Signal[i] = at.ms("signal_" + name + "_ms")
	}
	for _, u := range p.UIDs {
		used := usage(u, p.SpeedsKHz)
		s.Device.add(used)
		if u.UID == uid {
			s.App = used
		}
	}
	for handle, t := range s.Device.Sensors {
		s.Device.Sensors[handle] = min(t, s.Elapsed)
	}
	// The device's own numbers are better than the sum of the apps'.
	whole := at.radios()
	if whole.Wifi != (RadioTimes{}) {
		s.Device.Wifi = whole.Wifi
	}
	if whole.Bluetooth != (RadioTimes{}) {
		s.Device.Bluetooth = whole.Bluetooth
	}
	s.Device.WifiRunning = max(s.Device.WifiRunning, whole.WifiRunning)
	s.Device.WifiScan = max(s.Device.WifiScan, whole.WifiScan)
	s.Device.WifiPackets = max(s.Device.WifiPackets, whole.WifiPackets)
	s.Device.Mobile = max(s.Device.Mobile, whole.Mobile)
	return s
}

// stated are numbers by name, as in batterystats.Period.Stated.
type stated map[string]float64

func (s stated) ms(name string) time.Duration { return milliseconds(s[name]) }

// milliseconds converts a stated time to a duration within its range: 0 for an invalid one.
func milliseconds(ms float64) time.Duration {
	if !(ms > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(ms, 1e12) * float64(time.Millisecond))
}

// radios returns the usage of the radios.
func (s stated) radios() Usage {
	return Usage{
		Wifi:        RadioTimes{s.ms("wifi_idle_ms"), s.ms("wifi_rx_ms"), s.ms("wifi_tx_ms")},
		Bluetooth:   RadioTimes{s.ms("bluetooth_idle_ms"), s.ms("bluetooth_rx_ms"), s.ms("bluetooth_tx_ms")},
		WifiRunning: s.ms("wifi_running_ms"),
		WifiScan:    s.ms("wifi_scan_ms"),
		WifiPackets: s["wifi_rx_packets"] + s["wifi_tx_packets"],
		Mobile:      s.ms("mobile_radio_active_ms"),
	}
}

func usage(u *batterystats.UID, speeds [][]int) Usage {
	at := stated(u.Stated)
	used := at.radios()
	used.CPU = work(at, u.AtSpeedMS, speeds)
	used.GPS = at.ms("gps_ms")
	used.Audio, used.Video = at.ms("audio_ms"), at.ms("video_ms")
	used.Camera, used.Flashlight = at.ms("camera_ms"), at.ms("flashlight_ms")
	used.PartialLocks = at.ms("wakelock_held_ms")
	for handle, ms := range u.SensorsMS {
		used.addSensor(handle, milliseconds(ms))
	}
	return used
}

// work returns a UID's CPU time by cluster and speed, or the total if it is not split.
func work(at stated, atSpeedMS []float64, speeds [][]int) []Work {
	steps := 0
	for _, cluster := range speeds {
		steps += len(cluster)
	}
	if steps == 0 || len(atSpeedMS) != steps {
		return []Work{{Busy: at.ms("cpu_user_ms") + at.ms("cpu_system_ms") + at.ms("cpu_processes_ms")}}
	}
	out := make([]Work, len(speeds))
	for i, cluster := range speeds {
		out[i].AtSpeed = map[int]time.Duration{}
		for j, khz := range cluster {
			t := milliseconds(atSpeedMS[j])
			out[i].AtSpeed[khz] += t
			out[i].Busy += t
		}
		atSpeedMS = atSpeedMS[len(cluster):]
	}
	return out
}

// add adds usage.
func (u *Usage) add(o Usage) {
	u.CPU = addWork(u.CPU, o.CPU)
	u.Wifi.add(o.Wifi)
	u.Bluetooth.add(o.Bluetooth)
	u.WifiRunning = max(u.WifiRunning, o.WifiRunning) // these overlap
	u.WifiScan += o.WifiScan
	u.WifiPackets += o.WifiPackets
	u.Mobile += o.Mobile
	u.GPS += o.GPS
	u.Audio += o.Audio
	u.Video += o.Video
	u.Camera += o.Camera
	u.Flashlight += o.Flashlight
	u.PartialLocks += o.PartialLocks
	for handle, t := range o.Sensors {
		u.addSensor(handle, t)
	}
}

func (u *Usage) addSensor(handle int, t time.Duration) {
	if u.Sensors == nil {
		u.Sensors = map[int]time.Duration{}
	}
	u.Sensors[handle] += t
}

func (r *RadioTimes) add(o RadioTimes) {
	r.Idle, r.Rx, r.Tx = r.Idle+o.Idle, r.Rx+o.Rx, r.Tx+o.Tx
}

// addWork adds up the work of two. Work that is not split by cluster and speed is assumed to be
// split like the rest.
func addWork(a, b []Work) []Work {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make([]Work, len(a))
	all := totalBusy(a)
	for i, w := range a {
		out[i] = Work{Busy: w.Busy, AtSpeed: maps.Clone(w.AtSpeed)}
		switch {
		case len(a) == len(b):
			out[i].Busy += b[i].Busy
			out[i].AtSpeed = addSpeeds(out[i].AtSpeed, b[i].AtSpeed)
		case all > 0:
			out[i].Busy += time.Duration(float64(totalBusy(b)) * float64(w.Busy) / float64(all))
		default:
			out[i].Busy += totalBusy(b) / time.Duration(len(a))
		}
	}
	return out
}

func addSpeeds(a, b map[int]time.Duration) map[int]time.Duration {
	if a == nil {
		return maps.Clone(b)
	}
	for khz, t := range b {
		a[khz] += t
	}
	return a
}

func totalBusy(work []Work) time.Duration {
	busy := time.Duration(0)
	for _, w := range work {
		busy += w.Busy
	}
	return busy
}
