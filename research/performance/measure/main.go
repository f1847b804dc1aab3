// Command measure runs the commands of docs/performance.md and compares their cost with the
// document's figures; see scripts/performance.
//
// It owns the flags and the output. Package performance defines claims, and when they no longer
// hold.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"time"

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

// tries is how often a failing claim is measured, each time with the reference work: other
// processes may have interfered.
const tries = 4

var errBeyond = errors.New("figures of docs/performance.md don't hold")

func measure(ctx context.Context, args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	document := flags.String("document", "docs/performance.md", "where the claims stand")
	quick := flags.Bool("quick", false, "measure what the document calls quick alone")
	corpus := flags.Bool("corpus", false, "measure also what needs the captures of a corpus")
	only := flags.String("only", "", "measure the claims alone whose names match this expression")
	work := flags.Bool("work", false, "do the reference work, print the processor time and the time it takes, and nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *work {
		w := performance.ReferenceWork()
		_, err := fmt.Fprintln(out, w.CPU, w.Wall)
		return err
	}
	name, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	claims, reference, err := claimsOf(*document)
	if err != nil {
		return err
	}
	took, err := referenceWork(ctx)
	if err != nil {
		return err
	}
	bench := performance.Bench{Dir: ".", Env: os.Environ(), Speed: performance.SpeedOf(took, reference), Log: errs}
	fmt.Fprintf(out, "The reference work takes %d ms here, %d ms of processor time: figures of time may be %.2f times the document's, those of processor time %.2f times.\n\n",
		took.Wall.Milliseconds(), took.CPU.Milliseconds(), bench.Speed.Wall*performance.Within, bench.Speed.CPU*performance.Within)
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
			if took, err = referenceWork(ctx); err != nil {
				return err
			}
			bench.Speed = performance.SpeedOf(took, reference)
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

// referenceWork does the reference work in a process of its own: its memory would count as that of
// the processes that this one starts.
func referenceWork(ctx context.Context) (performance.Work, error) {
	self, err := os.Executable()
	if err != nil {
		return performance.Work{}, fmt.Errorf("find this program: %w", err)
	}
	printed, err := exec.CommandContext(ctx, self, "--work").Output()
	if err != nil {
		return performance.Work{}, fmt.Errorf("do the reference work: %w", err)
	}
	fields := strings.Fields(string(printed))
	if len(fields) != 2 {
		return performance.Work{}, fmt.Errorf("do the reference work: printed %q, want two durations", printed)
	}
	cpu, err := time.ParseDuration(fields[0])
	if err != nil {
		return performance.Work{}, fmt.Errorf("do the reference work: %w", err)
	}
	wall, err := time.ParseDuration(fields[1])
	if err != nil {
		return performance.Work{}, fmt.Errorf("do the reference work: %w", err)
	}
	return performance.Work{CPU: cpu, Wall: wall}, nil
}

// claimsOf reads the document's claims, and how long the reference work took on its machine.
func claimsOf(document string) ([]performance.Claim, time.Duration, error) {
	raw, err := os.ReadFile(document)
	if err != nil {
		return nil, 0, err
	}
	claims, err := performance.Parse(bytes.NewReader(raw))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", document, err)
	}
	reference, err := performance.ReferenceOf(raw)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", document, err)
	}
	return claims, reference, nil
}
