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
	longest   float64 // ms, of the histories before this one
	voltage   float64 // mV, the last stated
	onBattery bool    // plug=none is in force
	off       bool    // the device was shut down
	held      []held  // in the order of time
	area, sum float64 // mV × ms of what is no longer in held; the sum of the voltages stated on battery
	settledMS float64 // the time of that area
	badTimes  int
	badLine   int
	backMS    float64 // by how much the clock was set back in all
	backLine  int     // where first
}

// held is a voltage on battery and the time that it was held for, in ms.
type held struct{ from, to, mv float64 }

// maxHeld bounds what a clock that is set back can undo.
const maxHeld = 100_000

func (h *historyReader) begin(line int) {
	if h.Line == 0 {
		h.Line = line
	}
	h.settle(len(h.held))
	h.longest = h.SpanMS
	h.now, h.voltage, h.onBattery, h.off = 0, 0, false, true
}

// settle adds up the first n voltages that were held.
func (h *historyReader) settle(n int) {
	for _, v := range h.held[:n] {
		h.area += v.mv * (v.to - v.from)
		h.settledMS += v.to - v.from
	}
	h.held = append(h.held[:0], h.held[n:]...)
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

// readCheckin reads the fields after "9,h": a time since the entry before, which
// may bear ":RESET:TIME:…", then "Bv=4166", "Bp=n", …
func (h *historyReader) readCheckin(fields []string, line int) {
	time, event, _ := strings.Cut(fields[0], ":")
	if strings.HasPrefix(event, "RESET") || time == "*" {
		h.begin(h.Line)
	}
	delta, err := strconv.ParseInt(time, 10, 50) // below 0 where the clock was set back
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

// advance goes to an entry's time. The clock may stand still, and may be set back:
// then the same times come again, and count as they are told last.
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

// usualBackMS is how far back the clock goes without being set: entries of some
// devices stand a little out of order.
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

// hold notes the voltage from now until then.
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

// undo takes back what was held after a time.
func (h *historyReader) undo(after float64) {
	for n := len(h.held); n > 0 && h.held[n-1].to > after; n-- {
		if h.held[n-1].from < after {
			h.held[n-1].to = after
			return
		}
		h.held = h.held[:n-1]
	}
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
			"%d entry of the history, this one, has no time that can be read: it is left out",
			"%d entries of the history, this one first, have no time that can be read: they are left out")
	}
	if h.backMS > 0 {
		warnings.Addf(h.backLine, "the history's clock was set back, here first, by %v in all: times that come twice count once", milliseconds(h.backMS))
	}
}
