package model

import (
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

// screenModel is the currents of the screen, in mA (ScreenPowerCalculator).
type screenModel struct{ on, full, doze float64 }

func newScreenModel(p powerprofile.Profile) screenModel {
	return screenModel{
		on:   first(p, "screen.on", "screen.on.display0"),
		full: first(p, "screen.full", "screen.full.display0"),
		doze: first(p, "ambient.on", "ambient.on.display0"),
	}
}

// current returns mA of a screen that is on at a brightness from 0 to 1.
func (s screenModel) current(brightness float64) float64 {
	return s.on + s.full*min(max(brightness, 0), 1)
}

// charge returns mA × s of the times in each of the five ranges of brightness. Time outside all
// ranges counts as the middle one.
func (s screenModel) charge(on time.Duration, brightness [5]time.Duration, doze time.Duration) float64 {
	charge := s.doze * doze.Seconds()
	for i, t := range brightness {
		charge += s.current((float64(i)+0.5)/5) * t.Seconds()
		on -= t
	}
	return charge + s.current(0.5)*max(on, 0).Seconds()
}

// radio is the currents of a radio's controller, in mA.
type radio struct{ idle, rx, tx float64 }

func (r radio) stated() bool { return r.idle != 0 && r.rx != 0 && r.tx != 0 }

func (r radio) charge(t RadioTimes) float64 {
	return r.idle*t.Idle.Seconds() + r.rx*t.Rx.Seconds() + r.tx*t.Tx.Seconds()
}

// partModel is the currents of the other components, in mA.
type partModel struct {
	wifi, bluetooth                  radio
	wifiOn, wifiActive, wifiScan     float64
	mobileActive, mobileScan         float64
	mobileOn                         [5]float64 // by signal strength
	gps, audio, video, camera, flash float64
	sensors                          map[int]float64 // by handle; of the device, not of the profile
}

func newPartModel(p powerprofile.Profile) partModel {
	m := partModel{
		wifi:       radio{first(p, "wifi.controller.idle"), first(p, "wifi.controller.rx"), first(p, "wifi.controller.tx")},
		bluetooth:  radio{first(p, "bluetooth.controller.idle"), first(p, "bluetooth.controller.rx"), first(p, "bluetooth.controller.tx")},
		wifiOn:     first(p, "wifi.on"),
		wifiScan:   first(p, "wifi.scan"),
		mobileScan: first(p, "radio.scanning"),
		gps:        first(p, "gps.on"),
		audio:      first(p, "audio", "dsp.audio"),
		video:      first(p, "video", "dsp.video"),
		camera:     first(p, "camera.avg", "camera.preview"),
		flash:      first(p, "camera.flashlight"),
	}
	m.wifiActive = first(p, "wifi.active", "wifi.controller.rx")
	m.mobileActive, m.mobileOn = mobileCurrents(p)
	if m.gps == 0 {
		m.gps = mean(p.Values("gps.signalqualitybased"))
	}
	return m
}

// mobileCurrents returns the modem's currents while it transfers and while it waits, by signal
// strength (MobileRadioPowerCalculator). If a profile states only the modem's controller, the
// platform takes the mean of receiving and of transmitting at each level, and fractions of the idle
// current.
func mobileCurrents(p powerprofile.Profile) (active float64, on [5]float64) {
	transfers := append([]float64{first(p, "modem.controller.rx")}, p.Values("modem.controller.tx")...)
	idle := first(p, "modem.controller.idle")
	if len(p.Modem) > 0 {
		transfers = transfers[:0]
		for _, s := range p.Modem {
			switch {
			case s.State == "idle":
				idle = s.PowerMA
			case s.State == "receive", s.State == "transmit":
				transfers = append(transfers, s.PowerMA)
			}
		}
	}
	var ok bool
	if active, ok = p.Value("radio.active"); !ok {
		active = mean(transfers)
	}
	strengths := p.Values("radio.on")
	if single, ok := p.Value("radio.on"); ok && strengths == nil {
		strengths = []float64{single}
	}
	for i := range on {
		switch {
		case len(strengths) > 0:
			on[i] = strengths[min(i, len(strengths)-1)]
		case i == 0:
			on[i] = idle * 25 / 180
		case idle > 0:
			on[i] = max(1, idle/256)
		}
	}
	return active, on
}

// packetsPerSecond is the rate of a transfer at 1 Mbit/s in packets of 2 KiB, by which the platform
// converts packets to time.
const packetsPerSecond = 1_000_000.0 / 8 / 2048

// wifiCharge returns mA × s of Wi-Fi: by the times of its controller, or else by the time it ran
// and the number of packets, but for no longer than it ran (WifiPowerCalculator,
// WifiPowerEstimator). The times count even if an older profile has only one current for all
// transfers.
func (m partModel) wifiCharge(u Usage) float64 {
	on := m.wifiOn*u.WifiRunning.Seconds() + m.wifiScan*u.WifiScan.Seconds()
	switch {
	case u.Wifi != (RadioTimes{}) && m.wifi.stated():
		return m.wifi.charge(u.Wifi)
	case u.Wifi != (RadioTimes{}):
		return on + m.wifiActive*(u.Wifi.Rx+u.Wifi.Tx).Seconds()
	}
	active := u.WifiPackets / packetsPerSecond
	if u.WifiRunning > 0 {
		active = min(active, u.WifiRunning.Seconds())
	}
	return on + m.wifiActive*active
}

// charges returns mA × s by component for the usage of one app or the whole device.
func (m partModel) charges(u Usage) map[string]float64 {
	return map[string]float64{
		energy.PartWifi:       m.wifiCharge(u),
		energy.PartMobile:     m.mobileActive * u.Mobile.Seconds(),
		energy.PartBluetooth:  m.bluetooth.charge(u.Bluetooth),
		energy.PartGPS:        m.gps * u.GPS.Seconds(),
		energy.PartAudio:      m.audio * u.Audio.Seconds(),
		energy.PartVideo:      m.video * u.Video.Seconds(),
		energy.PartCamera:     m.camera * u.Camera.Seconds(),
		energy.PartFlashlight: m.flash * u.Flashlight.Seconds(),
		energy.PartSensors:    m.sensorCharge(u.Sensors),
	}
}

// sensorCharge returns mA × s of the sensors except GPS (SensorPowerCalculator).
func (m partModel) sensorCharge(times map[int]time.Duration) float64 {
	charge := 0.0
	for _, handle := range slices.Sorted(maps.Keys(times)) { // sorted, so that rounding is reproducible
		charge += m.sensors[handle] * times[handle].Seconds()
	}
	return charge
}

// standby returns mA × s of a modem that waits and looks for cells.
func (m partModel) standby(s States) float64 {
	charge := m.mobileScan * s.SignalScan.Seconds()
	for i, t := range s.Signal {
		charge += m.mobileOn[i] * t.Seconds()
	}
	return charge
}
