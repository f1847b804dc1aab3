// Package output prints reports in the form that the flags ask for, and leaves them in
// the files that they name. It prints first: what was found is seen even where a file
// can't be written.
//
// What a report says and how it looks is package report's.
package output

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/report/layout"
)

// Format is how a result is printed.
type Format string

// The formats of --format.
const (
	FormatText     Format = "text"
	FormatJSON     Format = "json"
	FormatMarkdown Format = "markdown"
	FormatHTML     Format = "html"
	FormatSARIF    Format = "sarif"
	FormatCSV      Format = "csv" // a table for spreadsheets
)

// ReportFormats are those of a report.
var ReportFormats = []Format{FormatText, FormatJSON, FormatMarkdown, FormatHTML, FormatSARIF}

// OutputFlags say in which form and where a report goes.
type OutputFlags struct {
	Format, HTML, Markdown, JSON, SARIF string
	verbose                             bool
	Places                              func() layout.Places // for SARIF; nil: nothing is known; no flag
}

// Register defines the flags.
func (f *OutputFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Format, "format", string(FormatText), "what to print: text, json, markdown, html or sarif")
	cmd.Flags().StringVar(&f.HTML, "html", "", "also write the report with its pictures to this HTML file")
	cmd.Flags().StringVar(&f.Markdown, "markdown", "", "also write the report to this Markdown file")
	cmd.Flags().StringVar(&f.JSON, "json", "", "also write the verdict to this JSON file")
	cmd.Flags().StringVar(&f.SARIF, "sarif", "", "also write the findings to this SARIF file, for code scanning")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print every rule and every run in full")
}

// Defaults fills in the files of the configuration where no flag names one.
func (f *OutputFlags) Defaults(r config.Report) {
	for _, file := range []struct {
		flag  *string
		value string
	}{{&f.HTML, r.HTML}, {&f.Markdown, r.Markdown}, {&f.JSON, r.JSON}} {
		if *file.flag == "" {
			*file.flag = file.value
		}
	}
}

// Check refuses a format that there is not.
func (f OutputFlags) Check() error { return arguments.OneOf("format", Format(f.Format), ReportFormats) }

// Text are the flags of a command that is asked for nothing but text.
func Text() OutputFlags { return OutputFlags{Format: string(FormatText)} }

// Write prints an answer and leaves the files that were asked for. It prints
// first: what was found is seen even where a file can't be written.
func Write(c console.Console, a Answer, f OutputFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.render(c, c.Stdout, Format(f.Format), f); err != nil {
		return exit.Infrastructure(fmt.Errorf("print the report: %w", err))
	}
	return WriteFiles(c, a, f)
}

// WriteFiles leaves the files that were asked for.
func WriteFiles(c console.Console, a Answer, f OutputFlags) error {
	for _, file := range []struct {
		path string
		as   Format
	}{{f.HTML, FormatHTML}, {f.Markdown, FormatMarkdown}, {f.JSON, FormatJSON}, {f.SARIF, FormatSARIF}} {
		if file.path == "" {
			continue
		}
		if err := files.Write(file.path, func(w io.Writer) error { return a.render(c, w, file.as, f) }); err != nil {
			return exit.Infrastructure(files.Error("write the report to", file.path, err))
		}
	}
	return nil
}

// known are the places of the scenarios, which are looked for now.
func (f OutputFlags) known() layout.Places {
	if f.Places == nil {
		return nil
	}
	return f.Places()
}

// Files are those that the flags name, "" where one names none.
func (f OutputFlags) Files() []string { return []string{f.HTML, f.Markdown, f.JSON, f.SARIF} }
