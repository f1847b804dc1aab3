// Package svg renders the most important picture of a document as a file of its own, for places that
// show an image at an address, such as a comment on a pull request.
//
// It owns what is around the picture: the caption, the ground, and the answer in words where there
// is no picture. The file loads nothing and runs nothing, and follows the reader's light or dark
// setting.
package svg

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// Lengths in pixels, and the longest line of text in characters.
const (
	margin  = 16
	caption = 44 // from the top to the picture
	longest = 110
)

// size finds the size of a drawn picture.
var size = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)

// Render writes the picture of what comes first in the document, or its answer where it has none.
func Render(w io.Writer, d document.Document, _ document.Options) error {
	text, drawn, width, height := d.Headline(), "", float64(figure.Wide), 0.0
	if f, ok := d.First(); ok {
		text, drawn = f.Caption, f.Picture.Draw("first", "wide", figure.Wide)
		if m := size.FindStringSubmatch(drawn); m != nil {
			width, _ = strconv.ParseFloat(m[1], 64)
			height, _ = strconv.ParseFloat(m[2], 64)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g"><style>%s</style>`,
		width+2*margin, height+caption+margin, width+2*margin, height+caption+margin, figure.Colours+figure.Style)
	fmt.Fprintf(&b, `<g class="picture"><rect class="ground" width="100%%" height="100%%"/><text class="strong" x="%d" y="27">%s</text></g><g transform="translate(%d %d)">%s</g></svg>`,
		margin, html.EscapeString(wording.Visible(prose.Clip(strings.ReplaceAll(text, wording.NBSP, " "), longest))), margin, caption, drawn)
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
