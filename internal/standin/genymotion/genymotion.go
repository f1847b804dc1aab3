// Package genymotion is what the stand-ins play of Genymotion: gmtool of the Desktop, and
// gmsaas of the cloud.
//
// It owns what the two print and what they remember of devices and instances; the phones
// behind them are package instance's, in processes of their own. It takes a stand: what it
// does not know it refuses with the tool's own usage error.
package genymotion

import (
	"fmt"
	"io"

	"github.com/apkgate/apkgate/internal/standin/state"
)

// SaaS plays gmsaas.
func SaaS(_ state.Folder, args []string, _, stderr io.Writer) int {
	fmt.Fprintf(stderr, "Usage: gmsaas [OPTIONS] COMMAND [ARGS]...\n\nError: No such command %q.\n", args)
	return 2
}

// Desktop plays gmtool.
func Desktop(_ state.Folder, args []string, _, stderr io.Writer) int {
	fmt.Fprintf(stderr, "No such action: %q\n", args)
	return 1
}
