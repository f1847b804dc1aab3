package simapp

import (
	"errors"
	"strings"
	"time"
)

// Launch is what is unusual about how an app starts.
type Launch struct {
	Through    string        // the launcher's activity, which shows nothing and starts Activity; "": Activity is the launcher's
	Second     string        // another activity that the launcher shows
	Revived    time.Duration // the process comes back so long after it was stopped; 0: it doesn't
	Forgotten  time.Duration // the process is ended so long after it went out of sight; 0: it isn't
	Relaunched float64       // the chance that an activity that comes back is made anew
	Undrawn    int           // from its start of this number on it says no more that it is fully drawn; 0: it always does
	DrawnOnce  bool          // each of its processes says so once
	Logged     time.Duration // how late the log tells that it is displayed
	Early      time.Duration // the system takes the windows for drawn so long before they are
	Late       time.Duration // and so long after
}

// launch reads KEY VALUE pairs.
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

// HasActivity reports whether the app has an activity of that class, which may begin
// with a dot.
func (a *App) HasActivity(class string) bool {
	for _, own := range []string{a.Activity, a.Launch.Through, a.Launch.Second} {
		if own != "" && a.whole(class) == a.whole(own) {
			return true
		}
	}
	return false
}

// Launchers are the components that the launcher shows.
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

// whole is a class's name in full.
func (a *App) whole(class string) string {
	if strings.HasPrefix(class, ".") {
		return a.Package + class
	}
	return class
}
