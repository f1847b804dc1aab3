package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
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

var reportFormats = []Format{FormatText, FormatJSON, FormatMarkdown, FormatHTML, FormatSARIF}

// maxComment is what a pull request's comment can hold.
const maxComment = 65_536

// outputFlags say in which form and where a report goes.
type outputFlags struct {
	format, html, markdown, json, sarif string
	verbose                             bool
	places                              func() layout.Places // for SARIF; nil: nothing is known; no flag
}

func (f *outputFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", string(FormatText), "what to print: text, json, markdown, html or sarif")
	cmd.Flags().StringVar(&f.html, "html", "", "also write the report with its pictures to this HTML file")
	cmd.Flags().StringVar(&f.markdown, "markdown", "", "also write the report to this Markdown file")
	cmd.Flags().StringVar(&f.json, "json", "", "also write the verdict to this JSON file")
	cmd.Flags().StringVar(&f.sarif, "sarif", "", "also write the findings to this SARIF file, for code scanning")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print every rule and every run in full")
}

// defaults fills in the files of the configuration where no flag names one.
func (f *outputFlags) defaults(r config.Report) {
	for _, file := range []struct {
		flag  *string
		value string
	}{{&f.html, r.HTML}, {&f.markdown, r.Markdown}, {&f.json, r.JSON}} {
		if *file.flag == "" {
			*file.flag = file.value
		}
	}
}

// write prints a report and leaves the files that were asked for. It prints
// first: what was found is seen even where a file can't be written.
func (c Command) write(in layout.Input, f outputFlags) error {
	return c.writeAs(f, func(w io.Writer, as Format) error { return c.render(w, in, as, f) })
}

func (c Command) writeAs(f outputFlags, render func(io.Writer, Format) error) error {
	format := Format(f.format)
	if err := oneOf("format", format, reportFormats); err != nil {
		return err
	}
	if err := render(c.Stdout, format); err != nil {
		return infrastructure(fmt.Errorf("print the report: %w", err))
	}
	for _, file := range []struct {
		path string
		as   Format
	}{{f.html, FormatHTML}, {f.markdown, FormatMarkdown}, {f.json, FormatJSON}, {f.sarif, FormatSARIF}} {
		if file.path == "" {
			continue
		}
		if err := writeFile(file.path, func(w io.Writer) error { return render(w, file.as) }); err != nil {
			return infrastructure(fileError("write the report to", file.path, err))
		}
	}
	return nil
}

// known are the places of the scenarios, which are looked for now.
func (f outputFlags) known() layout.Places {
	if f.places == nil {
		return nil
	}
	return f.places()
}

// sheetData writes what a sheet shows for other programs to read.
type sheetData struct {
	json  func(io.Writer) error
	sarif func(io.Writer, layout.Places) error
}

// writeSheet is write for a report that is no verdict on runs.
func (c Command) writeSheet(sheet layout.Sheet, of sheetData, f outputFlags) error {
	return c.writeAs(f, func(w io.Writer, as Format) error {
		switch as {
		case FormatJSON:
			return of.json(w)
		case FormatSARIF:
			return of.sarif(w, f.known())
		case FormatMarkdown:
			return sheet.Markdown(w, maxComment)
		case FormatHTML:
			return sheet.HTML(w)
		}
		return sheet.Text(w, layout.TextOptions{Color: c.color(), Width: c.Width, Verbose: f.verbose})
	})
}

func (c Command) render(w io.Writer, in layout.Input, as Format, f outputFlags) error {
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
	return layout.Text(w, in, layout.TextOptions{Color: c.color(), Width: c.Width, Verbose: f.verbose})
}

// color reports whether Stdout is a terminal whose user has not asked for plain
// text (no-color.org).
func (c Command) color() bool {
	return c.Terminal && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}

// writeFile writes a file whole or not at all.
func writeFile(path string, fill func(io.Writer) error) error {
	if special(path) {
		return writeSpecial(path, fill)
	}
	dir := filepath.Dir(path)
	if err := makeFolder(dir); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// writable looks whether files can be left in a folder, before hours are spent on
// what is to be in them.
func writable(dir string) error {
	err := makeFolder(dir)
	if err == nil {
		var tmp *os.File
		if tmp, err = os.CreateTemp(dir, ".apkgate.*"); err == nil {
			err = errors.Join(tmp.Close(), os.Remove(tmp.Name()))
		}
	}
	if err != nil {
		return infrastructure(fileError("write to the folder", dir, err))
	}
	return nil
}

// writeSpecial writes to a device or a pipe, which stays what it is.
func writeSpecial(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
