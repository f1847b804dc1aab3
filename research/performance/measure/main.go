// Command measure runs the commands of docs/performance.md and compares what they take
// with what the document says; see scripts/performance.
//
// It owns the flags and what is printed. What a claim is, and when it no longer holds, is
// package performance's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"

	"github.com/apkgate/apkgate/research/performance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "scripts/performance:", err)
		os.Exit(1)
	}
}

// A faster machine has to hold what the document says, and no less; on one that is slower than
// this the reference work does not tell how much.
const least, most = 1, 4

// tries is how often a claim is measured that does not hold: other work may have come between.
const tries = 3

var errBeyond = errors.New("figures of docs/performance.md don't hold")

func measure(ctx context.Context, args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	document := flags.String("document", "docs/performance.md", "where the claims stand")
	quick := flags.Bool("quick", false, "measure what the document calls quick alone")
	corpus := flags.Bool("corpus", false, "measure also what needs the captures of a corpus")
	only := flags.String("only", "", "measure the claims alone whose names match this expression")
	reference := flags.Duration("reference", 0, "what the reference work took where the document was made")
	work := flags.Bool("work", false, "do the reference work, print what it takes, and nothing else")
	took := flags.Duration("took", 0, "what the reference work takes here")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *work {
		_, err := fmt.Fprintln(out, performance.ReferenceWork())
		return err
	}
	name, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	claims, err := claimsOf(*document)
	if err != nil {
		return err
	}
	bench := performance.Bench{Dir: ".", Env: os.Environ(), Speed: 1, Log: errs}
	if *reference > 0 && *took > 0 {
		bench.Speed = min(max(took.Seconds()/reference.Seconds(), least), most)
	}
	fmt.Fprintf(out, "The reference work takes %d ms here: figures of time may be %.2f times the document's.\n\n", took.Milliseconds(), bench.Speed*performance.Within)
	if err := performance.Head(out); err != nil {
		return err
	}
	failed := false
	for _, c := range claims {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if *quick && c.When != performance.Quick || c.When == performance.Corpus && !*corpus || !name.MatchString(c.Name) {
			continue
		}
		m := bench.Measure(ctx, c)
		for n := 1; n < tries && m.Failed() && m.Err == nil; n++ {
			m = bench.Measure(ctx, c)
		}
		failed = failed || m.Failed()
		fmt.Fprintln(out, m.Row())
	}
	if failed {
		return errBeyond
	}
	return nil
}

func claimsOf(document string) ([]performance.Claim, error) {
	f, err := os.Open(document)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	claims, err := performance.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", document, err)
	}
	return claims, nil
}
