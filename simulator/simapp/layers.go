package simapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Layer is one view of an app's windows. It costs nothing, and only appears in dumps.
type Layer struct {
	Class string
	ID    string // its resource name, "" for none
	Below int    // the index of its parent, -1: the window's content
	// At is its position in its parent: left, top, right and bottom in percent.
	At   [4]int
	Bare bool // draws nothing itself
	// Seen is V, I for invisible or G for gone.
	Seen byte
}

// maxLayers limits the views of a file.
const maxLayers = 500

// layers parses CLASS [id NAME] [in NAME] [at LEFT,TOP-RIGHT,BOTTOM] [bare] [invisible |
// gone].
func (p *parser) layers(w []string) (err error) {
	if len(w) == 0 {
		return errors.New("want the class of a view")
	}
	if len(p.app.Layers) == maxLayers {
		return fmt.Errorf("more than %d layers", maxLayers)
	}
	l := Layer{Below: -1, At: [4]int{0, 0, 100, 100}, Seen: 'V'}
	if l.Class, err = className(w[0]); err != nil {
		return err
	}
	for w = w[1:]; err == nil && len(w) > 0; w = w[1:] {
		switch w[0] {
		case "bare":
			l.Bare = true
		case "invisible":
			l.Seen = 'I'
		case "gone":
			l.Seen = 'G'
		case "id", "in", "at":
			if len(w) == 1 {
				return fmt.Errorf("%q has no value", w[0])
			}
			err = p.placed(&l, w[0], w[1])
			w = w[1:]
		default:
			err = fmt.Errorf("%q is not one of id, in, at, bare, invisible, gone", prose.Short(w[0]))
		}
	}
	p.app.Layers = append(p.app.Layers, l)
	return err
}

// placed parses a layer's position or name.
func (p *parser) placed(l *Layer, key, value string) (err error) {
	switch key {
	case "id":
		l.ID, err = match(classPattern, "a resource's name", value)
	case "in":
		l.Below = slices.IndexFunc(p.app.Layers, func(other Layer) bool { return other.ID == value })
		if l.Below < 0 {
			err = fmt.Errorf("no layer before this one has the id %q", prose.Short(value))
		}
	case "at":
		l.At, err = percents(value)
	}
	return err
}

// percents parses LEFT,TOP-RIGHT,BOTTOM: integers in percent of the parent, which a layer may
// exceed.
func percents(s string) (at [4]int, err error) {
	bad := fmt.Errorf("%q is not LEFT,TOP-RIGHT,BOTTOM in percent, such as 0,0-100,50", prose.Short(s))
	from, to, ok := strings.Cut(s, "-")
	parts := append(strings.Split(from, ","), strings.Split(to, ",")...)
	if !ok || len(parts) != len(at) {
		return at, bad
	}
	for i, part := range parts {
		if at[i], err = number(part, 0, 1000); err != nil {
			return at, bad
		}
	}
	if at[2] < at[0] || at[3] < at[1] {
		return at, bad
	}
	return at, nil
}
