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

var ReportFormats = []Format{FormatText, FormatJSON, FormatMarkdown, FormatHTML, FormatSARIF}

// maxComment is what a pull request's comment can hold.
const maxComment = 65_536

// OutputFlags say in which form and where a report goes.
type OutputFlags struct {
	Format, HTML, Markdown, JSON, SARIF string
	verbose                             bool
	Places                              func() layout.Places // for SARIF; nil: nothing is known; no flag
}

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

// Write prints a report and leaves the files that were asked for. It prints
// first: what was found is seen even where a file can't be written.
func Write(c console.Console, in layout.Input, f OutputFlags) error {
	return writeAs(c, f, func(w io.Writer, as Format) error { return render(c, w, in, as, f) })
}

func writeAs(c console.Console, f OutputFlags, render func(io.Writer, Format) error) error {
	format := Format(f.Format)
	if err := arguments.OneOf("format", format, ReportFormats); err != nil {
		return err
	}
	if err := render(c.Stdout, format); err != nil {
		return exit.Infrastructure(fmt.Errorf("print the report: %w", err))
	}
	for _, file := range []struct {
		path string
		as   Format
	}{{f.HTML, FormatHTML}, {f.Markdown, FormatMarkdown}, {f.JSON, FormatJSON}, {f.SARIF, FormatSARIF}} {
		if file.path == "" {
			continue
		}
		if err := files.Write(file.path, func(w io.Writer) error { return render(w, file.as) }); err != nil {
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

// SheetData writes what a sheet shows for other programs to read.
type SheetData struct {
	JSON  func(io.Writer) error
	SARIF func(io.Writer, layout.Places) error
}

// WriteSheet is write for a report that is no verdict on runs.
func WriteSheet(c console.Console, sheet layout.Sheet, of SheetData, f OutputFlags) error {
	return writeAs(c, f, func(w io.Writer, as Format) error {
		switch as {
		case FormatJSON:
			return of.JSON(w)
		case FormatSARIF:
			return of.SARIF(w, f.known())
		case FormatMarkdown:
			return sheet.Markdown(w, maxComment)
		case FormatHTML:
			return sheet.HTML(w)
		}
		return sheet.Text(w, layout.TextOptions{Color: c.Color(), Width: c.Width, Verbose: f.verbose})
	})
}

func render(c console.Console, w io.Writer, in layout.Input, as Format, f OutputFlags) error {
	switch as {
	case FormatJSON:
		return layout.JSON(w, in)
	case FormatMarkdown:
		return layout.Markdown(w, in, maxComment)
	case FormatHTML:
		return layout.HTML(w, in)
	case FormatSARIF:
		return layout.SARIF(w, in, f.known())
	}
	return layout.Text(w, in, layout.TextOptions{Color: c.Color(), Width: c.Width, Verbose: f.verbose})
}

// Files are those that the flags name, "" where one names none.
func (f OutputFlags) Files() []string { return []string{f.HTML, f.Markdown, f.JSON, f.SARIF} }
