package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// speeds and delays are the emulator's named values, in kbit/s up and down and in ms
// (ANDROID_NETWORK_LIST_MODES of its network/constants.h).
var (
	speeds = map[string][2]float64{
		"gsm": {14.4, 14.4}, "hscsd": {14.4, 57.6}, "gprs": {28.8, 57.6}, "umts": {384, 384}, "edge": {473.6, 473.6},
		"hsdpa": {5760, 13980}, "lte": {58000, 173000}, "evdo": {75000, 280000}, "5g": {0, 0}, "full": {0, 0},
	}
	delays = map[string][2]float64{
		"gsm": {150, 550}, "hscsd": {80, 400}, "gprs": {35, 200}, "umts": {35, 200}, "edge": {80, 400},
		"hsdpa": {0, 0}, "lte": {0, 0}, "evdo": {0, 0}, "5g": {0, 0}, "none": {0, 0},
	}
)

// pair parses a name, a number for both, or two numbers with a colon
// (android_network_speed_parse). Text after a number is ignored, as by strtod.
func pair(named map[string][2]float64, text string) (two [2]float64, ok bool) {
	if two, ok = named[text]; ok {
		return two, true
	}
	first, rest, _ := strings.Cut(text, ":")
	n, ok := number(first)
	if !ok {
		return two, false
	}
	two = [2]float64{n, n}
	if m, ok := number(rest); ok {
		two[1] = m
	}
	return two, true
}

// number parses the number that a text begins with.
func number(text string) (float64, bool) {
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	return n, err == nil
}

func (c *client) status(string) (string, string) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	n := c.e.network
	return fmt.Sprintf("Current network status:\n"+
		"  download speed:   %8d bits/s (%.1f KB/s)\n  upload speed:     %8d bits/s (%.1f KB/s)\n"+
		"  minimum latency:  %d ms\n  maximum latency:  %d ms\n",
		int64(n.Down), n.Down/8192, int64(n.Up), n.Up/8192, n.Least.Milliseconds(), n.Most.Milliseconds()), ""
}

func (c *client) speed(args string) (string, string) {
	two, ok := pair(speeds, args)
	switch {
	case args == "":
		return "", "missing <speed> argument, see 'help network speed'"
	case !ok:
		return "", "invalid <speed> argument, see 'help network speed' for valid values"
	}
	c.e.change(func(n *Network) { n.Up, n.Down = two[0]*1000, two[1]*1000 })
	return "", ""
}

func (c *client) delay(args string) (string, string) {
	two, ok := pair(delays, args)
	switch {
	case args == "":
		return "", "missing <delay> argument, see 'help network delay'"
	case !ok:
		return "", "invalid <delay> argument, see 'help network delay' for valid values"
	}
	c.e.change(func(n *Network) {
		n.Least, n.Most = time.Duration(int(two[0]))*time.Millisecond, time.Duration(int(two[1]))*time.Millisecond
	})
	return "", ""
}

func (e *Emulator) change(what func(*Network)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	what(&e.network)
	if e.OnNetwork != nil {
		e.OnNetwork(e.network)
	}
}

func (c *client) display(string) (string, string) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	b := c.e.battery
	ac := map[bool]string{true: "online", false: "offline"}[b.AC]
	return fmt.Sprintf("AC: %s\nstatus: %s\nhealth: %s\npresent: %t\ncapacity: %d\n", ac, b.Status, b.Health, b.Present, b.Capacity), ""
}

func (c *client) ac(args string) (string, string) {
	plugged := strings.EqualFold(args, "on")
	if !plugged && !strings.EqualFold(args, "off") {
		return "", `Usage: "ac on" or "ac off"`
	}
	c.e.charge(func(b *Battery) { b.AC = plugged })
	return "", ""
}

func (c *client) charge(args string) (string, string) {
	status := map[string]string{
		"unknown": "Unknown", "charging": "Charging", "discharging": "Discharging", "not-charging": "Not charging", "full": "Full",
	}[strings.ToLower(args)]
	if status == "" {
		return "", `Usage: "status unknown|charging|discharging|not-charging|full"`
	}
	c.e.charge(func(b *Battery) { b.Status = status })
	return "", ""
}

func (c *client) capacity(args string) (string, string) {
	percent, err := strconv.Atoi(args)
	if err != nil || percent < 0 || percent > 100 {
		return "", `Usage: "capacity <percentage>"`
	}
	c.e.charge(func(b *Battery) { b.Capacity = percent })
	return "", ""
}

func (e *Emulator) charge(what func(*Battery)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	what(&e.battery)
	if e.OnBattery != nil {
		e.OnBattery(e.battery)
	}
}
