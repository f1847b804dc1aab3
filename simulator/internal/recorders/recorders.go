// Package recorders simulates the recorders on a phone: perfetto and simpleperf, as programs
// of its shell that run until they are stopped and then write a file.
//
// Their files are views of the phone's account (package account), in the encodings of packages
// pftrace and perfdata; they may lose and round data, and compute nothing.
package recorders

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Phone is the phone that the recorders run on.
type Phone struct {
	*account.Account
	Files *storage.Files
	Host  *shell.Host
	// App returns the installed app of a package, or nil.
	App func(pkg string) *simapp.App
	// Timeline returns the timeline up to now.
	Timeline func() *timeline.Timeline
	// Property returns a system property.
	Property func(name string) string
}

// Scheduled returns the timeline up to now, including the threads' runs.
func (p *Phone) Scheduled() *timeline.Timeline {
	p.Advance()
	return p.Timeline()
}

// call is a command on the phone.
type call struct {
	*Phone
	*shell.Call
}

// Since returns when the first perfetto that is still recording began, or a time after now if
// none is.
func Since(host *shell.Host) time.Duration {
	since := time.Duration(math.MaxInt64)
	for _, j := range host.Jobs() {
		if t, ok := j.Program.(*tracing); ok {
			since = min(since, t.begun)
		}
	}
	return since
}
