package setup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// ConfigCommand returns apkgate config.
func ConfigCommand(c terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check apkgate.yml without a device",
		Args:  arguments.OnlyCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configCheckCommand(c))
	return cmd
}

func configCheckCommand(c terminal.Console) *cobra.Command {
	var format string
	var files bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Report every problem of a configuration, each with its line",
		Long: "Reports every problem of a configuration (default apkgate.yml), each with its line and what is allowed.\n" +
			"It needs neither adb nor a device. --files also looks for the files that it names, such as APKs, and into them.",
		Args: arguments.AtMost("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			path := config.FileName
			if len(args) > 0 {
				path = args[0]
			}
			return checkConfig(c, path, files, output.Format(format))
		},
	}
	cmd.Flags().BoolVar(&files, "files", false, "also check the files that the configuration names")
	output.ListFormat(cmd, &format)
	return cmd
}

func checkConfig(c terminal.Console, path string, files bool, format output.Format) error {
	if err := output.CheckListFormat(format); err != nil {
		return err
	}
	cfg, err := settings.LoadConfig(path, true)
	if err == nil && files {
		err = validate.Files(cfg)
	}
	if format == output.FormatJSON {
		return errors.Join(writeProblems(c, path, err), err)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.Stdout, "%s is valid: %s\n", terminal.Plain(path), summary(cfg))
	}
	return err
}

// summary names what a valid configuration has.
func summary(cfg *config.Config) string {
	var names []string
	for _, s := range cfg.Scenarios {
		names = append(names, s.Name)
	}
	parts := []string{"app " + cfg.App.Package}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", prose.Count(len(names), "scenario", "scenarios"), terminal.Plain(prose.Short(strings.Join(names, ", ")))))
	} else {
		parts = append(parts, "no scenario, so that it can judge runs and measure none")
	}
	if len(cfg.Devices) > 0 {
		parts = append(parts, prose.Count(len(cfg.Devices), "device", "devices"))
	}
	return strings.Join(parts, ", ")
}

// problem is a config.Problem in apkgate.config-check/1.
type problem struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

func writeProblems(c terminal.Console, path string, found error) error {
	out := struct {
		Format   string    `json:"format"`
		File     string    `json:"file"`
		Valid    bool      `json:"valid"`
		Problems []problem `json:"problems"`
	}{"apkgate.config-check/1", path, found == nil, []problem{}}
	var several config.Problems
	switch {
	case errors.As(found, &several):
		for _, p := range several {
			out.Problems = append(out.Problems, problem{p.Line, p.Column, p.Path, p.Text, p.Hint})
		}
	case found != nil:
		out.Problems = append(out.Problems, problem{Text: found.Error(), Hint: exit.HintOf(found)})
	}
	return printJSON(c, out)
}
