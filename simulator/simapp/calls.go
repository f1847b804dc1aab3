package simapp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Calls is a method that the app calls on its UI thread after certain events.
type Calls struct {
	Method string
	Self   time.Duration // of each call, apart from what it calls
	After  []string      // events
	Times  int           // for each call of From
	From   string        // the calling method, which Calls of the same events has; "": the system
	Kind   Code
	Waits  bool      // it sleeps, and uses no CPU time
	When   Condition // the phones and networks that it applies to
}

// Inlined is a Java method whose code is compiled into its caller's: compiled code has no entry
// into it.
const Inlined Code = "inlined"

var calledCodes = []Code{Java, Interpreted, Native, Inlined}

// MaxCalls limits the calls after one event.
const MaxCalls = 200_000

// calls parses METHOD SELF after EVENT,… [times N] [from METHOD] [kind KIND] [when CONDITION] [waits].
func (p *parser) calls(w []string) (err error) {
	if len(w) < 4 {
		return errors.New("want a method, the time of its own code in each call, and the events, such as com.example.Feed.bind 12ms after scroll")
	}
	c := Calls{Times: 1, Kind: Java}
	if w[len(w)-1] == "waits" {
		c.Waits, w = true, w[:len(w)-1]
	}
	if c.Method, err = methodName(w[0]); err != nil {
		return err
	}
	if c.Self, err = shortTime(w[1]); err != nil {
		return err
	}
	err = eachPair(w[2:], func(key, value string) (err error) {
		switch key {
		case "after":
			c.After, err = names(value)
		case "times":
			c.Times, err = number(value, 1, MaxCalls)
		case "from":
			c.From, err = methodName(value)
		case "kind":
			if c.Kind = Code(value); !slices.Contains(calledCodes, c.Kind) {
				err = fmt.Errorf("%q is not one of %v", prose.Short(value), calledCodes)
			}
		case "when":
			c.When, err = condition(value)
		default:
			err = errors.New("not one of after, times, from, kind, when")
		}
		return err
	})
	if err == nil && len(c.After) == 0 {
		err = errNoEvent
	}
	p.app.Calls = append(p.app.Calls, c)
	return errors.Join(err, p.countRule())
}

// Called is one method in the tree of calls after an event.
type Called struct {
	*Calls
	Inner []Called
}

// CallsAfter returns the calls after an event, in the file's order.
func (a *App) CallsAfter(event string, here Context) []Called { return a.calledFrom("", event, here) }

func (a *App) calledFrom(caller, event string, here Context) (out []Called) {
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.From == caller && slices.Contains(c.After, event) && c.When.Holds(here) {
			out = append(out, Called{c, a.calledFrom(c.Method, event, here)})
		}
	}
	return out
}

// Count returns how many calls the tree has, and the time of all.
func Count(tree []Called) (calls int, total time.Duration) {
	for _, c := range tree {
		inner, within := Count(c.Inner)
		calls += c.Times * (1 + inner)
		total += time.Duration(c.Times) * (c.Self + within)
	}
	return calls, total
}

// checkCalls validates the tree of calls after each event.
func (a *App) checkCalls() error {
	for i := range a.Calls {
		c := &a.Calls[i]
		if err := a.checkEvents("calls", c.After); err != nil {
			return err
		}
		for _, event := range c.After {
			if c.From != "" && !slices.ContainsFunc(a.Calls, func(o Calls) bool { return o.Method == c.From && slices.Contains(o.After, event) }) {
				return fmt.Errorf("calls %s from %s after %s: there are no such calls after that event", c.Method, c.From, event)
			}
		}
	}
	for _, event := range a.eventNames() {
		if err := (&callsCheck{app: a, event: event}).under("", 1, 0); err != nil {
			return fmt.Errorf("calls after %s: %w", event, err)
		}
	}
	return nil
}

// callsCheck adds up the calls after an event.
type callsCheck struct {
	app   *App
	event string
	calls int
	total time.Duration
}

// under adds the calls that a method makes, which is called so many times.
func (k *callsCheck) under(caller string, times, depth int) error {
	const deepest = 100
	if depth > deepest {
		return fmt.Errorf("%s calls itself in the end, or is more than %d calls deep", caller, deepest)
	}
	for i := range k.app.Calls {
		c := &k.app.Calls[i]
		if c.From != caller || !slices.Contains(c.After, k.event) {
			continue
		}
		n := times * c.Times
		k.calls, k.total = k.calls+n, k.total+time.Duration(min(n, MaxCalls))*c.Self
		if k.calls > MaxCalls || k.total > time.Minute {
			return fmt.Errorf("more than %d calls, or more than a minute", MaxCalls)
		}
		if err := k.under(c.Method, n, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// eventNames returns the events after which something is called.
func (a *App) eventNames() (out []string) {
	for i := range a.Calls {
		for _, e := range a.Calls[i].After {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// sampledCalls adds the called methods to those that a sampling recorder names: the code of an
// inlined one is its caller's.
func (a *App) sampledCalls() {
	for _, c := range a.Calls {
		if c.Kind == Inlined || len(a.Power.Methods) == MaxMethods || a.Power.Method(c.Method) >= 0 {
			continue
		}
		a.Power.Methods = append(a.Power.Methods, Method{Name: c.Method, Power: 1, From: a.CompiledCaller(c), Kind: c.Kind})
	}
}

// CompiledCaller returns the nearest caller that has code of its own, "" for the system.
func (a *App) CompiledCaller(c Calls) string {
	for range a.Calls {
		i := slices.IndexFunc(a.Calls, func(o Calls) bool { return o.Method == c.From })
		if i < 0 {
			return ""
		}
		if c = a.Calls[i]; c.Kind != Inlined {
			return c.Method
		}
	}
	return ""
}
