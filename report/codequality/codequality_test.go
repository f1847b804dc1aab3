package codequality_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/codequality"
	"github.com/apkgate/apkgate/report/document"
)

func render(t *testing.T, d document.Document, places document.Places) string {
	t.Helper()
	var b bytes.Buffer
	if err := codequality.Render(&b, d, document.Options{Places: func() document.Places { return places }}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The fields are those of GitLab's documentation; a finding without a known place has one as well,
// since GitLab's parser stops at the first that has none.
func TestFindings(t *testing.T) {
	got := render(t, document.Document{Problems: []document.Problem{
		{Scenario: "open", Rule: "frames.janky", Worse: true, Title: "open: janky frames", Text: "+14 %", Fingerprint: "f1"},
		{Scenario: "scroll", Rule: "anr.count", Title: "scroll: ANRs", Text: "+1", Fingerprint: "f2"},
	}}, document.Places{"open": {Path: "app/OpenTest.kt", Line: 41}})
	var found, want []map[string]any
	if err := json.Unmarshal([]byte(got), &found); err != nil {
		t.Fatal(err)
	}
	const expected = `[
		{"description":"open: janky frames. +14 %","check_name":"frames.janky","fingerprint":"f1","severity":"major","location":{"path":"app/OpenTest.kt","lines":{"begin":41}}},
		{"description":"scroll: ANRs. +1","check_name":"anr.count","fingerprint":"f2","severity":"minor","location":{"path":"apkgate.yml","lines":{"begin":1}}}]`
	if err := json.Unmarshal([]byte(expected), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("the report is\n%s", got)
	}
}

// A report without findings is an empty list; one whose findings are unknown is none.
func TestNoFindings(t *testing.T) {
	if got := render(t, document.Document{}, nil); got != "[]\n" {
		t.Errorf("without problems it is %q", got)
	}
	err := codequality.Render(&bytes.Buffer{}, document.Document{Unlisted: "the findings were not saved"}, document.Options{})
	if err == nil || !strings.Contains(err.Error(), "the findings were not saved") {
		t.Errorf("the error is %v", err)
	}
}
