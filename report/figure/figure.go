// Package figure draws the figures of a report as SVG, from plain data: the history of a metric
// with the new runs below it, the frames of a repetition, rules as a graph, the energy of methods
// as bars and by call.
//
// A figure has a description in words, for those who can't see it; nothing is shown by colour
// alone; what does not fit is counted. Its colours are classes of picture.css, so that it follows a
// page from light to dark. The package knows nothing of verdicts and decides nothing; every text is
// escaped here.
package figure

import _ "embed" // for the style

// Style styles the classes of all figures, in terms of the page's colours.
//
//go:embed picture.css
var Style string

// Colours are the colours of a page, light and dark, by their names.
//
//go:embed colours.css
var Colours string

// The widths in pixels for which each figure is drawn: a page shows the one that fits.
const (
	Wide   = 912
	Narrow = 358
)
