package simapp

import (
	"errors"
	"strings"
	"time"
)

// Launch is the unusual properties of an app's start.
type Launch struct {
	Through    string        // the launcher's activity, which shows nothing and starts Activity; "": the launcher starts Activity
	Second     string        // another activity that the launcher shows
	Revived    time.Duration // after which a stopped process restarts; 0: never
	Forgotten  time.Duration // after which an invisible process is killed; 0: never
	Relaunched float64       // the probability that a returning activity is recreated
	Undrawn    int           // from this start on it no longer reports fully drawn; 0: always
	DrawnOnce  bool          // each of its processes reports it only once
	Logged     time.Duration // the delay of the log line for displayed
	Early      time.Duration // by which the system considers the windows as drawn too early
	Late       time.Duration // or too late
}

// launch parses KEY VALUE pairs.
func (p *parser) launch(w []string) error {
	l := &p.app.Launch
	return eachPair(w, func(key, value string) (err error) {
		switch key {
		case "through":
			l.Through, err = className(value)
		case "second":
			l.Second, err = className(value)
		case "revived":
			l.Revived, err = shortTime(value)
		case "forgotten":
			l.Forgotten, err = shortTime(value)
		case "relaunched":
			l.Relaunched, err = share(value)
		case "undrawn":
			if l.DrawnOnce = value == "again"; l.DrawnOnce {
				return nil
			}
			l.Undrawn, err = number(value, 1, MaxRules)
		case "logged":
			l.Logged, err = shortTime(value)
		case "early":
			l.Early, err = shortTime(value)
		case "late":
			l.Late, err = shortTime(value)
		default:
			err = errors.New("not one of through, second, revived, forgotten, relaunched, undrawn, logged, early, late")
		}
		return err
	})
}

// HasActivity reports whether the app has an activity of that class, which may begin with a
// dot.
func (a *App) HasActivity(class string) bool {
	for _, own := range []string{a.Activity, a.Launch.Through, a.Launch.Second} {
		if own != "" && a.whole(class) == a.whole(own) {
			return true
		}
	}
	return false
}

// Launchers returns the components that the launcher shows.
func (a *App) Launchers() []string {
	out := []string{a.Component()}
	if a.Launch.Through != "" {
		out[0] = a.Package + "/" + a.Launch.Through
	}
	if a.Launch.Second != "" {
		out = append(out, a.Package+"/"+a.Launch.Second)
	}
	return out
}

// whole returns a class's full name.
func (a *App) whole(class string) string {
	if strings.HasPrefix(class, ".") {
		return a.Package + class
	}
	return class
}
