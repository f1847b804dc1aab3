// Package genymotion implements what Genymotion's two labs have in common: the names of the
// devices that they offer, the choice of the one that a configuration names, finding, running
// and ending their programs, and waiting for a booted device.
//
// The command lines of the programs, and the meaning of their output, belong to packages saas
// and desktop below it. A name that fits several offers is reported with all of them, and one
// that fits none with the most similar ones. No choice is made on a user's behalf.
package genymotion

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Offer is a device that can be created: a recipe of the cloud, a template of the desktop.
type Offer struct {
	ID      string // for the program; may be the name
	Name    string // "Google Pixel 3", "Google Nexus 5 - 5.0.0 - API 21 - 1080x1920"
	Android string // "8.1"; "" if the program does not report it
}

// String is the offer's name in lists.
func (o Offer) String() string {
	text := prose.Short(prose.OneLine(o.Name))
	if o.Android != "" {
		text += " (Android " + short(o.Android) + ")"
	}
	return text
}

// short returns a version for messages.
func short(android string) string { return prose.Clip(prose.OneLine(android), 20) }

// Doubt is why no offer was chosen.
type Doubt struct {
	What   string // "no recipe is called …"
	Advice string
}

// Failed returns the doubt as an error of a lab; otherwise is the advice if the doubt has
// none.
func (d *Doubt) Failed(lab, doing, otherwise string) *boot.Error {
	return &boot.Error{Lab: lab, What: doing + ": " + d.What, Advice: cmp.Or(d.Advice, otherwise)}
}

// mostNamed limits the offers that a doubt names.
const mostNamed = 8

// Choose returns the only offer with that name and Android version, "" for any version. An
// offer matches its ID, its name, and the part of its name before the first " - ". what is the
// word for an offer: "recipe".
func Choose(what string, offers []Offer, name, android string) (Offer, *Doubt) {
	var called, fit []Offer
	for _, o := range offers {
		if answersTo(o, name) {
			called = append(called, o)
			if android == "" || SameVersion(o.Android, android) {
				fit = append(fit, o)
			}
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return Offer{}, several(what, fit, name, android)
	case len(called) > 0:
		return Offer{}, &Doubt{
			fmt.Sprintf("no %s %s has Android %s", what, prose.Quote(name, 80), short(android)),
			"there is " + listed(called, Offer.String),
		}
	}
	d := &Doubt{What: fmt.Sprintf("no %s is called %s", what, prose.Quote(name, 80))}
	if near := nearest(name, offers); len(near) > 0 {
		d.Advice = "most similar: " + listed(near, Offer.String)
	}
	return Offer{}, d
}

func several(what string, fit []Offer, name, android string) *Doubt {
	d := &Doubt{
		What: fmt.Sprintf("%d %ss are called %s", len(fit), what, prose.Quote(name, 80)),
		Advice: "name one by its ID: " + listed(fit, func(o Offer) string {
			return o.String() + " is " + prose.Short(prose.OneLine(o.ID))
		}),
	}
	if android != "" {
		d.What += " and have Android " + short(android)
	} else if differ(fit) {
		d.Advice = "add the Android version: " + listed(fit, Offer.String)
	}
	return d
}

// differ reports whether the Android version distinguishes the offers.
func differ(offers []Offer) bool {
	for i, o := range offers {
		if o.Android == "" || slices.ContainsFunc(offers[:i], func(b Offer) bool { return SameVersion(o.Android, b.Android) }) {
			return false
		}
	}
	return true
}

func answersTo(o Offer, name string) bool {
	short, _, _ := strings.Cut(o.Name, " - ")
	return slices.ContainsFunc([]string{o.ID, o.Name, short}, func(n string) bool {
		return n != "" && strings.EqualFold(strings.TrimSpace(n), strings.TrimSpace(name))
	})
}

// listed lists offers, each once.
func listed(offers []Offer, say func(Offer) string) string {
	var names []string
	for _, o := range offers {
		if text := say(o); !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	slices.Sort(names)
	return prose.Few(names, mostNamed)
}

// nearest returns a few offers that share most words with a name.
func nearest(name string, offers []Offer) []Offer {
	asked := wordsOf(name)
	var near []Offer
	most := 0
	for _, o := range offers {
		n := 0
		for _, w := range wordsOf(o.Name) {
			if slices.Contains(asked, w) {
				n++
			}
		}
		switch {
		case n == 0 || n < most:
		case n > most:
			most, near = n, []Offer{o}
		default:
			near = append(near, o)
		}
	}
	slices.SortStableFunc(near, func(a, b Offer) int { return cmp.Compare(len(a.Name), len(b.Name)) })
	return near[:min(len(near), mostNamed)]
}

var wordPattern = regexp.MustCompile(`[\pL\d]+`)

func wordsOf(s string) []string { return wordPattern.FindAllString(strings.ToLower(s), -1) }

// SameVersion reports whether two versions of Android are the same: "11", "11.0" and
// "Android 11.0.0" are.
func SameVersion(a, b string) bool { return version(a) == version(b) }

func version(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > len("android") && strings.EqualFold(s[:len("android")], "android") {
		s = strings.TrimSpace(s[len("android"):])
	}
	for strings.HasSuffix(s, ".0") {
		s = strings.TrimSuffix(s, ".0")
	}
	return s
}
