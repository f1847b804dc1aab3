package output

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func on(stdout io.Writer) terminal.Console {
	return terminal.Console{Stdout: stdout, Stderr: io.Discard, Getenv: func(string) string { return "" }}
}

// A format that is added to the list has its flag, its place in --format, and its file in a folder
// of reports, without further changes.
func TestAddingAFormat(t *testing.T) {
	before := report.Formats
	defer func() { report.Formats = before }()
	report.Formats = append(slices.Clone(before), report.Format{
		Name: "haiku", Flag: "also write the report to this file of three lines", File: "report.haiku",
		Render: func(w io.Writer, d document.Document, _ document.Options) error {
			_, err := fmt.Fprintf(w, "%s\n\n\n", d.Answer.Word)
			return err
		},
	})
	var f OutputFlags
	cmd := &cobra.Command{}
	f.Register(cmd)
	path := filepath.Join(t.TempDir(), "poem")
	if err := cmd.ParseFlags([]string{"--format", "haiku", "--haiku", path}); err != nil {
		t.Fatal(err)
	}
	if usage := cmd.Flags().Lookup("format").Usage; !strings.HasSuffix(usage, "or haiku") {
		t.Errorf("--format says %q", usage)
	}
	var printed bytes.Buffer
	if err := Write(on(&printed), document.Document{Answer: document.Answer{Word: "Pass"}}, f); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(path)
	if err != nil || string(left) != "Pass\n\n\n" || printed.String() != "Pass\n\n\n" {
		t.Errorf("printed %q, left %q, %v", printed.String(), left, err)
	}
	if got := InFolder("out", nil).Path("haiku"); got != filepath.Join("out", "report.haiku") {
		t.Errorf("in a folder it is %q", got)
	}
}

func TestUnknownFormat(t *testing.T) {
	err := Write(on(io.Discard), document.Document{}, OutputFlags{Format: "xml"})
	if err == nil || !strings.Contains(err.Error(), `--format is "xml", want one of text, json, markdown, html, sarif, svg, codequality`) {
		t.Errorf("the error is %v", err)
	}
}

// The configuration's files are used where no flag names one; a page comes first where files are
// listed.
func TestDefaults(t *testing.T) {
	f := Text().To(FormatHTML, "flag.html")
	f.Defaults(config.Report{HTML: "config.html", JSON: "config.json"})
	if got, want := f.Files(), []string{"flag.html", "config.json"}; !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	if !f.Asks(FormatJSON) || f.Asks(FormatSARIF) {
		t.Error("JSON is asked for, SARIF is not")
	}
}
