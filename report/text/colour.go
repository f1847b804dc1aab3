package text

import "github.com/apkgate/apkgate/report/document"

// ANSI colours that are readable on light and dark backgrounds.
const (
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "1;36"
)

func (t *text) paint(color, s string) string {
	if !t.o.Color || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func outcomeColor(o document.Outcome) string {
	switch o.Known() {
	case document.Regression, document.Invalid:
		return red
	case document.Inconclusive:
		return yellow
	case document.Improvement:
		return cyan
	}
	return green
}

func toneColor(t document.Tone) string {
	switch t {
	case document.Worse:
		return red
	case document.Suspect:
		return yellow
	case document.Better:
		return cyan
	}
	return ""
}
