package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// maxSARIF is how many results of one file GitHub shows; the gravest come first.
const maxSARIF = 5000

// SARIF writes the report's problems as SARIF 2.1.0 for code scanning: one rule
// a metric, one result a finding, at the place of its scenario. A verdict
// without problems has no results, which closes the alerts of earlier ones. A
// scenario without a place has a result without a location, and so has each
// method that explains why a scenario takes more energy.
func SARIF(w io.Writer, in Input, places Places) error {
	problems := append(Problems(in), methodProblems(in)...)
	problems = problems[:min(len(problems), maxSARIF)]
	rules, index := sarifRules(in, problems)
	results := make([]sarifResult, len(problems))
	for i, p := range problems {
		results[i] = sarifResult{
			RuleID: p.Metric, RuleIndex: index[p.Metric], Level: level(p), Message: sarifText{sarifPlain(p.Title + ". " + p.Text)},
			PartialFingerprints: map[string]string{"apkgateFinding/v1": p.Fingerprint},
		}
		if p.Method == "" { // a method isn't where its scenario is
			results[i].Locations = sarifLocations(places.Of(p.Scenario))
		}
	}
	log := sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{sarifDriver{
				Name: "apkgate", Version: strings.TrimPrefix(name(in.Meta.Version), "apkgate "),
				InformationURI: "https://github.com/apkgate/apkgate", Rules: rules,
			}},
			Results: results, ColumnKind: "unicodeCodePoints",
		}},
	}
	data, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report as SARIF: %w", err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the report as SARIF: %w", err)
	}
	return nil
}

// sarifPlain escapes text that SARIF would take for a link or a placeholder
// (SARIF 2.1.0, sections 3.11.5 and 3.11.6).
func sarifPlain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", "{{", "}", "}}").Replace(s)
}

func level(p Problem) string {
	if p.Worse {
		return "error"
	}
	return "warning"
}

// sarifRules are the metrics that the problems speak of, and the index of each.
func sarifRules(in Input, problems []Problem) (rules []sarifRule, index map[string]int) {
	var names []string
	for _, p := range problems {
		if !slices.Contains(names, p.Metric) {
			names = append(names, p.Metric)
		}
	}
	slices.SortFunc(names, in.catalogue().Compare)
	rules, index = make([]sarifRule, len(names)), map[string]int{}
	for i, metricName := range names {
		m, _ := in.catalogue().Lookup(metricName)
		index[metricName] = i
		title := name(m.Title)
		rules[i] = sarifRule{
			ID:                   metricName,
			ShortDescription:     sarifText{"A worse " + title},
			FullDescription:      sarifText{"The " + title + " (" + name(metricName) + ") deviates for the worse from the history of accepted runs."},
			DefaultConfiguration: sarifConfiguration{Level: "error"},
			Properties:           map[string]any{"tags": []string{"performance", "android"}},
		}
	}
	return rules, index
}

func sarifLocations(at Place) []sarifLocation {
	if at.Path == "" {
		return nil
	}
	return []sarifLocation{{sarifPhysical{
		ArtifactLocation: sarifArtifact{URI: (&url.URL{Path: at.Path}).EscapedPath(), URIBaseID: "%SRCROOT%"},
		Region:           sarifRegion{StartLine: max(at.Line, 1)},
	}}}
}

// The parts of a SARIF file that are written, as OASIS SARIF 2.1.0 names them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Results    []sarifResult `json:"results"`
		ColumnKind string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		FullDescription      sarifText          `json:"fullDescription"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
		Properties           map[string]any     `json:"properties"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)
