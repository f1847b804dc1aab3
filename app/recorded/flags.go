package recorded

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/app/exit"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
)

// Flags say how long it may take to explain a regression.
type Flags struct{ why string }

// Register defines the flag.
func (f *Flags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.why, "why", "", fmt.Sprintf("how long both builds are recorded at most, after a regression, to explain it, such as 10m; 0 records nothing (default: the configuration's evidence.why, %s)", prose.Duration(config.DefaultWhy)))
}

// Within is the time for it.
func (f Flags) Within(cfg *config.Config) (time.Duration, error) {
	if f.why == "" {
		return cfg.Evidence.Why, nil
	}
	d, err := time.ParseDuration(f.why)
	if err != nil || d < 0 || d > config.MostWhy {
		return 0, exit.Usage(fmt.Errorf("--why is %s, want a duration from 0s to %s, such as 10m", prose.Quote(f.why, 80), prose.Duration(config.MostWhy)), "")
	}
	return d, nil
}
