package simapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

func (p *parser) version(w []string) (err error) {
	if len(w) < 1 || len(w) > 2 {
		return errors.New("want a version name and perhaps its code")
	}
	if p.app.Version, err = word(w[0]); err != nil || len(w) == 1 {
		return err
	}
	p.app.VersionCode, err = number(w[1], 1, 1<<31-1)
	return err
}

func (p *parser) events(w []string) error {
	if len(w) != 1 || (w[0] != "log" && w[0] != "silent") {
		return errors.New("want log or silent")
	}
	p.app.Silent = w[0] == "silent"
	return nil
}

func (p *parser) incomplete(w []string) error {
	if len(w) > 0 {
		return errors.New("want nothing behind it")
	}
	p.app.NeedsSplits = true
	return nil
}

func (p *parser) surface(w []string) error {
	if len(w) > 0 {
		return errors.New("want nothing behind it")
	}
	p.app.Surface = true
	return nil
}

func (p *parser) noise(w []string) error {
	n := &p.app.Noise
	return eachPair(w, func(key, value string) (err error) {
		switch key {
		case "session":
			n.Session, err = share(value)
		case "repetition":
			n.Repetition, err = share(value)
		case "frame":
			n.Frame, err = share(value)
		case "tail":
			chance, times, ok := strings.Cut(value, "x")
			if n.Tail, err = share(chance); ok && err == nil {
				n.TailFactor, err = factor("x" + times)
			}
		case "phone":
			n.Phone, err = factor(value)
		default:
			err = errors.New("not one of session, repetition, frame, tail, phone")
		}
		return err
	})
}

// lagValue parses 60ms@4%: a duration and its probability.
func lagValue(s string) (Lag, error) {
	long, chance, ok := strings.Cut(s, "@")
	if !ok {
		return Lag{}, fmt.Errorf("%q is not a duration and a chance such as 60ms@4%%", prose.Short(s))
	}
	c, err := share(chance)
	if err != nil {
		return Lag{}, err
	}
	d, err := shortTime(long)
	return Lag{Chance: c, For: d}, err
}

func (p *parser) lag(w []string) error { return one(w, &p.app.Lag, lagValue) }

func (p *parser) network(w []string) error {
	if len(w) == 0 {
		return errors.New("want the network's name")
	}
	id, err := word(w[0])
	if err != nil {
		return err
	}
	n := Network{Spread: 0.3}
	err = eachPair(w[1:], func(key, value string) (err error) {
		switch key {
		case "delay":
			n.Delay, err = shortTime(value)
		case "spread":
			n.Spread, err = share(value)
		case "lag":
			n.Lag, err = lagValue(value)
		default:
			err = errors.New("not one of delay, spread, lag")
		}
		return err
	})
	p.app.Networks[id] = n
	return errors.Join(err, p.countRule())
}

func (p *parser) slow(w []string) (err error) {
	if len(w) < 2 {
		return errors.New("want a condition and a factor, such as sdk>=5.0 x18")
	}
	var s Slow
	if s.When, err = condition(w[0]); err != nil {
		return err
	}
	if s.Factor, err = factor(w[1]); err != nil {
		return err
	}
	err = eachPair(w[2:], func(key, value string) (err error) {
		if key != "after" {
			return errors.New("not after")
		}
		s.After, err = names(value)
		return err
	})
	p.app.Slow = append(p.app.Slow, s)
	return errors.Join(err, p.countRule())
}

func (p *parser) jank(w []string) (err error) {
	if len(w) < 3 {
		return errors.New("want a duration and the events, such as 350ms after scroll")
	}
	var j Jank
	if j.For, err = shortTime(w[0]); err != nil {
		return err
	}
	err = eachPair(w[1:], func(key, value string) (err error) {
		switch key {
		case "after":
			j.After, err = names(value)
		case "recover":
			j.Recover, err = share(value)
		default:
			err = errors.New("not one of after, recover")
		}
		return err
	})
	p.app.Janks = append(p.app.Janks, j)
	return errors.Join(err, p.countRule())
}

func (p *parser) fault(w []string) error {
	f, err := ParseFault(strings.Join(w, " "))
	p.app.Faults = append(p.app.Faults, f)
	return errors.Join(err, p.countRule())
}

// permission parses NAME.
func (p *parser) permission(w []string) error {
	var name string
	if err := one(w, &name, packageName); err != nil {
		return err
	}
	p.app.Permissions = append(p.app.Permissions, name)
	return p.countRule()
}

func (p *parser) test(w []string) error {
	if len(w) != 2 {
		return errors.New("want a test class, perhaps with #method, and a scenario")
	}
	class, method, _ := strings.Cut(w[0], "#")
	_, err1 := className(class)
	_, err2 := word(w[1])
	if method != "" {
		_, err := className(method)
		err1 = errors.Join(err1, err)
	} else {
		method = "plays"
	}
	p.app.TestCases = append(p.app.TestCases, TestCase{Class: class, Method: method, Scenario: w[1]})
	return errors.Join(err1, err2, p.countRule())
}

// maxIterations limits how often a Macrobenchmark starts the app.
const maxIterations = 100

