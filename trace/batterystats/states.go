package batterystats

import "strconv"

// Brightnesses are the five ranges of the screen's brightness, darkest first, in names of Stated:
// "screen_dark_ms" is the time in the first.
var Brightnesses = [5]string{"dark", "dim", "medium", "light", "bright"}

// Signals are the five strengths of the mobile network, in names of Stated:
// "signal_none_ms" is the time without any.
var Signals = [5]string{"none", "poor", "moderate", "good", "great"}

// gpsSensor is the id of GPS in the checkin form.
const gpsSensor = "-10000"

// maxSteps limits the CPU's speeds; a phone has up to about sixty.
const maxSteps = 512

// readState parses a line of times in states of the whole device.
func (p *Period) readState(tag string, values []string) string {
	switch tag {
	case "br":
		return p.stateAll(values, names("screen_", Brightnesses)...)
	case "sgt":
		return p.stateAll(values, names("signal_", Signals)...)
	case "sst":
		return p.stateAll(values, "signal_scan_ms")
	case "gwfl":
		return p.stateAll(values, "wifi_on_ms", "wifi_running_ms")
	case "gwfcd":
		return stateController(p.Stated, "wifi", values, 1)
	case "gble":
		return stateController(p.Stated, "bluetooth", values, 1)
	case "gcf":
		return p.readSpeeds(values)
	}
	return ""
}

// readState parses a line of times in states of one UID.
func (u *UID) readState(tag string, values []string) string {
	switch tag {
	case "wfl": // in microseconds
		return u.stateAll(values, "", "wifi_scan_us", "wifi_running_us")
	case "wfcd":
		return stateController(u.Stated, "wifi", values, 1)
	case "ble":
		return stateController(u.Stated, "bluetooth", values, 1)
	case "aud":
		return u.stateAll(values, "audio_ms")
	case "vid":
		return u.stateAll(values, "video_ms")
	case "cam":
		return u.stateAll(values, "camera_ms")
	case "fla":
		return u.stateAll(values, "flashlight_ms")
	case "ctf":
		return u.readAtSpeed(values)
	}
	return ""
}

// readSensor parses "HANDLE,time,count…": the time is the UID's share if several had the sensor on
// at once.
func (p *Period) readSensor(u *UID, values []string) string {
	if len(values) > 1 && values[0] == gpsSensor {
		return u.stateAll(values[1:], "gps_ms")
	}
	if len(values) < 2 {
		return "the line ends before the time"
	}
	ms, ok := parseNumber(values[1])
	if !ok {
		return "its column 2 is not a number: the line is not read"
	}
	return p.addSensor(u, values[0], ms)
}

// addSensor keeps the first time of a sensor.
func (p *Period) addSensor(u *UID, number string, ms float64) string {
	handle, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return "names no sensor"
	}
	if _, known := u.SensorsMS[int(handle)]; known {
		return ""
	}
	if p.sensors == maxSensors {
		p.overflow = true
		return ""
	}
	if u.SensorsMS == nil {
		u.SensorsMS = map[int]float64{}
	}
	p.sensors++
	u.SensorsMS[int(handle)] = ms
	return ""
}

func names(prefix string, levels [5]string) []string {
	out := make([]string, len(levels))
	for i, name := range levels {
		out[i] = prefix + name + "_ms"
	}
	return out
}

// stateController parses "idle,rx,power,tx…", since Android 10 with one more charge before the
// transmissions.
func stateController(stated map[string]float64, name string, values []string, levels int) string {
	if len(values) < 3+levels {
		return "the line ends before the time of transmission"
	}
	p := Period{Stated: stated}
	if what := p.stateAll(values[:2], name+"_idle_ms", name+"_rx_ms"); what != "" {
		return what
	}
	return p.stateAll(values[len(values)-levels:], name+"_tx_ms")
}

// readSpeeds parses the speeds of all clusters in one list: a speed that is not above the one
// before begins the next cluster.
func (p *Period) readSpeeds(values []string) string {
	if len(values) > maxSteps {
		return "more speeds than a CPU has"
	}
	var clusters [][]int
	last := 0
	for i, v := range values {
		khz, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return "its column " + strconv.Itoa(i+1) + " is not a number: the line is not read"
		}
		if len(clusters) == 0 || int(khz) <= last {
			clusters = append(clusters, nil)
		}
		last = int(khz)
		clusters[len(clusters)-1] = append(clusters[len(clusters)-1], last)
	}
	p.SpeedsKHz = clusters
	return ""
}

// readAtSpeed parses "A,COUNT,time…,time with the screen off…": for all states of the process, "A",
// the times at each speed.
func (u *UID) readAtSpeed(values []string) string {
	if len(values) < 2 || values[0] != "A" {
		return ""
	}
	count, err := strconv.ParseUint(values[1], 10, 31)
	if err != nil || count > maxSteps || len(values) < 2+int(count) {
		return "its count of speeds does not match the line: the line is not read"
	}
	times := make([]float64, count)
	for i := range times {
		ms, ok := parseNumber(values[2+i])
		if !ok {
			return "its column " + strconv.Itoa(3+i) + " is not a number: the line is not read"
		}
		times[i] = ms
	}
	u.AtSpeedMS = times
	return ""
}
