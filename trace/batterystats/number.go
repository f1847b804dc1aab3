package batterystats

import (
	"math"
	"strconv"
	"strings"
)

// maxNumber limits every quantity: 10^15 ms are 30,000 years.
const maxNumber = 1e15

// parseNumber parses a decimal number that is not negative; some devices write it with the decimal
// comma of their locale.
func parseNumber(s string) (float64, bool) {
	if len(s) == 0 || len(s) > 40 || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v) && v >= 0 && v <= maxNumber
}

// cutNumber parses the number at the beginning of s, and returns the text after it.
func cutNumber(s string) (float64, string, bool) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || s[end] == ',') {
		end++
	}
	// "5500, actual drain": the comma ends the number.
	digits := strings.TrimRight(s[:end], ".,")
	v, ok := parseNumber(digits)
	return v, s[len(digits):], ok
}

// cutDuration parses the time in ms at the beginning of s, and returns the text after it: "3h 1m
// 38s 908ms", "+31s442ms", "0".
func cutDuration(s string) (float64, string, bool) {
	units := []struct {
		name string
		ms   float64
	}{{"d", 86_400_000}, {"h", 3_600_000}, {"ms", 1}, {"m", 60_000}, {"s", 1000}}
	rest := strings.TrimPrefix(s, "+")
	total, smallest := 0.0, math.Inf(1)
	for {
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 15 {
			return 0, s, false
		}
		v, _ := strconv.ParseFloat(rest[:digits], 64)
		rest = rest[digits:]
		if v == 0 && math.IsInf(smallest, 1) && (rest == "" || rest[0] == ' ') {
			return 0, rest, true // the history's first entries
		}
		unit := 0.0
		for _, u := range units {
			if after, ok := strings.CutPrefix(rest, u.name); ok {
				unit, rest = u.ms, after
				break
			}
		}
		total += v * unit
		if unit == 0 || unit >= smallest || total > maxNumber {
			return 0, s, false
		}
		smallest = unit
		if unit == 1 {
			return total, rest, true
		}
		rest = strings.TrimPrefix(rest, " ")
	}
}

// cutBytes parses a number of bytes, "688.33MB", and returns the text after it. The text is rounded
// to a hundredth of the unit, with a factor of 1024.
func cutBytes(s string) (float64, string, bool) {
	v, rest, ok := cutNumber(s)
	if !ok {
		return 0, s, false
	}
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}} {
		if after, found := strings.CutPrefix(rest, u.name); found {
			return v * u.bytes, after, v*u.bytes <= maxNumber
		}
	}
	return 0, s, false
}
