// Package output prints reports in the requested format, and writes them to the requested files. It
// prints first, so that the result is shown even if a file can't be written.
//
// It derives its flags from the formats that package report has. The content and the layout of a
// report belong to package report.
package output

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Format is the format of printed results.
type Format string

// The formats of --format that commands name: those of reports are all that package report has.
const (
	FormatText     Format = "text"
	FormatJSON     Format = "json"
	FormatMarkdown Format = "markdown"
	FormatHTML     Format = "html"
	FormatSARIF    Format = "sarif"
	FormatCSV      Format = "csv" // a table for spreadsheets
)

// OutputFlags set the format and the files of a report.
type OutputFlags struct {
	Format  string
	paths   map[Format]*string // the requested files, by their formats
	verbose bool
	Places  func() document.Places // for SARIF; nil: nothing is known; no flag
}

// Text returns the flags of a command that only prints text.
func Text() OutputFlags { return OutputFlags{Format: string(FormatText)} }

// Register defines the flags.
func (f *OutputFlags) Register(cmd *cobra.Command) {
	names := report.Names()
	last := len(names) - 1
	cmd.Flags().StringVar(&f.Format, "format", string(FormatText), "what to print: "+strings.Join(names[:last], ", ")+" or "+names[last])
	f.paths = map[Format]*string{}
	for _, format := range report.Formats {
		if format.Flag != "" {
			f.paths[Format(format.Name)] = cmd.Flags().String(format.Name, "", format.Flag)
		}
	}
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print every rule and every run in full")
}

// ListFormat defines the format of a command that prints no report.
func ListFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", string(FormatText), "what to print: text or json")
}

// CheckListFormat rejects an unknown one.
func CheckListFormat(format Format) error {
	return exit.OneOf("format", format, []Format{FormatText, FormatJSON})
}

// Check rejects an unknown format, and a folder where a file is to be written, before any time is
// spent on what is in it.
func (f OutputFlags) Check() error {
	if _, ok := report.Find(f.Format); !ok {
		return exit.OneOf("format", f.Format, report.Names())
	}
	for _, as := range f.formats() {
		if info, err := os.Stat(f.Path(as)); err == nil && info.IsDir() {
			return exit.Usage(fmt.Errorf("write the %s report to %s: it is a folder", as, terminal.Plain(f.Path(as))), "name a file, such as "+terminal.Plain(filepath.Join(f.Path(as), "report."+string(as))))
		}
	}
	return nil
}

// Path returns the file of a format, "" for none.
func (f OutputFlags) Path(as Format) string {
	if path := f.paths[as]; path != nil {
		return *path
	}
	return ""
}

// To returns the flags with a file for a format.
func (f OutputFlags) To(as Format, path string) OutputFlags {
	f.paths = maps.Clone(f.paths)
	if f.paths == nil {
		f.paths = map[Format]*string{}
	}
	f.paths[as] = &path
	return f
}

// InFolder returns the flags for a file of each format in a folder.
func InFolder(dir string, places func() document.Places) OutputFlags {
	f := OutputFlags{Places: places}
	for _, format := range report.Formats {
		if format.File != "" {
			f = f.To(Format(format.Name), filepath.Join(dir, format.File))
		}
	}
	return f
}

// Asks reports whether a format is to be printed or written to a file.
func (f OutputFlags) Asks(as Format) bool { return Format(f.Format) == as || f.Path(as) != "" }

// Defaults fills in the files of the configuration where no flag names one.
func (f *OutputFlags) Defaults(r config.Report) {
	for as, path := range map[Format]string{FormatHTML: r.HTML, FormatMarkdown: r.Markdown, FormatJSON: r.JSON} {
		if f.Path(as) == "" {
			*f = f.To(as, path)
		}
	}
}

// people are the formats that people read, which are listed first.
var people = []Format{FormatHTML, FormatMarkdown}

// formats returns those with a file, those for people first.
func (f OutputFlags) formats() []Format {
	out := slices.Clone(people)
	for _, format := range report.Formats {
		if as := Format(format.Name); !slices.Contains(out, as) {
			out = append(out, as)
		}
	}
	return slices.DeleteFunc(out, func(as Format) bool { return f.Path(as) == "" })
}

// Files returns those that the flags name.
func (f OutputFlags) Files() []string {
	var out []string
	for _, as := range f.formats() {
		out = append(out, f.Path(as))
	}
	return out
}

// Write prints an answer and writes the requested files. It prints first, so that the result is
// shown even if a file can't be written.
func Write(c terminal.Console, answer document.Document, f OutputFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	if err := render(c.Stdout, answer, Format(f.Format), f.options(c)); err != nil {
		return exit.Infrastructure(fmt.Errorf("print the report: %w", err))
	}
	return WriteFiles(c, answer, f)
}

// WriteFiles writes the requested files.
func WriteFiles(c terminal.Console, answer document.Document, f OutputFlags) error {
	for _, as := range f.formats() {
		path := f.Path(as)
		if err := atomicfile.Write(path, func(w io.Writer) error { return render(w, answer, as, f.options(c)) }); err != nil {
			return exit.Infrastructure(atomicfile.Error("write the report to", path, err))
		}
	}
	return nil
}

func (f OutputFlags) options(c terminal.Console) document.Options {
	return document.Options{Color: c.Color(), Width: c.Width, Verbose: f.verbose, Places: f.Places}
}

func render(w io.Writer, answer document.Document, as Format, o document.Options) error {
	format, ok := report.Find(string(as))
	if !ok {
		return fmt.Errorf("there is no format %q, only %s", as, strings.Join(report.Names(), ", "))
	}
	return format.Render(w, answer, o)
}
