// Package figure draws the pictures of a report as SVG, from plain data: the history
// of a metric with the new runs below it, the frames of a repetition, rules as a
// graph, the energy of methods as bars and by call.
//
// It takes a stand: a picture says in words what it shows, for those who can't see
// it; nothing is told by colour alone; what there is no room for is counted. Its
// colours are classes of picture.css, so that it follows a page from light to dark.
// It knows nothing of verdicts and decides nothing; every text is escaped here.
package figure

import _ "embed" // for the style

// Style gives the classes of all pictures their looks, in terms of the page's
// colours.
//
//go:embed picture.css
var Style string

// The widths in pixels for which each picture is drawn: a page shows the one that
// suits its own.
const (
	Wide   = 912
	Narrow = 358
)
