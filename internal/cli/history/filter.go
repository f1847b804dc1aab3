package history

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/words"
)

// filterFlags choose runs of the history.
type filterFlags struct {
	pkg, scenario, state, commit string
	where                        []string
	limit                        int
}

func (f *filterFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pkg, "package", "", "only runs of this app")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "only runs of this scenario")
	cmd.Flags().StringVar(&f.commit, "commit", "", "only runs of this commit")
	cmd.Flags().StringVar(&f.state, "state", "", "only runs that are accepted, rejected, rebaselined or unmarked")
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only runs with this context property, NAME=VALUE; may be repeated")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "at most so many (0: all)")
}

func (f filterFlags) filter() (baseline.Filter, error) {
	out := baseline.Filter{Package: f.pkg, Scenario: f.scenario, Commit: f.commit, Limit: f.limit}
	switch f.state {
	case "":
	case "unmarked":
		out.States = []baseline.State{baseline.Unmarked}
	default:
		if err := arguments.OneOf("state", baseline.State(f.state), append(baseline.States(), "unmarked")); err != nil {
			return out, err
		}
		out.States = []baseline.State{baseline.State(f.state)}
	}
	for _, w := range f.where {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return out, exit.Usage(fmt.Errorf("--where is %q, want NAME=VALUE", words.Short(w)), "")
		}
		if out.Where == nil {
			out.Where = map[string]string{}
		}
		out.Where[name] = value
	}
	if f.limit < 0 {
		return out, exit.Usage(fmt.Errorf("--limit is %d, want 0 or more", f.limit), "")
	}
	return out, nil
}
