package output

import (
	"io"

	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/report/layout"
)

// maxComment is what a pull request's comment can hold, in bytes.
const maxComment = 65_536

// Answer is what a command has found, which can be shown in any format.
type Answer struct {
	text     func(io.Writer, layout.TextOptions) error
	markdown func(w io.Writer, most int) error
	html     func(io.Writer) error
	json     func(io.Writer) error
	sarif    func(io.Writer, layout.Places) error // nil: it holds no findings
}

// OfVerdict is a verdict on runs.
func OfVerdict(in layout.Input) Answer {
	return Answer{
		text:     func(w io.Writer, o layout.TextOptions) error { return layout.Text(w, in, o) },
		markdown: func(w io.Writer, most int) error { return layout.Markdown(w, in, most) },
		html:     func(w io.Writer) error { return layout.HTML(w, in) },
		json:     func(w io.Writer) error { return layout.JSON(w, in) },
		sarif:    func(w io.Writer, places layout.Places) error { return layout.SARIF(w, in, places) },
	}
}

// OfComparison is a comparison of two builds.
func OfComparison(in layout.ABInput) Answer {
	sheet := layout.AB(in)
	return Answer{
		text: sheet.Text, markdown: sheet.Markdown, html: sheet.HTML,
		json:  func(w io.Writer) error { return layout.ABJSON(w, in) },
		sarif: func(w io.Writer, places layout.Places) error { return layout.ABSARIF(w, in, places) },
	}
}

// OfRefresh is what a refresh did. findings are the verdict by which it did so; nil
// where they are not known any more, and SARIF can't be made.
func OfRefresh(in layout.RefreshInput, findings *layout.Input) Answer {
	sheet := layout.RefreshSheet(in)
	a := Answer{
		text: sheet.Text, markdown: sheet.Markdown, html: sheet.HTML,
		json: func(w io.Writer) error { return layout.RefreshJSON(w, in.Refresh) },
	}
	if findings != nil {
		a.sarif = func(w io.Writer, places layout.Places) error { return layout.SARIF(w, *findings, places) }
	}
	return a
}

// Markdown writes the answer as Markdown of at most so many bytes.
func (a Answer) Markdown(w io.Writer, most int) error { return a.markdown(w, most) }

// HTML writes the answer as a page of its own.
func (a Answer) HTML(w io.Writer) error { return a.html(w) }

func (a Answer) render(c console.Console, w io.Writer, as Format, f OutputFlags) error {
	switch as {
	case FormatJSON:
		return a.json(w)
	case FormatSARIF:
		return a.sarif(w, f.known())
	case FormatMarkdown:
		return a.markdown(w, maxComment)
	case FormatHTML:
		return a.html(w)
	}
	return a.text(w, layout.TextOptions{Color: c.Color(), Width: c.Width, Verbose: f.verbose})
}
