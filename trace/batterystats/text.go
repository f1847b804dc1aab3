package batterystats

import (
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// textTimes are the lines of a period that state times: the names of the first and of the second
// time, and the words in between.
var textTimes = map[string]struct{ first, between, second string }{
	"Time on battery":             {"on_battery_ms", "realtime, ", "on_battery_uptime_ms"},
	"Time on battery screen off":  {"screen_off_ms", "realtime, ", "screen_off_uptime_ms"},
	"Time on battery screen doze": {first: "screen_doze_ms"},
	"Total run time":              {"total_ms", "realtime, ", "total_uptime_ms"},
	"Screen on":                   {"screen_on_ms", "Interactive: ", "interactive_ms"},
	"Active phone call":           {first: "phone_on_ms"},
	"Total full wakelock time":    {first: "wakelock_full_ms"},
	"Total partial wakelock time": {first: "wakelock_partial_ms"},
	"Mobile radio active time":    {first: "mobile_radio_active_ms"},
	"Cellular kernel active time": {first: "mobile_radio_active_ms"},
	"Signal scanning time":        {first: "signal_scan_ms"},
	"Wifi on":                     {"wifi_on_ms", "Wifi running: ", "wifi_running_ms"},
	"WiFi Scan time":              {first: "wifi_scan_ms"},
	"WiFi Idle time":              {first: "wifi_idle_ms"},
	"WiFi Rx time":                {first: "wifi_rx_ms"},
	"WiFi Tx time":                {first: "wifi_tx_ms"},
	"Bluetooth Idle time":         {first: "bluetooth_idle_ms"},
	"Bluetooth Rx time":           {first: "bluetooth_rx_ms"},
	"Bluetooth Tx time":           {first: "bluetooth_tx_ms"},
}

// uidTimes are the lines below a UID that state one time.
var uidTimes = map[string]string{
	"Foreground activities": "foreground_ms",
	"Mobile radio active":   "mobile_radio_active_ms",
	"Wifi Running":          "wifi_running_ms",
	"Wifi Scan":             "wifi_scan_ms",
	"WiFi Idle time":        "wifi_idle_ms",
	"WiFi Rx time":          "wifi_rx_ms",
	"WiFi Tx time":          "wifi_tx_ms",
	"Bluetooth Idle time":   "bluetooth_idle_ms",
	"Bluetooth Rx time":     "bluetooth_rx_ms",
	"Bluetooth Tx time":     "bluetooth_tx_ms",
	"Audio":                 "audio_ms",
	"Video":                 "video_ms",
	"Camera":                "camera_ms",
	"Flashlight":            "flashlight_ms",
	"Sensor GPS":            "gps_ms",
}

// textNumbers are the lines that state a charge in mAh, or a share of the
// battery in per cent.
var textNumbers = map[string]string{
	"Estimated battery capacity":          "capacity_estimated_mah",
	"Last learned battery capacity":       "capacity_last_learned_mah",
	"Min learned battery capacity":        "capacity_min_learned_mah",
	"Max learned battery capacity":        "capacity_max_learned_mah",
	"Discharge":                           "discharge_mah",
	"Screen off discharge":                "discharge_screen_off_mah",
	"Screen doze discharge":               "discharge_screen_doze_mah",
	"Screen on discharge":                 "discharge_screen_on_mah",
	"Device light doze discharge":         "discharge_light_doze_mah",
	"Device deep doze discharge":          "discharge_deep_doze_mah",
	"Amount discharged (lower bound)":     "discharge_min_percent",
	"Amount discharged (upper bound)":     "discharge_max_percent",
	"Amount discharged while screen on":   "discharge_screen_on_percent",
	"Amount discharged while screen off":  "discharge_screen_off_percent",
	"Amount discharged while screen doze": "discharge_screen_doze_percent",
	"System starts":                       "starts",
	"Wifi packets received":               "wifi_rx_packets",
	"Wifi packets sent":                   "wifi_tx_packets",
	"Cellular packets received":           "mobile_rx_packets",
	"Cellular packets sent":               "mobile_tx_packets",
}

// textTraffic are the lines that state bytes, received and sent or one of them.
var textTraffic = map[string]struct{ received, sent string }{
	"Mobile total received":    {"mobile_rx_bytes", "mobile_tx_bytes"},
	"Wi-Fi total received":     {"wifi_rx_bytes", "wifi_tx_bytes"},
	"Bluetooth total received": {"bluetooth_rx_bytes", "bluetooth_tx_bytes"},
	"Cellular data received":   {received: "mobile_rx_bytes"},
	"Cellular data sent":       {received: "mobile_tx_bytes"},
	"Wifi data received":       {received: "wifi_rx_bytes"},
	"Wifi data sent":           {received: "wifi_tx_bytes"},
}

// uidHead matches the line that begins the statistics of one UID.
var uidHead = regexp.MustCompile(`^  (\d{1,10}|u\d{1,5}[a-z]{1,2}\d{1,5}):$`)

// readPeriod parses a line below "Statistics since …".
func (r *reader) readPeriod(line, text string) {
	p := &r.dump.Periods[r.period]
	if m := r.uidHead(line); m != nil {
		r.section, r.uid = inUID, nil
		if id, ok := ParseUID(m[1]); ok {
			r.uid = p.uid(id)
			p.order.seen(id)
		} else {
			r.warnings.Addf(r.line, "%s is no UID: what is below it is not read", trace.Quote(m[1]))
		}
		return
	}
	what := ""
	switch {
	case strings.HasPrefix(text, "Estimated power use"):
		r.section = inPower
	case r.section == inPower:
		what = p.readPower(text)
	case r.section == inTotals:
		what = p.readTotal(text)
	case r.uid != nil:
		if name, found := strings.CutPrefix(text, "Apk "); found {
			r.addPackage(r.uid.UID, strings.TrimSuffix(name, ":"))
		}
		what = p.readUIDText(r.uid, text)
	}
	if what != "" {
		r.warnings.Addf(r.line, "%s: %s", trace.Quote(text), what)
	}
}

// uidHead splits a line that begins a UID. It returns nil for other lines.
func (r *reader) uidHead(line string) []string {
	if r.section == inPower || len(line) < 4 || line[2] == ' ' {
		return nil // most lines
	}
	return uidHead.FindStringSubmatch(strings.TrimRight(line, " "))
}

// readTotal parses a line of the period's totals and returns what is wrong with it.
func (p *Period) readTotal(text string) string {
	if strings.HasPrefix(text, "Kernel Wake lock ") || strings.HasPrefix(text, "Wake lock ") {
		p.readListedLock(text)
		return ""
	}
	key, value, found := strings.Cut(text, ":")
	if !found {
		return p.readBrightness(text)
	}
	value = strings.TrimSpace(value)
	if t, known := textTimes[key]; known {
		return p.readTimes(t.first, t.between, t.second, value)
	}
	if name, known := textNumbers[key]; known {
		v, _, ok := cutNumber(value)
		if !ok {
			return "does not begin with a number"
		}
		p.state(name, v)
		return ""
	}
	if t, known := textTraffic[key]; known {
		return readTraffic(p.Stated, t.received, t.sent, value)
	}
	return ""
}

func (p *Period) readTimes(first, between, second, value string) string {
	ms, rest, ok := cutDuration(value)
	if !ok {
		return "does not begin with a time"
	}
	p.state(first, ms)
	if second == "" {
		return ""
	}
	if _, after, found := strings.Cut(rest, between); found {
		if ms, _, ok := cutDuration(after); ok {
			p.state(second, ms)
		}
	}
	return ""
}

// readBrightness parses "dark 5h 35m 22s 781ms (83.5%)".
func (p *Period) readBrightness(text string) string {
	name, value, _ := strings.Cut(text, " ")
	if !slices.Contains(Brightnesses[:], name) {
		return ""
	}
	return p.readTimes("screen_"+name+"_ms", "", "", value)
}

// packets matches the numbers at the end of a line about traffic: "(packets received 12, sent 34)"
// or "(packets 12 received, 34 sent)".
var packets = regexp.MustCompile(`\(packets (?:received )?(\d{1,15})(?: received)?, (?:sent )?(\d{1,15})`)

func readPackets(stated map[string]float64, received, sent, value string) {
	if m := packets.FindStringSubmatch(value); m != nil {
		for i, name := range []string{received, sent} {
			v, _ := parseNumber(m[1+i])
			stateIn(stated, strings.Replace(name, "_bytes", "_packets", 1), v)
		}
	}
}

// readTraffic parses "53.94MB, sent: 991.27KB …", or "53.94MB received, 991.27KB sent …".
func readTraffic(stated map[string]float64, received, sent, value string) string {
	v, rest, ok := cutBytes(value)
	if !ok {
		return "does not begin with a count of bytes"
	}
	stateIn(stated, received, v)
	if sent == "" {
		return ""
	}
	rest = strings.TrimPrefix(rest, " received")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, ", "), "sent: ")
	if v, _, ok = cutBytes(rest); !ok {
		return "does not state the bytes sent"
	}
	stateIn(stated, sent, v)
	readPackets(stated, received, sent, rest)
	return ""
}

