// Package terminal is what a command touches of the process around it: streams,
// environment, clock, and what the terminal can show.
//
// It owns how text and tables get onto a terminal, and takes a stand: all of that is
// a value, so that a test can drive every command as a user would. It knows no
// command, and nothing of runs.
package terminal

import (
	"context"
	"io"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Console is apkgate with everything it touches of the process around it.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	// Pause waits for what is not this computer's, such as GitHub, and ends early with
	// ctx's error; nil waits by this computer's clock.
	Pause func(ctx context.Context, d time.Duration) error
	// Clock is the time by which devices are measured that have no clock of
	// their own, as simulated ones have; nil is this computer's.
	Clock device.Clock
	// Terminal and Width say what Stdout can show: whether a person is looking,
	// and how many columns there are (0: unknown).
	Terminal bool
	Width    int
	// ProgressTerminal says that a person is looking at Stderr.
	ProgressTerminal bool
	Process          bool   // whether all of it is this process's own
	Dir              string // where it works; "" is this process's folder
}

// Workspace is the repository's root.
func (c Console) Workspace(otherwise string) string {
	if w := c.Getenv("GITHUB_WORKSPACE"); w != "" {
		return w
	}
	return otherwise
}

// Color reports whether Stdout is a terminal whose user has not asked for plain
// text (no-color.org).
func (c Console) Color() bool {
	return c.Terminal && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}
