package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
)

type drawing string

func (d drawing) Draw(id, class string, width float64) string {
	return `<svg viewBox="0 0 912 200" width="912" height="200"><title>` + string(d) + `</title></svg>`
}

// The picture that the first row leads to is drawn with its caption; without any, the answer is
// written. Names are text, and the file is well-formed XML.
func TestRender(t *testing.T) {
	t.Parallel()
	figures := &document.Gallery{Figures: []document.Figure{{ID: "a", Caption: "another", Of: "y", Picture: drawing("other")}, {ID: "b", Caption: "scroll <b>", Of: "x", Picture: drawing("this one")}}}
	table := &document.Table{Rows: []document.Row{{Cells: []string{"no picture"}}, {Cells: []string{"scroll"}, Of: "x"}}}
	answer := document.Answer{Word: "Invalid", Lead: "the app <crashed>"}
	for name, c := range map[string]struct {
		sections []document.Section
		want     []string
		not      string
	}{
		"of the first row": {[]document.Section{{Body: figures}, {Body: table}}, []string{`viewBox="0 0 944 260"`, "scroll &lt;b&gt;", "this one"}, "other"},
		"the first":        {[]document.Section{{Body: figures}}, []string{"another", "other"}, "this one"},
		"none":             {nil, []string{"Invalid: the app &lt;crashed&gt;", `viewBox="0 0 944 60"`}, "<title>"},
	} {
		var b bytes.Buffer
		if err := Render(&b, document.Document{Answer: answer, Sections: c.sections}, document.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in %s", name, want, b.String())
			}
		}
		if strings.Contains(b.String(), c.not) {
			t.Errorf("%s: %q is in it", name, c.not)
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}
