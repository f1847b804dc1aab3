// Command table prints the results of whole pull requests, as in docs/evaluation/pull-requests.md:
//
//	go run ./research/evaluation/pullrequest/table -trials 500
//
// It draws and prints; package gate judges the pull requests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/research/evaluation/pullrequest"
)

func main() {
	trials := flag.Int("trials", 500, "pull requests of each row")
	seed := flag.Uint64("seed", 1, "what chance begins with")
	others := flag.Bool("others", false, "other numbers of scenarios and short rounds, of the changes that matter most")
	flag.Parse()
	if *trials < 1 || *trials > 1_000_000 {
		fmt.Fprintf(os.Stderr, "table: trials are %d, want 1 to 1000000\n", *trials)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := print(ctx, worlds(*others), *seed, *trials); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// worlds returns those of the table: six scenarios and long rounds, or the others.
func worlds(others bool) (out []pullrequest.World) {
	for _, lasts := range []gate.RoundDurations{pullrequest.Long, pullrequest.Short} {
		for _, scenarios := range []int{1, 3, 6, 12} {
			if standard := lasts == pullrequest.Long && scenarios == 6; standard == others {
				continue
			}
			for _, noise := range append(pullrequest.Noises(), pullrequest.Unkind()...) {
				for _, change := range pullrequest.Changes() {
					if !others || change.Matters() {
						out = append(out, pullrequest.Standard(noise, scenarios, lasts, change))
					}
				}
			}
		}
	}
	return out
}

func print(ctx context.Context, worlds []pullrequest.World, seed uint64, trials int) error {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	if err := pullrequest.Head(os.Stdout); err != nil {
		return err
	}
	for _, w := range worlds {
		row, err := pullrequest.Try(ctx, w, p, seed, trials)
		if err != nil {
			return err
		}
		if err := row.Write(os.Stdout); err != nil {
			return err
		}
	}
	return nil
}
