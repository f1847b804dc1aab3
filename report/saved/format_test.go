package saved

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// The document of the format names every field that is written.
func TestFormatDocumentIsComplete(t *testing.T) {
	document, err := os.ReadFile("../../docs/format/verdict.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{gate.Verdict{}, gate.RunVerdict{}, gate.Reference{}, gate.Comparison{}, gate.Rule{}, run.App{}, run.Warning{},
		diagnose.Cause{}, diagnose.Subject{}, diagnose.Extent{}, diagnose.Link{}, diagnose.Part{}, diagnose.Amount{}, diagnose.Range{},
		diagnose.Table{}, diagnose.Column{}, diagnose.Row{}, diagnose.Picture{}, diagnose.Flame{}, diagnose.Call{}, diagnose.Bars{}, diagnose.Bar{}, diagnose.Measured{}} {
		kind := reflect.TypeOf(v)
		for i := range kind.NumField() {
			field, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if field != "-" && !strings.Contains(string(document), "`"+field+"`") {
				t.Errorf("docs/format/verdict.md does not tell of %q (%s.%s)", field, kind.Name(), kind.Field(i).Name)
			}
		}
	}
	for _, o := range outcomes {
		if !strings.Contains(string(document), "`"+string(o)+"`") {
			t.Errorf("docs/format/verdict.md does not tell of the verdict %q", o)
		}
	}
	for _, s := range []diagnose.Sure{diagnose.Seen, diagnose.Clear, diagnose.Likely, diagnose.Possible} {
		if !strings.Contains(string(document), "`"+string(s)+"`") {
			t.Errorf("docs/format/verdict.md does not tell of %q", s)
		}
	}
	for _, d := range directions {
		if !strings.Contains(string(document), "`"+string(d)+"`") {
			t.Errorf("docs/format/verdict.md does not tell of the direction %q", d)
		}
	}
}
