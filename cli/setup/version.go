package setup

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// VersionCommand returns apkgate version.
func VersionCommand(c terminal.Console) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the formats of this apkgate",
		Args:  arguments.None,
		RunE:  func(*cobra.Command, []string) error { return printVersion(c, version.Read(), output.Format(format)) },
	}
	output.ListFormat(cmd, &format)
	return cmd
}

// formats are those that files are exchanged in.
var formats = []string{run.Format, gate.Format}

func printVersion(c terminal.Console, f version.Facts, format output.Format) error {
	if err := output.CheckListFormat(format); err != nil {
		return err
	}
	if format == output.FormatJSON {
		return printJSON(c, struct {
			Format   string   `json:"format"`
			Version  string   `json:"version"`
			Commit   string   `json:"commit,omitempty"`
			Time     string   `json:"time,omitempty"`
			Modified bool     `json:"modified,omitempty"`
			Go       string   `json:"go"`
			Platform string   `json:"platform"`
			Formats  []string `json:"formats"`
		}{"apkgate.version/1", f.Version, f.Commit, f.Time, f.Modified, f.Go, f.Platform, formats})
	}
	rows := [][2]string{{"apkgate", f.Version}, {"commit", f.Commit}, {"of", f.Time}, {"go", f.Go}, {"platform", f.Platform}, {"formats", strings.Join(formats, ", ")}}
	if f.Modified {
		rows[1][1] += " with changes"
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(c.Stdout, "%-9s %s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}