// benchmark parses CLASS#METHOD MODE ITERATIONS.
func (p *parser) benchmark(w []string) (err error) {
	if len(w) != 3 || !slices.Contains([]string{"cold", "warm", "hot", "crash"}, w[1]) {
		return errors.New("want CLASS#METHOD, one of cold, warm, hot, crash, and how often")
	}
	class, method, _ := strings.Cut(w[0], "#")
	_, err1 := className(class)
	_, err2 := className(method)
	t := TestCase{Class: class, Method: method, Mode: w[1]}
	t.Iterations, err = number(w[2], 1, maxIterations)
	p.app.TestCases = append(p.app.TestCases, t)
	return errors.Join(err1, err2, err, p.countRule())
}

func (p *parser) countRule() error {
	if p.rules++; p.rules > MaxRules {
		return fmt.Errorf("more than %d rules", MaxRules)
	}
	return nil
}

func (p *parser) scenario(w []string) (err error) {
	if len(w) != 2 {
		return errors.New("want a name and a duration")
	}
	var s Scenario
	if s.Name, err = word(w[0]); err != nil {
		return err
	}
	if s.Duration, err = duration(w[1], MaxDuration); err != nil {
		return err
	}
	if _, taken := p.app.Scenario(s.Name); taken {
		return fmt.Errorf("scenario %q is there twice", s.Name)
	}
	if len(p.app.Scenarios) == MaxScenarios {
		return fmt.Errorf("more than %d scenarios", MaxScenarios)
	}
	p.app.Scenarios = append(p.app.Scenarios, s)
	return nil
}

func (p *parser) current() (*Scenario, error) {
	if len(p.app.Scenarios) == 0 {
		return nil, errors.New("this belongs below a scenario")
	}
	return &p.app.Scenarios[len(p.app.Scenarios)-1], nil
}

func (p *parser) start(w []string) error {
	s, err := p.current()
	if err != nil {
		return err
	}
	return one(w, &s.Start, frames)
}

// event parses TIME NAME FRAMES [opens [for DURATION]] [loads].
func (p *parser) event(w []string) error {
	s, err := p.current()
	if err != nil {
		return err
	}
	if len(w) < 3 {
		return errors.New("want a time, an event's name and a number of frames")
	}
	var e Event
	if e.At, err = duration(w[0], MaxDuration); err != nil {
		return err
	}
	if e.Name, err = name("an event's name", w[1]); err != nil {
		return err
	}
	if e.Frames, err = frames(w[2]); err != nil {
		return err
	}
	if err := e.flags(w[3:]); err != nil {
		return err
	}
	return s.add(e)
}

// flags parses the words after an event's frames.
func (e *Event) flags(w []string) (err error) {
	for i := 0; i < len(w); i++ {
		switch {
		case w[i] == "opens":
			e.Opens = true
		case w[i] == "loads":
			e.Loads = true
		case w[i] == "for" && i > 0 && w[i-1] == "opens" && i+1 < len(w):
			i++
			if e.Life, err = duration(w[i], MaxDuration); err != nil {
				return err
			}
			if e.Life == 0 {
				return errors.New("a window that opens for 0s is never there")
			}
		default:
			return fmt.Errorf("%q is not one of opens, opens for DURATION, loads", prose.Short(w[i]))
		}
	}
	return nil
}

func (s *Scenario) add(e Event) error {
	before := time.Duration(0)
	if n := len(s.Events); n > 0 {
		before = s.Events[n-1].At
	}
	switch {
	case len(s.Events) == MaxEvents:
		return fmt.Errorf("more than %d events", MaxEvents)
	case e.At < before:
		return fmt.Errorf("event %q at %v is after one at %v; want them in order", e.Name, e.At, before)
	case e.At > s.Duration:
		return fmt.Errorf("event %q at %v is after the scenario's end at %v", e.Name, e.At, s.Duration)
	}
	s.Events = append(s.Events, e)
	return nil
}

// check validates references across the whole file.
func (p *parser) check() error {
	a := p.app
	if a.Package == "" {
		return errors.New("the file names no package")
	}
	for _, t := range a.TestCases {
		if t.Iterations > 0 && a.Tests == "" {
			return fmt.Errorf("benchmark %s: the file tests no package", t.Class)
		}
		if _, ok := a.Scenario(t.Scenario); !ok && a.Tests == "" {
			return fmt.Errorf("test %s: there is no scenario %q", t.Class, t.Scenario)
		}
	}
	if err := a.Power.check(); err != nil {
		return err
	}
	if err := a.checkTasks(); len(a.Scenarios) > 0 && err != nil {
		return err
	}
	if len(a.Scenarios) == 0 {
		return nil // a test APK, or an app that only responds to touches
	}
	for _, s := range a.Slow {
		if err := a.checkEvents("slow", s.After); err != nil {
			return err
		}
	}
	for _, j := range a.Janks {
		if err := a.checkEvents("jank", j.After); err != nil {
			return err
		}
	}
	for _, c := range a.Causes {
		if err := a.checkEvents(string(c.Kind), c.After); err != nil {
			return err
		}
	}
	if err := a.checkCalls(); err != nil {
		return err
	}
	for _, e := range a.Power.events() {
		if err := a.checkEvents(e.rule, []string{e.name}); err != nil {
			return err
		}
	}
	for _, f := range a.Faults {
		if f.After != "" {
			if err := a.checkEvents("fault", []string{f.After}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *App) checkEvents(rule string, events []string) error {
	for _, e := range events {
		known := slices.ContainsFunc(a.Scenarios, func(s Scenario) bool {
			return slices.ContainsFunc(s.Events, func(se Event) bool { return se.Name == e })
		})
		if !known {
			return fmt.Errorf("%s after %q: no scenario has that event", rule, e)
		}
	}
	return nil
}
