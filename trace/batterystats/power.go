package batterystats

import (
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// readPower parses a line below "Estimated power use (mAh)" and returns what is wrong with it. Up
// to Android 11:
//
//	Screen: 25.0 Excluded from smearing
//	Uid u0a248: 0.639 ( cpu=0.618 wifi=0.0217 ) Including smearing: …
//
// and since Android 12:
//
//	screen: 1070 apps: 1070 duration: 6h 41m 25s 854ms
//	UID u0a385: 1770 fg: 1033 bg: 0.378 ( screen=599 (3h 49m 39s 676ms) … )
func (p *Period) readPower(text string) string {
	key, value, found := strings.Cut(text, ":")
	if !found || strings.HasPrefix(text, "(") {
		return "" // "Global", and the states that Android 15 splits by
	}
	value = strings.TrimSpace(value)
	if key == "Capacity" {
		return p.readDrain(value)
	}
	mah, rest, ok := cutNumber(value)
	if !ok {
		return "does not begin with a charge"
	}
	if len(key) > 4 && strings.EqualFold(key[:4], "uid ") {
		id, ok := ParseUID(key[4:])
		if !ok {
			return "names no UID"
		}
		if u := p.uid(id); u != nil {
			stateIn(u.Stated, "power_mah", mah)
			u.readParts(rest)
		}
		return ""
	}
	c := Component{Name: trace.Name(strings.ToLower(key)), PowerMAh: mah}
	if _, after, found := strings.Cut(rest, "apps: "); found {
		if v, _, ok := cutNumber(after); ok {
			c.AppsMAh = &v
		}
	}
	if _, after, found := strings.Cut(rest, "duration: "); found {
		if v, _, ok := cutDuration(after); ok {
			c.DurationMS = &v
		}
	}
	p.addComponent(c)
	return ""
}

// readDrain parses "5661, Computed drain: 5500, actual drain: 5208-5604".
func (p *Period) readDrain(value string) string {
	capacity, rest, ok := cutNumber(value)
	if !ok {
		return "does not begin with a charge"
	}
	p.state("capacity_profile_mah", capacity)
	_, after, found := strings.Cut(rest, "Computed drain: ")
	computed, rest, ok := cutNumber(after)
	if !found || !ok {
		return "states no computed drain"
	}
	p.state("computed_mah", computed)
	_, after, _ = strings.Cut(rest, "actual drain: ")
	low, rest, ok := cutNumber(after)
	if !ok {
		return ""
	}
	high := low
	if v, _, ok := cutNumber(strings.TrimPrefix(rest, "-")); ok {
		high = v
	}
	p.state("actual_min_mah", low)
	p.state("actual_max_mah", high)
	return ""
}

// readParts parses the text after a UID's charge: states of its processes, then its components
// between parentheses.
func (u *UID) readParts(text string) {
	states, parts, _ := strings.Cut(text, "( ")
	words := strings.Fields(states)
	for i := 0; i+1 < len(words); i += 2 {
		name, isState := strings.CutSuffix(words[i], ":")
		v, ok := parseNumber(words[i+1])
		if !isState || !ok || len(u.Stated) >= maxParts {
			break
		}
		stateIn(u.Stated, "power_"+trace.Name(name)+"_mah", v)
	}
	for word := range strings.FieldsSeq(parts) {
		if word == ")" {
			_, smeared, found := strings.Cut(parts, "Including smearing: ")
			if v, _, ok := cutNumber(smeared); found && ok {
				stateIn(u.Stated, "power_smeared_mah", v)
			}
			return
		}
		name, value, found := strings.Cut(word, "=")
		v, ok := parseNumber(value)
		if !found || !ok || len(u.PartsMAh) == maxParts {
			continue // a time in parentheses
		}
		if u.PartsMAh == nil {
			u.PartsMAh = map[string]float64{}
		}
		stateIn(u.PartsMAh, trace.Name(name), v)
	}
}
