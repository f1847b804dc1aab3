package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/report/wording"
)

// allParts returns a document with every part that a document can have. Each part has a word of its
// own, and the name bad.
func allParts(bad string) document.Document {
	say := func(word string) string { return wording.Sentence(word + " " + bad) }
	table := func(word string) *document.Table {
		return &document.Table{
			Note: say(word + "note"), Columns: document.Columns([]string{"Spare"}, "What", "Spare", say("column"), "Status"), Keep: 30,
			Noun: document.Noun{One: "row", Many: "rows"},
			Rows: []document.Row{
				{Cells: []string{say(word + "row"), "1", "2", say("worse")}, Tone: document.Worse},
				{Cells: []string{say(word + "after"), "1", "2", "after"}, Tone: document.Worse, After: true},
			},
		}
	}
	graph := figure.NewRules([]figure.Rule{{If: []string{say("if")}, Then: say("then"), Support: 0.5, Sentence: say("rule")}}, 1)
	return document.Document{
		Title: say("title"), Checked: say("checked"), Notes: []string{say("note")}, Facts: []document.Fact{{Label: "Fact", Text: say("fact")}}, Footer: say("footer"),
		Answer:   document.Answer{Outcome: document.Regression, Word: "Regression", Lead: say("lead"), Sure: say("sure")},
		Warnings: document.List{Items: []document.Item{{Text: say("warning")}}},
		Sections: []document.Section{
			{ID: "table", Title: document.Everywhere(say("heading")), Body: table("table")},
			{Title: document.Everywhere("Nothing"), Body: &document.Table{}},
			{ID: "list", Title: document.Everywhere("List"), Body: &document.List{
				Items: []document.Item{{Tone: document.Worse, Text: say("item")}, {Text: say("second")}},
				Graph: &document.Figure{ID: "g", Caption: "Graph", Picture: graph},
			}},
			{ID: "gallery", Title: document.Everywhere("Gallery"), Guide: "How to read it.", Body: &document.Gallery{
				Figures: []document.Figure{{ID: "p", Caption: say("caption"), Picture: graph}},
			}},
			{ID: "cards", Title: document.Everywhere("Cards"), Body: &document.Cards{
				Heads: []string{"Run", "Device", "Verdict", "Why", "Beside"}, Noun: document.Noun{One: "run", Many: "runs"},
				Cards: []document.Card{{
					Outcome: document.Invalid, Word: "Invalid", Title: say("device"), Name: say("name"), Text: say("why"), Next: say("next"), Base: say("base"),
					BaseBrief: "2 runs", Facts: []document.Fact{{Label: say("key"), Text: say("value")}}, Labels: say("label"), Warnings: []string{say("cardwarning")}, Table: table("card"),
				}},
			}},
			{ID: "groups", Title: document.Everywhere("Groups"), Body: &document.Groups{Open: true, Groups: []document.Group{{
				Title: say("group"), Fact: say("groupfact"), Lines: []string{say("line")}, Doubts: []string{say("doubt")}, Small: say("small"),
				Figures: []document.Figure{{ID: "q", Caption: say("figure"), Picture: graph}},
				Tables:  []document.Section{{Title: document.Everywhere(say("evidence")), Body: table("evidence")}},
			}}}},
			{Title: document.Everywhere(say("folded")), Folded: true, Body: table("folded")},
		},
		Problems: []document.Problem{{Scenario: "s", Rule: "r", Worse: true, Title: say("problem"), Text: say("text"), Fingerprint: "f"}},
		Rules:    []document.Rule{{ID: "r", Title: say("ruletitle"), Text: say("ruletext")}},
		Data:     map[string]string{"data": bad}, Kind: "answer",
	}
}

func render(t *testing.T, f Format, d document.Document, o document.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Render(&b, d, o); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return strings.ReplaceAll(b.String(), wording.NBSP, " ")
}

