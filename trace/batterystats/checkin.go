package batterystats

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// isCheckin reports whether the line is one of the checkin form: "9,1000,l,cpu,…", "9,h,…",
// "9,hsp,…".
func isCheckin(line string) bool {
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == 0 || i > 2 || !strings.HasPrefix(line[i:], ",") {
		return false
	}
	rest := line[i+1:]
	if strings.HasPrefix(rest, "h,") || strings.HasPrefix(rest, "hsp,") {
		return true
	}
	uid, after, _ := strings.Cut(rest, ",")
	_, ok := parseID(uid)
	return ok && len(after) > 2 && after[1] == ',' && strings.IndexByte("iltcu", after[0]) >= 0
}

// readCheckin parses a line for which isCheckin is true.
func (r *reader) readCheckin(line string) {
	fields := splitCheckin(line)
	if r.dump.Checkin == nil {
		format, _ := strconv.Atoi(fields[0])
		r.dump.Checkin = &Checkin{Format: format}
	}
	if fields[1] == "h" {
		if r.histories.checkin.Line == 0 {
			r.histories.checkin.begin(r.line)
		}
		r.histories.checkin.readCheckin(fields[2:], r.line)
		return
	}
	if fields[1] == "hsp" || len(fields) < 4 {
		return
	}
	uid, _ := parseID(fields[1])
	tag, values := fields[3], fields[4:]
	if fields[2] == "i" {
		r.readInfo(tag, values)
		return
	}
	if p := r.checkinPeriod(fields[2]); p != nil {
		if what := p.readCheckin(r.dump.Checkin.layout(), uid, tag, values); what != "" {
			r.warnings.Addf(r.line, "%s: %s", tag, what)
		}
		if tag == "apk" && len(values) > 1 {
			r.addPackage(uid, values[1])
		}
	}
}

// splitCheckin splits a line at commas outside quoted fields. Android does not escape quotes: a
// quote ends its field only before a comma or the end.
func splitCheckin(line string) []string {
	var fields []string
	for {
		if quoted, found := strings.CutPrefix(line, `"`); found {
			if end := strings.Index(quoted, `",`); end >= 0 {
				fields = append(fields, quoted[:end])
				line = quoted[end+2:]
				continue
			}
			return append(fields, strings.TrimSuffix(quoted, `"`))
		}
		field, rest, more := strings.Cut(line, ",")
		fields = append(fields, field)
		if !more {
			return fields
		}
		line = rest
	}
}

// layout returns the version that determines the layout of a line, 0 if it is unknown: until
// Android 5 each line began with it; since then it has a line of its own and the lines begin with
// 9.
func (c Checkin) layout() int {
	if c.Version > 0 || c.Format >= 9 {
		return c.Version
	}
	return c.Format
}

// readInfo parses the lines of category "i": the versions and the packages of each UID.
func (r *reader) readInfo(tag string, values []string) {
	switch {
	case tag == "vers" && len(values) >= 4:
		c := r.dump.Checkin
		c.Version, _ = strconv.Atoi(values[0])
		c.Parcel, _ = strconv.Atoi(values[1])
		c.Build = trace.Name(values[3])
	case tag == "uid" && len(values) >= 2:
		if uid, ok := parseID(values[0]); ok {
			r.addPackage(uid, values[1])
		}
	}
}

// checkinPeriod finds or adds the period of a category.
func (r *reader) checkinPeriod(category string) *Period {
	since := map[string]Since{"l": SinceCharge, "t": SinceEver, "c": SinceBoot, "u": SinceUnplugged}[category]
	r.ever = r.ever || since == SinceEver
	for i := range r.dump.Periods {
		if p := &r.dump.Periods[i]; p.Form == FormCheckin && p.Since == since {
			return p
		}
	}
	i := r.addPeriod(newPeriod(since, FormCheckin, r.line))
	if i < 0 {
		return nil
	}
	return &r.dump.Periods[i]
}

// uidTags are the tags of lines about one UID.
var uidTags = map[string]bool{
	"nt": true, "cpu": true, "pr": true, "awl": true, "wl": true, "fg": true, "sr": true, "wfl": true, "wfcd": true,
	"ble": true, "aud": true, "vid": true, "cam": true, "fla": true, "ctf": true,
}

