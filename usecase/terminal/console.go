// Package terminal holds what a command uses of the process around it: streams, environment, clock,
// and the properties of the terminal.
//
// It owns how text and tables are printed on a terminal. All of it is a value, so that a test can
// drive every command as a user would. It knows no command, and nothing of runs.
package terminal

import (
	"context"
	"io"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Console is everything that apkgate uses of the process around it.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	// Pause waits for remote services such as GitHub, and ends early with ctx's error; nil waits by
	// this computer's clock.
	Pause func(ctx context.Context, d time.Duration) error
	// Clock times the measurement of devices without a clock of their own, which simulated ones
	// have; nil is this computer's.
	Clock device.Clock
	// Terminal reports whether Stdout is a terminal, and Width is its number of columns (0:
	// unknown).
	Terminal bool
	Width    int
	// ProgressTerminal reports whether Stderr is a terminal.
	ProgressTerminal bool
	Process          bool   // whether all of it is this process's own
	Dir              string // the working folder; "" is this process's
}

// Workspace returns the repository's root.
func (c Console) Workspace(otherwise string) string {
	if w := c.Getenv("GITHUB_WORKSPACE"); w != "" {
		return w
	}
	return otherwise
}

// Color reports whether Stdout is a terminal whose user has not disabled colors (no-color.org).
func (c Console) Color() bool {
	return c.Terminal && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}
