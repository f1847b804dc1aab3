package layout

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/sarif"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/text"
	"github.com/apkgate/apkgate/report/wording"
)

// These tests check what a reader sees: answers that were laid out, in each of the formats.

func asText(w io.Writer, d document.Document, o document.Options) error { return text.Render(w, d, o) }

func asMarkdown(w io.Writer, d document.Document, limit int) error {
	return markdown.Render(w, d, document.Options{Limit: limit})
}

// asHTML writes the page, without the places at which long names may break.
func asHTML(w io.Writer, d document.Document) error {
	var b bytes.Buffer
	err := html.Render(&b, d, document.Options{})
	if err == nil {
		_, err = io.WriteString(w, strings.ReplaceAll(b.String(), "<wbr>", ""))
	}
	return err
}

func asJSON(w io.Writer, d document.Document) error { return saved.Render(w, d, document.Options{}) }

func asSARIF(w io.Writer, d document.Document, places document.Places) error {
	return sarif.Render(w, d, document.Options{Places: func() document.Places { return places }})
}

// read returns a saved verdict, ready to be laid out again.
func read(r io.Reader) (Input, error) {
	v, err := saved.ReadVerdict(r)
	return OfVerdict(v), err
}

// factOf returns the facts with a label, one after the other; "" where there is none.
func factOf(d document.Document, label string) string {
	var out []string
	for _, f := range d.Facts {
		if f.Label == label {
			out = append(out, f.Text)
		}
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), wording.NBSP, " ")
}

// sectionOf returns the body of the section with a title.
func sectionOf[B document.Body](d document.Document, title string) B {
	at := slices.IndexFunc(d.Sections, func(s document.Section) bool { return s.Title.Page == title })
	if at < 0 {
		panic("the document has no section " + title)
	}
	return d.Sections[at].Body.(B)
}

// rowsOf returns the rows of the table with a title, each in a line.
func rowsOf(d document.Document, title string) []string {
	var out []string
	for _, r := range sectionOf[*document.Table](d, title).Rows {
		out = append(out, strings.ReplaceAll(strings.Join(r.Cells, " | "), wording.NBSP, " "))
	}
	return out
}
