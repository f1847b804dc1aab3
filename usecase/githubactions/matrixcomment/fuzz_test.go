package matrixcomment_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// FuzzRead: anybody may have edited a comment. Whatever it contains, the rows are limited, and with
// a row of ours it is a comment that can be posted and has that row when it is parsed again.
func FuzzRead(f *testing.F) {
	head := strings.Repeat("a", 40)
	row := matrixcomment.Row{Leg: "pixel", Head: head, Outcome: gate.Pass, Text: "all is well"}
	one, err := matrixcomment.Board{Config: "apkgate.yml", Head: head, Rows: []matrixcomment.Row{row.Signed()}}.Body()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add(strings.Replace(one, "pixel", "%2D%2D&gt;", 1))
	f.Add("<!-- apkgate:v1 config=apkgate.yml run=1 number=1 attempt=1 head=" + head + " sum=0 verdict=pass job= -->\ntext")
	f.Add("<!-- apkgate:v1 -->\n<!-- apkgate:row -->")
	f.Fuzz(func(t *testing.T, body string) {
		b, ok := matrixcomment.Read(body)
		if !ok {
			return
		}
		if len(b.Rows) > matrixcomment.MaxLegs {
			t.Errorf("%d rows are read", len(b.Rows))
		}
		ours := row.Signed()
		merged, _ := b.With(ours, head)
		if len(merged.Rows) == 0 || len(merged.Rows) > matrixcomment.MaxLegs {
			return // it stays as it is, or is refused
		}
		text, err := merged.Body()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > markdown.MaxComment+len(body) {
			t.Errorf("a comment of %d bytes", len(text))
		}
		if _, ok := matrixcomment.Read(text); !ok {
			t.Errorf("it is not read again:\n%s", text)
		}
	})
}
