// Package completion tells a shell the values that flags and arguments take: words that are fixed, and
// what the configuration and the history have.
//
// It changes nothing, prints nothing, and gives up after a short time: a shell waits for it.
package completion

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// source returns the values of a flag or an argument.
type source func(c terminal.Console, cmd *cobra.Command) []string

// ofFlags are the flags whose values are known, by their names. That of --format is in its usage.
var ofFlags = map[string]source{
	"fail-on":      fixed(words(gate.FailOns())...),
	"preset":       fixed(gate.Presets()...),
	"grain":        fixed(words(gate.Grains())...),
	"base-compile": fixed(config.Compilations()...),
	"head-compile": fixed(config.Compilations()...),
	"state":        fixed(string(runstore.Accepted), string(runstore.Rejected), string(runstore.Rebaselined), "unmarked"),
	"scenario":     scenarios,
	"device":       devices,
	"session":      sessions,
	"format":       formats,
	"by":           fixed("session", "run"),
}

// ofRuns are the commands whose arguments are the ids of runs.
var ofRuns = []string{"show", "evidence", "accept", "reject", "rebaseline"}

// Register has the commands below root complete values.
func Register(c terminal.Console, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		Register(c, cmd)
	}
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if values, known := ofFlags[f.Name]; known {
			_ = root.RegisterFlagCompletionFunc(f.Name, completing(c, values)) // it fails for a flag that has one
		}
	})
	if root.HasParent() && root.Parent().Name() == "baseline" && slices.Contains(ofRuns, root.Name()) {
		root.ValidArgsFunction = completing(c, runs)
	}
}

// completing is what cobra calls.
func completing(c terminal.Console, values source) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		out := slices.DeleteFunc(values(c, cmd), func(v string) bool { return !strings.HasPrefix(v, typed) })
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func fixed(values ...string) source {
	return func(terminal.Console, *cobra.Command) []string { return slices.Clone(values) }
}

func words[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// formats returns the formats that the flag's usage lists: "what to print: text, json or html".
func formats(_ terminal.Console, cmd *cobra.Command) []string {
	f := cmd.Flags().Lookup("format")
	_, listed, ok := strings.Cut(f.Usage, "what to print: ")
	if !ok {
		listed = f.Usage
	}
	var out []string
	for word := range strings.FieldsFuncSeq(listed, func(r rune) bool { return r == ',' || r == ';' || r == ':' || r == ' ' }) {
		if known := []string{"text", "json", "markdown", "html", "sarif", "svg", "codequality", "csv"}; slices.Contains(known, word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// flag returns the value of a flag, "" if the command has none.
func flag(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func configuration(cmd *cobra.Command) *config.Config {
	cfg, err := settings.LoadConfig(flag(cmd, "config"), true)
	if err != nil {
		return &config.Config{}
	}
	return cfg
}

func scenarios(_ terminal.Console, cmd *cobra.Command) (out []string) {
	for _, s := range configuration(cmd).Scenarios {
		out = append(out, s.Name)
	}
	return out
}

func devices(_ terminal.Console, cmd *cobra.Command) (out []string) {
	for _, d := range configuration(cmd).Devices {
		out = append(out, d.Name)
	}
	return out
}

// How many of the newest runs are offered, and how long the history may take.
const (
	offered = 100
	patient = 2 * time.Second
)

// newest calls take with the newest runs of the history.
func newest(c terminal.Console, cmd *cobra.Command, take func(runstore.Entry)) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	address, err := settings.StoreAddress(settings.ConfigFlags{Config: flag(cmd, "config"), Store: flag(cmd, "store")})
	if err != nil {
		return
	}
	c.Stderr = io.Discard
	store, err := openstore.OpenToRead(ctx, c, address)
	if err != nil {
		return
	}
	defer store.Close()
	for e, err := range runstore.SoundOf(store).List(ctx, runstore.Filter{Limit: offered}) {
		if err != nil {
			return
		}
		take(e)
	}
}

// runs returns the ids of runs, each with what it is of, which shells show beside it.
func runs(c terminal.Console, cmd *cobra.Command) (out []string) {
	newest(c, cmd, func(e runstore.Entry) {
		out = append(out, terminal.Plain(e.Run.ID)+"\t"+terminal.Plain(strings.TrimSpace(e.Run.App.Package+" "+e.Run.Scenario)))
	})
	return out
}

func sessions(c terminal.Console, cmd *cobra.Command) (out []string) {
	newest(c, cmd, func(e runstore.Entry) {
		if s := terminal.Plain(e.Run.Session); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	})
	return out
}
