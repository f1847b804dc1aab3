package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/report/words"
)

// foremostShare is the part of a change from which on a method is its cause by
// itself.
const foremostShare = 0.25

// cause is what explains the run's change most, in a line: a method that explains
// or encloses it, a wakelock that is held with the screen off or no longer is, otherwise the part
// of the device that makes up half of it, and the traffic; "" where nothing does.
func (r energyRun) cause(all []energyRun) string {
	var out []string
	if r.Deviates && r.methodsMatter() {
		enclosing, within := r.Enclosing()
		switch explaining := r.Explaining(); {
		case within:
			out = append(out, enclosingLine(enclosing))
		case len(explaining) > 0:
			text := methodLine(explaining[0]) + alsoIn(explaining[0], all)
			if len(explaining) > 1 && explaining[0].Share < foremostShare {
				text = words.Count(len(explaining), "method", "methods") + ", the first " + text
			}
			out = append(out, text)
		}
	}
	if i := slices.IndexFunc(r.Wakelocks, func(w hotspots.Wakelock) bool { return w.Worse }); i >= 0 {
		out = append(out, r.drain(r.Wakelocks[i]))
	} else if released := r.released(); len(released) > 0 {
		out = append(out, released[0])
	}
	if part, ok := r.part(); ok && len(out) == 0 {
		text := "the part " + words.Brief(part.Name) + " " + words.SignedJoules(part.ChangeJ())
		if r.unexplained() {
			text += ", which no method explains"
		}
		out = append(out, text)
	}
	if text := r.trafficLine(); text != "" && !r.methodsMatter() {
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// part is the part of the device that makes up half and more of the change.
func (r energyRun) part() (hotspots.Component, bool) {
	change := r.Total.ChangeJ()
	if !r.Deviates || !r.HasBase() || r.Total.BaseJ == 0 || r.Total.HeadJ == 0 {
		return hotspots.Component{}, false
	}
	for _, p := range r.Components { // those that changed most stand first
		if p.ChangeJ()*change > 0 && math.Abs(p.ChangeJ()) >= math.Abs(change)/2 {
			return p, true
		}
	}
	return hotspots.Component{}, false
}

// The least difference of traffic that is worth a word: bytes, and a factor.
const (
	moreBytes = 100_000
	moreTimes = 1.5
)

// trafficLine is what the app received and sent, in a clause, where that changed
// the way that the energy did; "" otherwise.
func (r energyRun) trafficLine() string {
	if !r.Deviates || !r.HasBase() || r.Traffic == nil {
		return ""
	}
	base, head := r.Traffic.BaseBytes, r.Traffic.HeadBytes
	less, more := min(base, head), max(base, head)
	if (head-base)*r.Total.ChangeJ() <= 0 || more-less < moreBytes || more < moreTimes*less {
		return ""
	}
	return "the app received and sent " + words.Bytes(head) + ", before " + words.Bytes(base)
}

// drain is a wakelock that was held while the screen was off, in a clause.
func (r energyRun) drain(w hotspots.Wakelock) string {
	text := fmt.Sprintf("wakelock %s was held %s while the screen was off", words.Name(w.Name), words.Lasting(w.HeadScreenOffMS))
	if r.HasBase() {
		text += "; before: " + noneOr(w.BaseScreenOffMS)
	}
	return text
}

// released are the wakelocks that are held clearly less while the screen is off,
// in clauses, where the verdict holds that wakelocks changed.
func (r energyRun) released() []string {
	var out []string
	for _, w := range r.Wakelocks {
		if r.Awake && w.HeadScreenOffMS <= 0.9*w.BaseScreenOffMS-hotspots.DrainMS && len(out) < openMethods {
			out = append(out, fmt.Sprintf("wakelock %s was held %s while the screen was off; now: %s", words.Name(w.Name), words.Lasting(w.BaseScreenOffMS), noneOr(w.HeadScreenOffMS)))
		}
	}
	return out
}

func noneOr(ms float64) string {
	if ms == 0 {
		return "none"
	}
	return words.Lasting(ms)
}

// drains names the wakelocks that were held while the screen was off, and those
// that no longer are.
func (r energyRun) drains() []string {
	var out []string
	for _, w := range r.Wakelocks {
		if w.HeadScreenOffMS >= hotspots.DrainMS && len(out) < openMethods {
			out = append(out, words.UpperFirst(r.drain(w))+".")
		}
	}
	for _, text := range r.released() {
		out = append(out, words.UpperFirst(text)+".")
	}
	return out
}

// methodsMatter reports whether the sampled methods make up a fifth or more of
// the whole change, as far as that is known.
func (r energyRun) methodsMatter() bool {
	if r.Methods == nil || !r.Methods.HasBase() {
		return false
	}
	net, total := r.Methods.Energy.ChangeJ(), r.Total.ChangeJ()
	return r.Total.BaseJ == 0 || r.Total.HeadJ == 0 || net*total > 0 && math.Abs(net) >= math.Abs(total)/5
}
