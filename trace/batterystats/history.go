package batterystats

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// History is what the battery's history tells: its voltage and its charge
// counter. Times count from the history's beginning.
type History struct {
	Line    int     `json:"line,omitempty"` // 0 where the file has none
	Entries int     `json:"entries"`
	SpanMS  float64 `json:"span_ms"`
	// Voltages counts the voltages stated while the device ran on battery.
	Voltages int `json:"voltages"`
	// VoltageMV is their mean over the time on battery, each held until the
	// next; 0 where none is stated.
	VoltageMV    float64 `json:"voltage_mv,omitempty"`
	MinVoltageMV float64 `json:"min_voltage_mv,omitempty"`
	MaxVoltageMV float64 `json:"max_voltage_mv,omitempty"`
	// OnBatteryMS is the time over which the mean was taken.
	OnBatteryMS float64 `json:"on_battery_ms"`
	// FirstChargeMAh and LastChargeMAh are readings of the charge counter.
	FirstChargeMAh *float64 `json:"first_charge_mah,omitempty"`
	LastChargeMAh  *float64 `json:"last_charge_mah,omitempty"`
}

// historyReader integrates the voltage while it reads.
type historyReader struct {
	History
	now       float64 // ms
	voltage   float64 // mV, the last stated
	onBattery bool    // plug=none is in force
	off       bool    // the device was shut down
	area, sum float64 // mV × ms, and the sum of the voltages stated on battery
	badTimes  int
	badLine   int
}

func (h *historyReader) begin(line int) {
	if h.Line == 0 {
		h.Line = line
	}
	h.now, h.voltage, h.onBattery, h.off = 0, 0, false, true
}

// readText reads "+1s634ms (2) 080 c0100024 volt=4166 plug=none …". An entry can
// go on below, in lines that begin with a word.
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
	h.advance(at)
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

// readCheckin reads the fields after "9,h": a time since the entry before, which
// may bear ":RESET:TIME:…", then "Bv=4166", "Bp=n", …
func (h *historyReader) readCheckin(fields []string, line int) {
	time, event, _ := strings.Cut(fields[0], ":")
	if strings.HasPrefix(event, "RESET") || time == "*" {
		h.begin(h.Line)
	}
	delta, err := strconv.ParseUint(time, 10, 50)
	if err != nil {
		h.doubt(line)
		return
	}
	h.advance(h.now + float64(delta))
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

// advance goes to an entry's time. The clock may stand still, and may be set
// back where the history was cut.
func (h *historyReader) advance(at float64) {
	h.Entries++
	if step := at - h.now; step > 0 && !h.off && h.onBattery && h.voltage > 0 {
		h.area += h.voltage * step
		h.OnBatteryMS += step
	}
	h.off = false
	h.now = at
	h.SpanMS = max(h.SpanMS, at)
}

// doubt counts an entry that can't be placed in time.
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

// count takes a voltage into account, once the entry has been read whole.
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
	switch {
	case h.OnBatteryMS > 0:
		h.VoltageMV = h.area / h.OnBatteryMS
	case h.Voltages > 0:
		h.VoltageMV = h.sum / float64(h.Voltages)
	}
	if h.badTimes > 0 {
		warnings.Addf(h.badLine, "%d entries of the history, this one first, have no time that can be read: they are left out", h.badTimes)
	}
}
