// Package report is the registry of the formats of an answer.
//
// An answer is laid out once, as a document (report/layout makes one of a verdict, of a comparison
// of two builds, and of a refresh), and every format renders documents: text, Markdown, HTML,
// SVG, SARIF, code quality, JSON. A new format is a package that renders a document, and a line here;
// the command line derives its flags from the list. This package renders nothing itself.
//
// The contents are made in wording, figure, causes and layout, saved by saved, and rendered by
// text, markdown, html, svg, sarif and codequality. Of these only layout, causes and saved know what
// was judged.
package report

import (
	"io"
	"slices"

	"github.com/apkgate/apkgate/report/codequality"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/sarif"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/svg"
	"github.com/apkgate/apkgate/report/text"
)

// Format is one form of a report.
type Format struct {
	Name string // of --format, and of the flag with a file for it
	// Flag describes that flag; "" where there is none.
	Flag string
	// File is the name of its file in a folder of reports, "" for none.
	File   string
	Render func(io.Writer, document.Document, document.Options) error
}

// Formats are all formats, the one for terminals first.
var Formats = []Format{
	{Name: "text", Render: text.Render},
	{"json", "also write the verdict to this JSON file", "verdict.json", saved.Render},
	{"markdown", "also write the report to this Markdown file", "report.md", markdown.Render},
	{"html", "also write the report with its pictures to this HTML file", "report.html", html.Render},
	{"sarif", "also write the findings to this SARIF file, for code scanning", "apkgate.sarif", sarif.Render},
	{"svg", "also write the picture of what is worst to this SVG file", "picture.svg", svg.Render},
	{"codequality", "also write the findings to this file, for GitLab's code quality", "", codequality.Render},
}

// Names returns those of all formats.
func Names() []string {
	out := make([]string, len(Formats))
	for i, f := range Formats {
		out[i] = f.Name
	}
	return out
}

// Find returns the format of a name; false for an unknown one.
func Find(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}
