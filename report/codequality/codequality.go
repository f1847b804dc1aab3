// Package codequality renders the problems of a document as GitLab's code quality report, which a
// merge request shows with the code.
//
// It owns that format and the location of a problem without a known place. As in SARIF, a document
// without problems has no findings, and one whose problems are unknown is rejected. It knows problems
// and not what they are about.
package codequality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/report/document"
)

// finding is an element of the report, as GitLab's documentation names its fields ("Code Quality
// report format"). Its parser stops at the first one that lacks a field.
type finding struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}

// maxFindings limits the file; the gravest come first.
const maxFindings = 1_000

// Render writes one finding for each problem, at the place of its scenario.
func Render(w io.Writer, d document.Document, o document.Options) error {
	if d.Unlisted != "" {
		return fmt.Errorf("write the report on code quality: %w", errors.New(d.Unlisted))
	}
	var places document.Places
	if o.Places != nil {
		places = o.Places()
	}
	problems := d.Problems[:min(len(d.Problems), maxFindings)]
	out := make([]finding, len(problems))
	for i, p := range problems {
		at := places.OrConfig(p.Scenario)
		out[i] = finding{
			Description: p.Title + ". " + p.Text, CheckName: p.Rule, Fingerprint: p.Fingerprint, Severity: severity(p),
			Location: location{at.Path, lines{max(at.Line, 1)}},
		}
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the report on code quality: %w", err)
	}
	return nil
}

func severity(p document.Problem) string {
	if p.Worse {
		return "major"
	}
	return "minor"
}
