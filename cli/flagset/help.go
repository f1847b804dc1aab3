package flagset

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fewFlags are so many that they are listed in one go.
const fewFlags = 16

// groups are the parts of the help of a command with many flags, in their order. A flag of no group
// is listed last.
var groups = []struct {
	title string
	flags []string
}{
	{"What is measured", []string{
		"apk", "base", "head", "base-apk", "base-compile", "head-compile", "scenario", "device", "repetitions", "rounds", "parallel", "farm", "replay", "merge", "shard",
		"resume", "session", "dry-run", "why",
	}},
	{"What is read", []string{"config", "store", "run", "history", "base-run", "head-run", "package", "context", "started"}},
	{"Where the builds come from", []string{"app-version", "commit", "ref", "base-commit", "head-commit"}},
	{"How it is judged", []string{"fail-on", "accept", "accept-regression", "accept-with", "grain"}},
	{"What is written", []string{"format", "output", "html", "json", "markdown", "sarif", "codequality", "keep", "verbose"}},
	{"The published technique and its rules", []string{"preset", "outlier-factor", "min-support", "min-confidence"}},
}

// GroupHelp makes the help of every command below root list many flags in groups.
func GroupHelp(root *cobra.Command) {
	plain := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var text bytes.Buffer
		cmd.SetOut(&text)
		err := plain(cmd)
		cmd.SetOut(out)
		if err != nil {
			return err
		}
		flags := cmd.LocalFlags()
		list := "Flags:\n" + strings.TrimRight(flags.FlagUsages(), " \n")
		_, err = out.Write([]byte(strings.Replace(text.String(), list, strings.TrimRight(grouped(flags, list), "\n"), 1)))
		return err
	})
}

// grouped returns flags in groups, or the list of them if they are few or most are in no group.
func grouped(flags *pflag.FlagSet, list string) string {
	var rest []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			rest = append(rest, f)
		}
	})
	if len(rest) <= fewFlags {
		return list
	}
	var b strings.Builder
	all := len(rest)
	for _, g := range groups {
		of := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, name := range g.flags {
			if i := slices.IndexFunc(rest, func(f *pflag.Flag) bool { return f.Name == name }); i >= 0 {
				of.AddFlag(rest[i])
				rest = slices.Delete(rest, i, i+1)
			}
		}
		if of.HasFlags() {
			of.SortFlags = false
			b.WriteString(g.title + ":\n" + of.FlagUsages() + "\n")
		}
	}
	if 2*len(rest) > all {
		return list
	}
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, f := range rest {
		of.AddFlag(f)
	}
	return b.String() + "Other flags:\n" + of.FlagUsages()
}
