// Package sarif renders the problems of a document as SARIF 2.1.0, which code scanning shows with
// the code.
//
// It owns that format and the location of a problem without a known place. A document without
// problems has no results, which closes the alerts of earlier ones; a document whose problems are
// unknown is rejected, as a file without results would mean that all is well. It knows problems and
// rules, and not what they are about.
package sarif

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/apkgate/apkgate/report/document"
)

// maxResults is how many results of one file GitHub shows; the gravest come first.
const maxResults = 5000

// Render writes one rule for each metric with a problem, and one result per problem, at the place
// of its scenario.
func Render(w io.Writer, d document.Document, o document.Options) error {
	if d.Unlisted != "" {
		return fmt.Errorf("write the report as SARIF: %w", errors.New(d.Unlisted))
	}
	var places document.Places
	if o.Places != nil {
		places = o.Places()
	}
	problems := d.Problems[:min(len(d.Problems), maxResults)]
	rules, index := rulesOf(d.Rules, problems)
	results := make([]result, len(problems))
	for i, p := range problems {
		results[i] = result{
			RuleID: p.Rule, RuleIndex: index[p.Rule], Level: level(p), Message: text{plain(p.Title + ". " + p.Text)},
			Locations:           locations(places.OrConfig(p.Scenario)),
			PartialFingerprints: map[string]string{"apkgateFinding/v1": p.Fingerprint},
		}
	}
	data, err := json.MarshalIndent(Log{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []analysis{{
			Tool: tool{driver{
				Name: "apkgate", Version: strings.TrimPrefix(d.Version, "apkgate "),
				InformationURI: "https://github.com/apkgate/apkgate", Rules: rules,
			}},
			Results: results, ColumnKind: "unicodeCodePoints",
		}},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report as SARIF: %w", err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the report as SARIF: %w", err)
	}
	return nil
}

// plain escapes text that SARIF would interpret as a link or a placeholder (SARIF 2.1.0, sections
// 3.11.5 and 3.11.6).
func plain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", "{{", "}", "}}").Replace(s)
}

func level(p document.Problem) string {
	if p.Worse {
		return "error"
	}
	return "warning"
}

// rulesOf returns the rules that the problems break, and the index of each.
func rulesOf(all []document.Rule, problems []document.Problem) (rules []rule, index map[string]int) {
	broken := map[string]bool{}
	for _, p := range problems {
		broken[p.Rule] = true
	}
	rules, index = []rule{}, map[string]int{}
	for _, r := range all {
		if !broken[r.ID] {
			continue
		}
		index[r.ID] = len(rules)
		rules = append(rules, rule{
			ID: r.ID, ShortDescription: text{r.Title}, FullDescription: text{r.Text},
			DefaultConfiguration: configuration{Level: "error"},
			Properties:           map[string]any{"tags": []string{"performance", "android"}},
		})
	}
	return rules, index
}

func locations(at document.Place) []location {
	return []location{{physical{
		ArtifactLocation: artifact{URI: (&url.URL{Path: at.Path}).EscapedPath(), URIBaseID: "%SRCROOT%"},
		Region:           region{StartLine: max(at.Line, 1)},
	}}}
}
