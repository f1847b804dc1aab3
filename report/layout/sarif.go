package layout

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
)

// maxSARIF is how many results of one file GitHub shows; the gravest come first.
const maxSARIF = 5000

// conventional is where a result is whose scenario has no known place: a file of
// which one result has no location is refused as a whole by code scanning.
var conventional = Place{Path: "apkgate.yml"}

// SARIF writes the report's problems as SARIF 2.1.0 for code scanning: one rule
// a metric, one result a finding, and one a method that explains why a scenario
// takes more energy, each at the place of its scenario. A verdict without
// problems has no results, which closes the alerts of earlier ones.
func SARIF(w io.Writer, in Input, places Places) error {
	return writeSARIF(w, sarifReport{
		Problems:  append(Problems(in), methodProblems(in)...),
		Catalogue: in.catalogue(), Version: in.Meta.Version, Beside: "the history of accepted runs",
	}, places)
}

// ABSARIF writes what the head of a comparison is worse in, as SARIF does for
// runs beside the history.
func ABSARIF(w io.Writer, in ABInput, places Places) error {
	if in.Catalogue == nil {
		in.Catalogue = metric.Default()
	}
	return writeSARIF(w, sarifReport{
		Problems:  append(abProblems(in), explainingMethods(energyOfAB(in))...),
		Catalogue: in.Catalogue, Version: in.Version, Beside: "the base build",
	}, places)
}

// sarifReport is what a file of SARIF is made of.
type sarifReport struct {
	Problems  []Problem
	Catalogue *metric.Catalogue
	Version   string // of apkgate
	Beside    string // what a metric is worse than
}

func writeSARIF(w io.Writer, in sarifReport, places Places) error {
	problems := in.Problems[:min(len(in.Problems), maxSARIF)]
	rules, index := in.rules(problems)
	results := make([]sarifResult, len(problems))
	for i, p := range problems {
		results[i] = sarifResult{
			RuleID: ruleID(p.Metric), RuleIndex: index[p.Metric], Level: level(p), Message: sarifText{sarifPlain(p.Title + ". " + p.Text)},
			Locations:           sarifLocations(places.Of(p.Scenario)),
			PartialFingerprints: map[string]string{"apkgateFinding/v1": p.Fingerprint},
		}
	}
	log := sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{sarifDriver{
				Name: "apkgate", Version: strings.TrimPrefix(words.Name(in.Version), "apkgate "),
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

// ruleID is the rule of a metric's problems, or of a run that is invalid.
func ruleID(metricName string) string {
	if metricName == "" {
		return invalidRule.ID
	}
	return metricName
}

// invalidRule is that of runs which can't be judged: a file without results would
// say that all is well.
var invalidRule = sarifRule{
	ID:                   "apkgate.invalid",
	ShortDescription:     sarifText{"A run that can't be judged"},
	FullDescription:      sarifText{"The app crashed, a test failed, or no frames were seen: nothing is known of the app's performance."},
	DefaultConfiguration: sarifConfiguration{Level: "error"},
	Properties:           map[string]any{"tags": []string{"performance", "android"}},
}

// rules are the metrics that the problems speak of, and the index of each.
func (in sarifReport) rules(problems []Problem) (rules []sarifRule, index map[string]int) {
	var names []string
	for _, p := range problems {
		if !slices.Contains(names, p.Metric) {
			names = append(names, p.Metric)
		}
	}
	slices.SortFunc(names, in.Catalogue.Compare)
	rules, index = make([]sarifRule, len(names)), map[string]int{}
	for i, metricName := range names {
		if metricName == "" {
			index[""], rules[i] = i, invalidRule
			continue
		}
		m, _ := in.Catalogue.Lookup(metricName)
		index[metricName] = i
		title := words.Name(m.Title)
		rules[i] = sarifRule{
			ID:                   metricName,
			ShortDescription:     sarifText{"A worse " + title},
			FullDescription:      sarifText{"The " + title + " (" + words.Name(metricName) + ") deviates for the worse from " + in.Beside + "."},
			DefaultConfiguration: sarifConfiguration{Level: "error"},
			Properties:           map[string]any{"tags": []string{"performance", "android"}},
		}
	}
	return rules, index
}

func sarifLocations(at Place) []sarifLocation {
	if at.Path == "" {
		at = conventional
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
		Locations           []sarifLocation   `json:"locations"`
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
