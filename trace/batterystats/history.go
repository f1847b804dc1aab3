package batterystats

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// History is the voltage and the charge counter in the battery's history. Times count from the
// history's beginning.
type History struct {
	Line    int     `json:"line,omitempty"` // 0 if the file has none
	Entries int     `json:"entries"`
	SpanMS  float64 `json:"span_ms"`
	// Voltages counts the voltages stated while the device ran on battery.
	Voltages int `json:"voltages"`
	// VoltageMV is their mean over the time on battery, where each lasts until the next; 0 if none
	// is stated.
	VoltageMV    float64 `json:"voltage_mv,omitempty"`
	MinVoltageMV float64 `json:"min_voltage_mv,omitempty"`
	MaxVoltageMV float64 `json:"max_voltage_mv,omitempty"`
	// OnBatteryMS is the time over which the mean was computed.
	OnBatteryMS float64 `json:"on_battery_ms"`
	// FirstChargeMAh and LastChargeMAh are the first and the last reading of the charge counter.
	FirstChargeMAh *float64 `json:"first_charge_mah,omitempty"`
	LastChargeMAh  *float64 `json:"last_charge_mah,omitempty"`
}

// historyReader integrates the voltage while it parses.
type historyReader struct {
	History
	now       float64 // ms
	longest   float64 // ms, of the histories before this one
	voltage   float64 // mV, the last stated
	onBattery bool    // plug=none applies
	off       bool    // the device was shut down
	held      []held  // in chronological order
	area, sum float64 // mV × ms of the voltages no longer in held; the sum of the voltages stated on battery
	settledMS float64 // the time of that area
	badTimes  int
	badLine   int
	backMS    float64 // by how much the clock was set back in total
	backLine  int     // where it was set back first
}

// held is a voltage on battery and the period in which it applied, in ms.
type held struct{ from, to, mv float64 }

// maxHeld limits how much of the history can be undone when the clock is set back.
const maxHeld = 100_000

func (h *historyReader) begin(line int) {
	if h.Line == 0 {
		h.Line = line
	}
	h.settle(len(h.held))
	h.longest = h.SpanMS
	h.now, h.voltage, h.onBattery, h.off = 0, 0, false, true
}

// settle adds up the first n voltages.
func (h *historyReader) settle(n int) {
	for _, v := range h.held[:n] {
		h.area += v.mv * (v.to - v.from)
		h.settledMS += v.to - v.from
	}
	h.held = append(h.held[:0], h.held[n:]...)
}

// readText parses "+1s634ms (2) 080 c0100024 volt=4166 plug=none …". An entry can continue below,
// in lines that begin with a word.
func (h *historyReader) readText(text string, line int) {
	if text[0] != '+' && (text[0] < '0' || text[0] > '9') {
		return
	}
	at, rest, ok := cutDuration(text)
	open, after, found := strings.Cut(rest, "(")
	if !ok || !found || strings.TrimSpace(open) != "" {
		h.doubt(line)
		return
	}
	h.advance(at, line)
	_, after, _ = strings.Cut(after, ") ")
	stated := false
	for word := range strings.FieldsSeq(after) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "plug":
			h.onBattery = value == "none"
		case "volt":
			stated = h.setVoltage(value)
		case "charge":
			h.setCharge(value)
		case "SHUTDOWN":
			h.off = true
		}
	}
	h.count(stated)
}

// readCheckin parses the fields after "9,h": the time since the entry before, which may be followed
// by ":RESET:TIME:…", then "Bv=4166", "Bp=n", …
func (h *historyReader) readCheckin(fields []string, line int) {
	time, event, _ := strings.Cut(fields[0], ":")
	if strings.HasPrefix(event, "RESET") || time == "*" {
		h.begin(h.Line)
	}
	delta, err := strconv.ParseInt(time, 10, 50) // negative if the clock was set back
	if err != nil {
		h.doubt(line)
		return
	}
	h.advance(h.now+float64(delta), line)
	stated := false
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "Bp":
			h.onBattery = value == "n"
		case "Bv":
			stated = h.setVoltage(value)
		case "Bcc":
			h.setCharge(value)
		}
	}
	h.off = strings.HasPrefix(event, "SHUTDOWN")
	h.count(stated)
}

// advance advances to an entry's time. The clock may stand still or be set back: a repeated time
// then counts as stated last.
func (h *historyReader) advance(at float64, line int) {
	h.Entries++
	switch {
	case at < h.now:
		h.noteBack(h.now-at, line)
		h.undo(at)
	case at > h.now && !h.off && h.onBattery && h.voltage > 0:
		h.hold(at)
	}
	h.off = false
	h.now = at
	h.SpanMS = max(h.longest, h.now)
}

// usualBackMS is how far back the clock may go without having been set: entries of some devices are
// slightly out of order.
const usualBackMS = 10_000

func (h *historyReader) noteBack(by float64, line int) {
	if by <= usualBackMS {
		return
	}
	if h.backMS == 0 {
		h.backLine = line
	}
	h.backMS += by
}

// hold records the voltage from now until then.
func (h *historyReader) hold(until float64) {
	if n := len(h.held); n > 0 && h.held[n-1].to == h.now && h.held[n-1].mv == h.voltage {
		h.held[n-1].to = until
		return
	}
	if len(h.held) == maxHeld {
		h.settle(maxHeld / 2)
	}
	h.held = append(h.held, held{h.now, until, h.voltage})
}

// undo removes the voltages after a time.
func (h *historyReader) undo(after float64) {
	for n := len(h.held); n > 0 && h.held[n-1].to > after; n-- {
		if h.held[n-1].from < after {
			h.held[n-1].to = after
			return
		}
		h.held = h.held[:n-1]
	}
}

// doubt counts an entry that has no valid time.
func (h *historyReader) doubt(line int) {
	if h.badTimes == 0 {
		h.badLine = line
	}
	h.badTimes++
}

func (h *historyReader) setVoltage(value string) bool {
	v, ok := parseNumber(value)
	if ok && v > 0 {
		h.voltage = v
	}
	return ok && v > 0
}

// count counts a voltage once the whole entry has been parsed.
func (h *historyReader) count(stated bool) {
	if !stated || !h.onBattery {
		return
	}
	if h.Voltages == 0 {
		h.MinVoltageMV = h.voltage
	}
	h.MinVoltageMV, h.MaxVoltageMV = min(h.MinVoltageMV, h.voltage), max(h.MaxVoltageMV, h.voltage)
	h.Voltages++
	h.sum += h.voltage
}

func (h *historyReader) setCharge(value string) {
	v, ok := parseNumber(value)
	if !ok {
		return
	}
	if h.FirstChargeMAh == nil {
		h.FirstChargeMAh = &v
	}
	h.LastChargeMAh = &v
}

func (h *historyReader) finish(warnings *trace.Warnings) {
	h.settle(len(h.held))
	h.OnBatteryMS = h.settledMS
	switch {
	case h.OnBatteryMS > 0:
		h.VoltageMV = h.area / h.OnBatteryMS
	case h.Voltages > 0:
		h.VoltageMV = h.sum / float64(h.Voltages)
	}
	if h.badTimes > 0 {
		warnings.Counted(h.badLine, h.badTimes,
			"%d entry of the history, this one, has no valid time: it is left out",
			"%d entries of the history, this one first, have no valid time: they are left out")
	}
	if h.backMS > 0 {
		warnings.Addf(h.backLine, "the history's clock was set back, here first, by %v in all: times that come twice count once", milliseconds(h.backMS))
	}
}
