package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// Shift formats a shift as a share of the old value; of a ratio in percentage points; from zero, or
// of a metric that may be below it, in the metric's unit.
func Shift(m metric.Metric, shift, share float64) string {
	sign := ""
	if shift > 0 {
		sign = "+"
	}
	switch {
	case m.Ratio:
		return sign + Points(shift)
	case m.Signed, share == 0 && shift != 0:
		return sign + Value(m, shift)
	case share >= Manifold:
		return Times(share)
	}
	return Signed(share)
}

// Points formats a shift of a ratio in percentage points: "0.5 points", "0.04 points".
func Points(shift float64) string {
	v := 100 * shift
	if a := math.Abs(v); a != 0 && a < 0.05 {
		return Minus(strconv.FormatFloat(v, 'f', 2, 64)) + Unit("points")
	}
	return OneDecimal(v) + Unit("points")
}

// joules formats an energy with two or three digits: "12.4 J", "0.66 J", "34 mJ".
func joules(v float64) string {
	u := "J"
	switch a := math.Abs(v); {
	case a >= 1e7:
		return Minus(strconv.FormatFloat(v, 'g', 3, 64)) + Unit(u)
	case a != 0 && a < 0.0995:
		v, u = 1000*v, "mJ"
	}
	digits := 2
	switch a := math.Abs(v); {
	case v == 0 || a >= 99.5 || u == "mJ" && a >= 9.95:
		digits = 0
	case a >= 0.995:
		digits = 1
	}
	return Minus(strconv.FormatFloat(v, 'f', digits, 64)) + Unit(u)
}

// finePercent formats a percentage to two digits, however small it is: "0.0053 %".
func finePercent(v float64) string {
	if v == 0 {
		return "0" + Unit("%")
	}
	digits := 1 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits > 7 {
		return "under" + NBSP + "0.000001" + Unit("%")
	}
	return Minus(strconv.FormatFloat(v, 'f', max(digits, 0), 64)) + Unit("%")
}

// seconds formats a time: "9 min 58 s", "12.3 s", "1 h 2 min".
func seconds(v float64) string {
	s := math.Round(v)
	switch {
	case v < 59.95:
		return OneDecimal(v) + Unit("s")
	case s < 3600:
		return fmt.Sprintf("%.0f%s %.0f%s", math.Floor(s/60), Unit("min"), math.Mod(s, 60), Unit("s"))
	}
	minutes := min(math.Round(s/60), 1e12)
	return prose.Thousands(int(minutes)/60) + Unit("h") + fmt.Sprintf(" %d", int(minutes)%60) + Unit("min")
}

// Bytes formats an amount of data with two or three digits: "9.5 MB", "320 kB".
func Bytes(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}} {
		if v >= 0.9995*u.size {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + Unit(u.name)
		}
	}
	return strconv.FormatFloat(v/1e3, 'f', 0, 64) + Unit("kB")
}

// FileSize formats the size of a file: "1.5 MB", "320 kB", "109 bytes".
func FileSize(n int64) string {
	if n < 1000 {
		return prose.Count(int(n), "byte", "bytes")
	}
	return Bytes(float64(n))
}

// Value formats a value of a metric with its unit.
func Value(m metric.Metric, v float64) string { return amount(m.Format(v)) }

// Beside formats two values of a metric that are compared, with enough digits to show their
// difference.
func Beside(m metric.Metric, v, from float64) (string, string) {
	a, b := m.Beside(v, from)
	return amount(a), amount(b)
}

func amount(formatted string) string {
	return Minus(strings.ReplaceAll(Name(formatted), " ", NBSP))
}

// Quantity formats an amount with its unit: "12.4 J", "9 min 58 s", "16.7 ms", "9.5 MB", "70 %" for
// a ratio, "0.0053 %" for a "%", "900" for "". If signed is set it is a change: "+2.1 J", "−5 %",
// "×12".
func Quantity(v float64, of string, signed bool) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case of == "ratio" && signed:
		if v >= Manifold {
			return Times(v)
		}
		return Signed(v)
	case signed && v < 0:
		return "−" + Quantity(-v, of, false)
	case signed && v > 0:
		return "+" + Quantity(v, of, false)
	}
	switch of {
	case "J":
		return joules(v)
	case "s":
		return seconds(v)
	case "B":
		return Bytes(v)
	case "ratio":
		return Percent(v)
	case "%":
		return finePercent(v)
	case "Hz":
		return Digits(v, 0.1) + Unit(of)
	case "":
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return Minus(prose.Thousands(int(v)))
		}
		return threeDigits(v)
	}
	return threeDigits(v) + Unit(Brief(of))
}

// threeDigits formats a number with three digits, or those before the point.
func threeDigits(v float64) string {
	if v == 0 {
		return "0"
	}
	return Minus(Digits(v, math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)))
}
