// Package recorders is what records on a simulated phone: perfetto and simpleperf, as
// programs of its shell that run until they are told to end and then write a file.
//
// What they write are views of the phone's books (package account), in the encodings of
// packages pftrace and perfdata; they may lose and round, and work nothing out.
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

// Phone is what the recorders run on.
type Phone struct {
	*account.Account
	Files *storage.Files
	Host  *shell.Host
	// App is what is installed under a package's name, or nil.
	App func(pkg string) *simapp.App
	// Timeline is what happened up to now.
	Timeline func() *timeline.Timeline
	// Property is one of the system's.
	Property func(name string) string
}

// Scheduled is what happened up to now, with who ran where.
func (p *Phone) Scheduled() *timeline.Timeline {
	p.Advance()
	return p.Timeline()
}

// call is a command that acts on the phone.
type call struct {
	*Phone
	*shell.Call
}

// Since is when the first perfetto began that still records, or a later time than now
// where none does.
func Since(host *shell.Host) time.Duration {
	since := time.Duration(math.MaxInt64)
	for _, j := range host.Jobs() {
		if t, ok := j.Program.(*tracing); ok {
			since = min(since, t.begun)
		}
	}
	return since
}