// readCheckin parses one line of a period and returns what is wrong with it, "" if nothing is.
// Lines with other tags are ignored.
func (p *Period) readCheckin(version, uid int, tag string, values []string) string {
	if uidTags[tag] {
		p.order.seen(uid)
	}
	switch tag {
	case "bt":
		return p.stateAll(values, "starts", "on_battery_ms", "on_battery_uptime_ms", "total_ms", "total_uptime_ms",
			"start_clock_ms", "screen_off_ms", "screen_off_uptime_ms", "capacity_estimated_mah",
			"capacity_min_learned_uah", "capacity_max_learned_uah", "screen_doze_ms")
	case "gn":
		return p.stateAll(values, "mobile_rx_bytes", "mobile_tx_bytes", "wifi_rx_bytes", "wifi_tx_bytes",
			"mobile_rx_packets", "mobile_tx_packets", "wifi_rx_packets", "wifi_tx_packets", "bluetooth_rx_bytes", "bluetooth_tx_bytes")
	case "m":
		return p.stateAll(values, miscNames(version, len(values))...)
	case "dc":
		return p.stateAll(values, "discharge_min_percent", "discharge_max_percent", "discharge_screen_on_percent",
			"discharge_screen_off_percent", "discharge_mah", "discharge_screen_off_mah", "discharge_screen_doze_percent",
			"discharge_screen_doze_mah", "discharge_light_doze_mah", "discharge_deep_doze_mah")
	case "pws":
		return p.stateAll(values, "capacity_profile_mah", "computed_mah", "actual_min_mah", "actual_max_mah")
	case "pwi":
		return p.readPowerItem(uid, values)
	case "kwl":
		return p.readKernelLock(values)
	case "nt", "cpu", "pr", "awl", "wl", "fg":
		if u := p.uid(uid); u != nil {
			return p.readUIDLine(u, tag, values)
		}
	case "sr":
		if u := p.uid(uid); u != nil {
			return p.readSensor(u, values)
		}
	case "wfl", "wfcd", "ble", "aud", "vid", "cam", "fla", "ctf":
		if u := p.uid(uid); u != nil {
			return u.readState(tag, values)
		}
	}
	return p.readState(tag, values)
}

// miscNames returns the names of the columns of line "m", whose layout changed with the version:
// two columns at first; then Wi-Fi and Bluetooth times and traffic before the wakelocks, in
// microseconds before version 9; since version 14 (Android 6) the wakelocks follow the phone's
// time. If the version is not stated, only columns that all layouts share are read, or a line of a
// length that only newer layouts have.
func miscNames(version, columns int) []string {
	names := []string{"screen_on_ms", "phone_on_ms"}
	unit := "ms"
	if version < 9 {
		unit = "us"
	}
	full, partial := "wakelock_full_"+unit, "wakelock_partial_"+unit
	switch {
	case version >= 14, version == 0 && columns > 18:
		return append(names, "wakelock_full_ms", "wakelock_partial_ms", "mobile_radio_active_ms", "", "interactive_ms")
	case version == 0 || columns < 9:
		return names
	case columns <= 10: // before Android 4.4
		return append(names, "", "", "", "rx_bytes", "tx_bytes", full, partial)
	case version < 9: // Android 4.4
		return append(names, "", "", "", "mobile_rx_bytes", "mobile_tx_bytes", "wifi_rx_bytes", "wifi_tx_bytes", full, partial)
	}
	return append(names, "", "", "", "mobile_rx_bytes", "mobile_tx_bytes", "wifi_rx_bytes", "wifi_tx_bytes", // Android 5
		full, partial, "", "mobile_radio_active_ms", "", "interactive_ms")
}

// stateAll states values under names, in order. A value with the name "" is skipped, and one with a
// name in micro-units is converted to milli-units.
func (p *Period) stateAll(values []string, names ...string) string {
	for i, name := range names {
		if i == len(values) {
			break // an older layout
		}
		if name == "" || values[i] == "N/A" {
			continue
		}
		v, ok := parseNumber(values[i])
		if !ok {
			return "its column " + strconv.Itoa(i+1) + " is not a number: the rest of the line is not read"
		}
		switch {
		case strings.HasSuffix(name, "_us"):
			name, v = strings.TrimSuffix(name, "_us")+"_ms", v/1000
		case strings.HasSuffix(name, "_uah"):
			name, v = strings.TrimSuffix(name, "_uah")+"_mah", v/1000
		}
		p.state(name, v)
	}
	return ""
}

