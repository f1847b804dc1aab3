// Package arguments checks positional arguments and flags' values, and reports what is wrong with
// them and what was probably meant.
//
// It defines no flag: those are with their commands, and with what they set.
package arguments

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
)

// OnlyCommands is the Args of a command that only has subcommands.
func OnlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			verbs = append(verbs, verb.Name())
		}
	}
	return exit.Usage(fmt.Errorf("%s has no command %q, want one of %s", cmd.CommandPath(), prose.Short(args[0]), strings.Join(verbs, ", ")),
		cmp.Or(below(cmd, args[0]), config.DidYouMean(args[0], verbs)))
}

// below returns the command of a command of cmd that is called by a word, or suggested for it; "" if
// there is none.
func below(cmd *cobra.Command, word string) string {
	for _, verb := range cmd.Commands() {
		for _, c := range verb.Commands() {
			if c.IsAvailableCommand() && (c.Name() == word || slices.Contains(c.SuggestFor, word)) {
				return "did you mean " + c.CommandPath() + "?"
			}
		}
	}
	return ""
}

// None is the Args of a command that takes only flags.
func None(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help shows how it is called"
	if cmd.Flags().Lookup("run") != nil {
		hint = fmt.Sprintf("files of runs are named with --run: %s --run %s", cmd.CommandPath(), device.Quote(prose.Short(args[0])))
	}
	return exit.Usage(fmt.Errorf("%s takes no argument, but got %q", cmd.CommandPath(), prose.Short(args[0])), hint)
}

// Exactly is the Args of a command with exactly these arguments.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return exit.Usage(fmt.Errorf("%s takes %s, but got %s", cmd.CommandPath(), strings.Join(names, " "), prose.Count(len(args), "argument", "arguments")),
			cmd.CommandPath()+" --help shows how it is called")
	}
}

// AtMost is the Args of a command with at most these arguments.
func AtMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= len(names) {
			return nil
		}
		return exit.Usage(fmt.Errorf("%s takes at most %s, but got %s", cmd.CommandPath(), strings.Join(names, " "), prose.Count(len(args), "argument", "arguments")),
			cmd.CommandPath()+" --help shows how it is called")
	}
}

// FlagError rewords an error about a flag. A wrong command, whose flags are unknown, is reported
// first.
func FlagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return OnlyCommands(cmd, cmd.Flags().Args())
	}
	hint := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var lacking *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown, hint)
	case errors.As(err, &invalid):
		name := invalid.GetFlag().Name
		return exit.Usage(fmt.Errorf("--%s is %q, want %s", name, prose.Short(invalid.GetValue()), KindOf(invalid.GetFlag())), "")
	case errors.As(err, &lacking):
		return exit.Usage(fmt.Errorf("--%s needs %s", lacking.GetFlag().Name, KindOf(lacking.GetFlag())), "")
	}
	return exit.Usage(err, hint)
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError, hint string) error {
	word, shown := unknown.GetSpecifiedName(), "--"+prose.Short(unknown.GetSpecifiedName())
	if letters := unknown.GetSpecifiedShortnames(); letters != "" { // -run for --run
		word, shown = letters, "-"+prose.Short(letters)
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	if near := config.DidYouMean("--"+word, flags); near != "" {
		hint = near
	}
	return exit.Usage(fmt.Errorf("%s has no flag %s", cmd.CommandPath(), shown), hint)
}

// KindOf describes the values that a flag takes.
func KindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "float64":
		return "a number"
	case "int", "uint64":
		return "a whole number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 90s or 5m"
	}
	return "a value"
}
