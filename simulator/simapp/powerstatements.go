package simapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// powerStatements are the statements that affect power, compilation, dumps of views, or what runs
// apart from frames.
var powerStatements = map[string]func(p *parser, words []string) error{
	"layers":             (*parser).layers,
	"frame-calls":        func(p *parser, w []string) error { return one(w, &p.app.FrameCalls, frameCalls) },
	"method":             (*parser).method,
	"load":               (*parser).load,
	"traffic":            (*parser).traffic,
	"wakelock":           (*parser).wakelock,
	"uses":               (*parser).uses,
	"sensor":             (*parser).sensor,
	"screen-off":         (*parser).screenOff,
	"debuggable":         func(p *parser, w []string) error { return flag(w, &p.app.Power.Debuggable) },
	"allocates":          func(p *parser, w []string) error { return one(w, &p.app.AllocatesKB, kilobytes) },
	"no-profile":         func(p *parser, w []string) error { return flag(w, &p.app.NoProfile) },
	"unit":               (*parser).unit,
	"task":               (*parser).task,
	"registers-perfetto": func(p *parser, w []string) error { return flag(w, &p.app.Power.RegistersPerfetto) },
	"unprofileable":      func(p *parser, w []string) error { return flag(w, &p.app.Power.Unprofileable) },
}

// plain returns a file without the lines of powerStatements.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 0 && powerStatements[words[0]] != nil {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

func flag(w []string, to *bool) error {
	if len(w) > 0 {
		return fmt.Errorf("want nothing behind it, have %d words", len(w))
	}
	*to = true
	return nil
}

// method parses NAME SHARE|jank [power xF] [from CALLER] [kind KIND].
func (p *parser) method(w []string) (err error) {
	if len(w) < 2 {
		return errors.New("want a name and a share of the busy time, or the word jank")
	}
	m := Method{Power: 1, Kind: Java}
	if m.Name, err = methodName(w[0]); err != nil {
		return err
	}
	if m.Jank = w[1] == "jank"; !m.Jank {
		if m.Share, err = share(w[1]); err != nil {
			return err
		}
	}
	err = eachPair(w[2:], func(key, value string) (err error) {
		switch key {
		case "power":
			m.Power, err = factor(value)
		case "from":
			m.From, err = methodName(value)
		case "kind":
			if m.Kind = Code(value); !slices.Contains(codes, m.Kind) {
				err = fmt.Errorf("%q is not one of %v", prose.Short(value), codes)
			}
		default:
			err = errors.New("not one of power, from, kind")
		}
		return err
	})
	if len(p.app.Power.Methods) == MaxMethods {
		return fmt.Errorf("more than %d methods", MaxMethods)
	}
	p.app.Power.Methods = append(p.app.Power.Methods, m)
	return err
}

func frameCalls(s string) (int, error) { return number(s, 0, 10_000) }

func methodName(s string) (string, error) { return match(methodPattern, "a method's name", s) }

var errNoEvent = errors.New("it names no event: want after EVENT")

// load parses CPUTIME after EVENT,… [in METHOD].
func (p *parser) load(w []string) (err error) {
	var l Load
	if len(w) < 3 {
		return errors.New("want a CPU time and the events, such as 350ms after scroll")
	}
	if l.For, err = shortTime(w[0]); err != nil {
		return err
	}
	err = eachPair(w[1:], func(key, value string) (err error) {
		switch key {
		case "after":
			l.After, err = names(value)
		case "in":
			l.In, err = methodName(value)
		default:
			err = errors.New("not one of after, in")
		}
		return err
	})
	if err == nil && len(l.After) == 0 {
		err = errNoEvent
	}
	p.app.Power.Loads = append(p.app.Power.Loads, l)
	return errors.Join(err, p.countRule())
}

// traffic parses KB after EVENT,… [sent KB].
func (p *parser) traffic(w []string) (err error) {
	var t Traffic
	if len(w) < 3 {
		return errors.New("want kilobytes and the events, such as 120 after open-message")
	}
	if t.KB, err = kilobytes(w[0]); err != nil {
		return err
	}
	err = eachPair(w[1:], func(key, value string) (err error) {
		switch key {
		case "after":
			t.After, err = names(value)
		case "sent":
			t.SentKB, err = kilobytes(value)
		default:
			err = errors.New("not one of after, sent")
		}
		return err
	})
	if err == nil && len(t.After) == 0 {
		err = errNoEvent
	}
	p.app.Power.Traffic = append(p.app.Power.Traffic, t)
	return errors.Join(err, p.countRule())
}

// wakelock parses NAME from EVENT for D.
func (p *parser) wakelock(w []string) error {
	if len(w) != 5 {
		return errors.New("want a name, from EVENT and for DURATION")
	}
	id, err := word(w[0])
	if err != nil {
		return err
	}
	return p.hold(Hold{Part: "wakelock", Wakelock: id}, w[1:])
}

// uses parses PART from EVENT for D.
func (p *parser) uses(w []string) error {
	if len(w) != 5 || !slices.Contains(HeldParts, w[0]) {
		return fmt.Errorf("want one of %s, from EVENT and for DURATION", strings.Join(HeldParts, ", "))
	}
	return p.hold(Hold{Part: w[0]}, w[1:])
}

// sensor parses NAME from EVENT for D.
func (p *parser) sensor(w []string) error {
	if len(w) != 5 || !slices.Contains(Sensors, w[0]) {
		return fmt.Errorf("want one of %s, from EVENT and for DURATION", strings.Join(Sensors, ", "))
	}
	return p.hold(Hold{Part: "sensor", Sensor: w[0]}, w[1:])
}

func (p *parser) hold(h Hold, w []string) (err error) {
	h.Period, err = period(w)
	p.app.Power.Holds = append(p.app.Power.Holds, h)
	return errors.Join(err, p.countRule())
}

// screenOff parses from EVENT for D.
func (p *parser) screenOff(w []string) error {
	d, err := period(w)
	p.app.Power.ScreenOff = append(p.app.Power.ScreenOff, d)
	return errors.Join(err, p.countRule())
}

func period(w []string) (d Period, err error) {
	err = eachPair(w, func(key, value string) (err error) {
		switch key {
		case "from":
			d.After, err = name("an event's name", value)
		case "for":
			d.For, err = duration(value, MaxDuration)
		default:
			err = errors.New("not one of from, for")
		}
		return err
	})
	if err == nil && (d.After == "" || d.For == 0) {
		err = errors.New("want from EVENT and for DURATION")
	}
	return d, err
}