// checkinComponents maps the checkin form's labels to full names.
var checkinComponents = map[string]string{
	"scrn": "screen", "blue": "bluetooth", "unacc": "unaccounted", "over": "overcounted", "cell": "cell standby",
}

func (p *Period) readPowerItem(uid int, values []string) string {
	if len(values) < 2 {
		return "the line ends before the charge"
	}
	mah, ok := parseNumber(values[1])
	if !ok {
		return "its charge is not a number"
	}
	if values[0] != "uid" {
		name := values[0]
		if long, known := checkinComponents[name]; known {
			name = long
		}
		p.addComponent(Component{Name: trace.Name(name), PowerMAh: mah})
		return ""
	}
	u := p.uid(uid)
	if u == nil {
		return ""
	}
	stateIn(u.Stated, "power_mah", mah)
	// Since Android 8: hidden from the user, screen, share of the hidden part.
	for i, name := range map[int]string{3: "power_screen_mah", 4: "power_proportional_mah"} {
		if i < len(values) {
			if v, ok := parseNumber(values[i]); ok {
				stateIn(u.Stated, name, v)
			}
		}
	}
	return ""
}

func (p *Period) readKernelLock(values []string) string {
	if len(values) < 3 {
		return "the line ends before the count"
	}
	ms, ok := parseNumber(values[1])
	count, okCount := parseNumber(values[2])
	if !ok || !okCount {
		return "its time or count is not a number"
	}
	p.addWakelock(Wakelock{Name: strings.TrimSpace(values[0]), Kind: Kernel, HeldMS: ms, Count: int64(count)})
	return ""
}

// readUIDLine parses a line about one UID.
func (p *Period) readUIDLine(u *UID, tag string, values []string) string {
	switch tag {
	case "nt":
		if len(values) == 2 { // before Android 4.4
			return u.stateAll(values, "rx_bytes", "tx_bytes")
		}
		return u.stateAll(values, "mobile_rx_bytes", "mobile_tx_bytes", "wifi_rx_bytes", "wifi_tx_bytes",
			"mobile_rx_packets", "mobile_tx_packets", "wifi_rx_packets", "wifi_tx_packets", "mobile_radio_active_us", "", "bluetooth_rx_bytes", "bluetooth_tx_bytes")
	case "cpu":
		return u.stateAll(values, "cpu_user_ms", "cpu_system_ms")
	case "fg":
		return u.stateAll(values, "foreground_ms")
	case "awl":
		return u.stateAll(values, "wakelock_held_ms", "wakelock_held_background_ms")
	case "pr":
		return u.readProcess(values)
	}
	return p.readLocks(u, values)
}

func (u *UID) stateAll(values []string, names ...string) string {
	stated := Period{Stated: u.Stated}
	return stated.stateAll(values, names...)
}

func (u *UID) readProcess(values []string) string {
	if len(values) < 3 {
		return "the line ends before the CPU times"
	}
	user, ok := parseNumber(values[1])
	system, okSystem := parseNumber(values[2])
	if !ok || !okSystem {
		return "its CPU times are not numbers"
	}
	u.processMS += user + system
	u.hasProc = true
	return ""
}

var checkinLocks = map[string]LockKind{"f": Full, "p": Partial, "w": Window}

// readLocks parses NAME,TIME,f,COUNT,…,TIME,p,COUNT,…: how many columns follow each count depends
// on the version. "bp" is a part of "p".
func (p *Period) readLocks(u *UID, values []string) string {
	for i := 2; i < len(values); i++ {
		kind, found := checkinLocks[values[i]]
		if !found {
			continue
		}
		ms, ok := parseNumber(values[i-1])
		count := 0.0
		if i+1 < len(values) {
			count, _ = parseNumber(values[i+1])
		}
		if !ok {
			return "the time before " + values[i] + " is not a number"
		}
		p.addWakelock(Wakelock{UID: u.UID, UIDName: u.Name, Name: values[0], Kind: kind, HeldMS: ms, Count: int64(count)})
	}
	return ""
}
