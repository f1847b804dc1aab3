package performance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Measured is the result of a claim's command.
type Measured struct {
	Claim  Claim
	Values []float64 // as many as Claim.Figures
	Beyond []bool    // which figures are worse than the document allows
	Busy   bool      // a figure is beyond, and the machine too slow or too busy to judge it
	Err    error     // the command failed, or printed no such figure
}

// Failed reports whether the claim does not hold.
func (m Measured) Failed() bool {
	for _, b := range m.Beyond {
		if b {
			return true
		}
	}
	return m.Err != nil
}

// Bench runs the claims' commands.
type Bench struct {
	Dir   string   // where commands run
	Env   []string // "NAME=value"
	Speed Speed
	// Log gets the commands' standard error.
	Log io.Writer
	cpu map[string]float64 // processor time of each claim so far, for slopes
}

// Measure runs a claim's command. A command that ends with status 1 has done its work: that is a
// regression.
func (b *Bench) Measure(ctx context.Context, c Claim) Measured {
	m := Measured{Claim: c}
	values, err := b.valuesOf(ctx, c)
	if err != nil {
		m.Err = err
		return m
	}
	for _, f := range c.Figures {
		v, ok := values[f.Unit]
		if !ok {
			m.Err = fmt.Errorf("%s: the command printed no %s", c.Name, f.Unit)
			return m
		}
		m.Values = append(m.Values, v)
		beyond := f.Beyond(v, b.Speed)
		m.Busy = m.Busy || beyond && !f.Judged(b.Speed)
		m.Beyond = append(m.Beyond, beyond && f.Judged(b.Speed))
	}
	return m
}

func (b *Bench) valuesOf(ctx context.Context, c Claim) (map[Unit]float64, error) {
	if fields := strings.Fields(c.Command); len(fields) > 0 && fields[0] == "slope" {
		v, err := b.slope(fields[1:])
		return map[Unit]float64{Slope: v}, err
	}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", c.Command)
	cmd.Dir, cmd.Env = b.Dir, b.Env
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&errs, b.Log)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 && !strings.Contains(c.Command, "go test") {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", c.Name, err, prose.Short(strings.TrimSpace(errs.String()+out.String())))
	}
	peak, ok := peakOf(cmd.ProcessState)
	if !ok {
		return nil, fmt.Errorf("%s: this system does not report what a process used", c.Name)
	}
	used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if b.cpu == nil {
		b.cpu = map[string]float64{}
	}
	b.cpu[c.Name] = used
	values := map[Unit]float64{CPU: used, Peak: peak / 1e6}
	if size, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64); err == nil {
		values[Size] = size / 1000
	}
	more, err := benchmarked(out.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	maps.Copy(values, more)
	return values, nil
}

// slope returns the exponent by which processor time grows from one claim to another, whose input
// is so many times as large: "slope SMALL LARGE TIMES".
func (b *Bench) slope(args []string) (float64, error) {
	if len(args) != 3 {
		return 0, fmt.Errorf("slope has %d words behind it, want two claims and how many times as large the second's input is", len(args))
	}
	small, large := b.cpu[args[0]], b.cpu[args[1]]
	times, err := strconv.ParseFloat(args[2], 64)
	if err != nil || times <= 1 || small <= 0 || large <= 0 {
		return 0, fmt.Errorf("slope %s: both claims must have been measured before, and the last word be a number above 1", strings.Join(args, " "))
	}
	return math.Log(large/small) / math.Log(times), nil
}
