// Package wording formats what every report says in the same way: numbers with their units,
// intervals, lists, and names from outside.
//
// A number has as many digits as a reader can use, its unit stays on its line, and a name is made
// visible and cut before it is shown. The package escapes nothing (each format does that for its
// own language), lays nothing out, and knows no verdicts.
package wording