// readUIDText parses a line below a UID.
func (p *Period) readUIDText(u *UID, text string) string {
	if strings.HasPrefix(text, "Wake lock ") {
		p.readUIDLock(u, text)
		return ""
	}
	key, value, found := strings.Cut(text, ": ")
	if !found {
		return ""
	}
	switch key {
	case "Mobile network":
		return readTraffic(u.Stated, "mobile_rx_bytes", "mobile_tx_bytes", value)
	case "Wi-Fi network":
		return readTraffic(u.Stated, "wifi_rx_bytes", "wifi_tx_bytes", value)
	case "Bluetooth network":
		return readTraffic(u.Stated, "bluetooth_rx_bytes", "bluetooth_tx_bytes", value)
	case "Network": // before Android 4.4
		return readTraffic(u.Stated, "rx_bytes", "tx_bytes", value)
	case "Total cpu time":
		return u.readCPU(value)
	case "CPU":
		return u.readProcessCPU(value)
	}
	if number, isSensor := strings.CutPrefix(key, "Sensor "); isSensor && number != "GPS" {
		if ms, _, ok := cutDuration(value); ok {
			return p.addSensor(u, number, ms)
		}
		return "" // "(not used)"
	}
	if name, known := uidTimes[key]; known {
		if ms, _, ok := cutDuration(strings.TrimSpace(value)); ok {
			stateIn(u.Stated, name, ms)
		}
	}
	return ""
}

// readCPU parses "u=25s 540ms s=4m 32s 710ms".
func (u *UID) readCPU(value string) string {
	user, rest, ok := cutDuration(strings.TrimPrefix(value, "u="))
	system, _, okSystem := cutDuration(strings.TrimPrefix(rest, " s="))
	if !ok || !okSystem {
		return "does not state the time in user and in system mode"
	}
	stateIn(u.Stated, "cpu_user_ms", user)
	stateIn(u.Stated, "cpu_system_ms", system)
	return ""
}

// readProcessCPU parses "60ms usr + 4s 340ms krn ; 0ms fg".
func (u *UID) readProcessCPU(value string) string {
	user, rest, ok := cutDuration(value)
	_, rest, found := strings.Cut(rest, "usr + ")
	system, _, okSystem := cutDuration(rest)
	if !ok || !found || !okSystem {
		return "does not state the time in user and in kernel mode"
	}
	u.processMS += user + system
	u.hasProc = true
	return ""
}
