package layout

import (
	"io"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/sarif"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/text"
)

// What these tests look at is what a reader sees: answers that were laid out, in
// each of the formats.

func asText(w io.Writer, d document.Document, o document.Options) error { return text.Render(w, d, o) }

func asMarkdown(w io.Writer, d document.Document, limit int) error {
	return markdown.Render(w, d, document.Options{Limit: limit})
}

func asHTML(w io.Writer, d document.Document) error { return html.Render(w, d, document.Options{}) }

func asJSON(w io.Writer, d document.Document) error { return saved.Render(w, d, document.Options{}) }

func asSARIF(w io.Writer, d document.Document, places document.Places) error {
	return sarif.Render(w, d, document.Options{Places: func() document.Places { return places }})
}

// read is a saved verdict as it is laid out again.
func read(r io.Reader) (Input, error) {
	v, err := saved.ReadVerdict(r)
	return OfVerdict(v), err
}
