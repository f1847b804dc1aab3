// Package manual writes the manual pages of the commands, in the language of man(7), from what --help
// says.
//
// It has no text of its own about a command.
package manual

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command returns apkgate man.
func Command(c terminal.Console) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [COMMAND…]",
		Short: "Print the manual page of a command",
		Long: "Prints the manual page of a command, of apkgate itself without one, for man -l.\n" +
			"With --dir it writes the pages of all commands to a folder, such as a folder man1 of MANPATH.",
		Example: "  apkgate man run | man -l -\n  apkgate man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil || len(rest) > 0:
				return arguments.OnlyCommands(cmd.Root(), args)
			case dir == "":
				_, err = io.WriteString(c.Stdout, Page(of))
				return err
			case len(args) > 0:
				return exit.Usage(fmt.Errorf("--dir writes the pages of all commands: leave out %s", strings.Join(args, " ")), "")
			}
			return write(c, cmd.Root(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all commands to this folder")
	return cmd
}

// write writes the page of a command and of those below it.
func write(c terminal.Console, cmd *cobra.Command, dir string) error {
	path := filepath.Join(dir, nameOf(cmd)+".1")
	err := atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, Page(cmd)); return err })
	if err != nil {
		return exit.Infrastructure(atomicfile.Error("write the manual page to", path, err))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			if err := write(c, below, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf is the name of a command's page: "apkgate-baseline-list".
func nameOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the manual page of a command.
func Page(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	p := &page{}
	p.line(".TH %q 1 \"\" %q \"apkgate\"", strings.ToUpper(nameOf(cmd)), version.Tool())
	p.section("NAME")
	p.text(nameOf(cmd) + " - " + cmd.Short)
	p.section("SYNOPSIS")
	p.line(".B %s", escape(cmd.CommandPath()))
	if _, rest, _ := strings.Cut(cmd.Use, " "); rest != "" {
		p.text(rest)
	}
	if cmd.HasAvailableFlags() {
		p.text("[flags]")
	}
	if cmd.Long != "" {
		p.section("DESCRIPTION")
		p.text(cmd.Long)
	}
	p.commands(cmd)
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("INHERITED OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		p.section("EXAMPLES")
		p.line(".nf")
		p.text(cmd.Example)
		p.line(".fi")
	}
	if cmd.HasParent() {
		p.section("SEE ALSO")
		p.line(".BR %s (1)", escape(nameOf(cmd.Parent())))
	}
	return p.String()
}

// page is the text of a page.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(title string) { p.line(".SH %s", title) }

// text adds lines of text; an empty one begins a paragraph.
func (p *page) text(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			p.line(".PP")
			continue
		}
		p.line("%s", escape(line))
	}
}

func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.section("COMMANDS")
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			p.line(".TP")
			p.line(".BR %s (1)", escape(nameOf(below)))
			p.text(below.Short)
		}
	}
}

func (p *page) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		p.line(".TP")
		p.line(".B %s", escape(strings.TrimSpace(name+" "+kind(f))))
		usage := f.Usage
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
			usage += " (default " + f.DefValue + ")"
		}
		p.text(usage)
	})
}

// kind returns what a flag takes, "" for one that takes nothing.
func kind(f *pflag.Flag) string {
	switch t := f.Value.Type(); t {
	case "bool":
		return ""
	case "stringArray", "stringSlice":
		return "string"
	default:
		return t
	}
}

// escape keeps a line from being read as a request, and its characters from being escapes and soft
// hyphens.
func escape(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