// The contents of a document are shown by each format that has a place for them, and no format
// depends on what the document is about.
func TestEveryPartIsShown(t *testing.T) {
	everywhere := strings.Fields("title lead sure checked note fact warning footer tablenote tablerow tableafter heading column item second why cardwarning line doubt evidencerow foldedrow")
	told := map[string][]string{
		"text":        everywhere,
		"markdown":    append([]string{"flowchart", "if", "then", "next"}, everywhere...),
		"html":        append(strings.Fields("next caption figure small groupfact label key value cardrow if then <svg"), everywhere...),
		"sarif":       strings.Fields("problem text ruletitle ruletext"),
		"json":        {"data"},
		"codequality": {"problem", "text"},
		"svg":         {"caption", "<svg"},
	}
	for _, f := range Formats {
		got := render(t, f, allParts("name"), document.Options{Verbose: true, Width: 200})
		if len(told[f.Name]) == 0 {
			t.Errorf("the test does not say what %s tells", f.Name)
		}
		for _, word := range told[f.Name] {
			if !strings.Contains(got, word) {
				t.Errorf("%s does not tell of %q:\n%s", f.Name, word, got)
			}
		}
	}
}

// A name that tries to break out of a format stays text, in every place.
func TestHostileNamesInEveryPart(t *testing.T) {
	for _, bad := range reporttest.Hostile {
		for _, f := range Formats {
			got := render(t, f, allParts(bad), document.Options{Verbose: true, Width: 80})
			controls := "\x1b\u202e\u0085"
			if f.Name == "json" { // programs get names as they are
				controls = "\x1b"
			}
			if strings.ContainsAny(got, controls) {
				t.Errorf("%s lets a control out of %.40q", f.Name, bad)
			}
			switch f.Name {
			case "text":
				for line := range strings.Lines(got) {
					if strings.HasPrefix(strings.TrimSpace(line), "::") {
						t.Errorf("text has a line that a runner takes for a command: %q", line)
					}
				}
			case "markdown", "html", "svg":
				if strings.Contains(got, "<script") || strings.Contains(got, "<img") || f.Name == "markdown" && reporttest.Mention.MatchString(strings.ReplaceAll(got, "&#8203;", "\u200b")) {
					t.Errorf("%s lets %.40q out", f.Name, bad)
				}
			default:
				if !json.Valid([]byte(got)) {
					t.Errorf("%s is not JSON with %.40q", f.Name, bad)
				}
			}
		}
	}
}

// An empty document is rendered too, and an unknown outcome does not look good.
func TestEmptyDocument(t *testing.T) {
	for _, f := range Formats {
		if got := render(t, f, document.Document{}, document.Options{}); got == "" {
			t.Errorf("%s shows nothing", f.Name)
		}
	}
	d := document.Document{Answer: document.Answer{Outcome: "splendid", Word: "Splendid"}}
	if f, _ := Find("markdown"); !strings.HasPrefix(render(t, f, d, document.Options{}), "### ⚠️ Splendid") {
		t.Error("an unknown outcome has the mark of another")
	}
}

// Where the findings are unknown, a file without any would close the alerts of code scanning.
func TestSARIFRejectsUnknownFindings(t *testing.T) {
	f, _ := Find("sarif")
	err := f.Render(&bytes.Buffer{}, document.Document{Unlisted: "the findings were not saved"}, document.Options{})
	if err == nil || !strings.Contains(err.Error(), "the findings were not saved") {
		t.Errorf("the error is %v", err)
	}
}

// A comment respects its limit, keeps the answer and the first parts, and says that it was cut.
func TestCommentRespectsItsLimit(t *testing.T) {
	f, _ := Find("markdown")
	d := allParts("name")
	rows := d.Sections[0].Body.(*document.Table)
	for i := range 2000 {
		rows.Rows = append(rows.Rows, document.Row{Cells: []string{fmt.Sprint("row ", i), "1", "2", "worse"}})
	}
	for _, limit := range []int{512, 2000, 20_000} {
		got := render(t, f, d, document.Options{Limit: limit})
		if len(got) > limit || !strings.HasPrefix(got, "### ❌ Regression") || !strings.Contains(got, "left out") {
			t.Errorf("limit %d: %d bytes: %.200s", limit, len(got), got)
		}
	}
}
