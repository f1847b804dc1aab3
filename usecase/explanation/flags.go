package explanation

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
)

// Flags limit how long explaining a regression may take.
type Flags struct{ Why string }

// Within returns the time for it.
func (f Flags) Within(cfg *config.Config) (time.Duration, error) {
	if f.Why == "" {
		return cfg.Evidence.Why, nil
	}
	d, err := time.ParseDuration(f.Why)
	if err != nil || d < 0 || d > config.MostWhy {
		return 0, exit.Usage(fmt.Errorf("--why is %s, want a duration from 0s to %s, such as 10m", prose.Quote(f.Why, 80), prose.Duration(config.MostWhy)), "")
	}
	return d, nil
}
