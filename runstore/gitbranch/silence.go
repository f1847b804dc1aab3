package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// silenceLimit is the timeout of a silent remote. Git has limits of its own only for HTTP
// (http.lowSpeedTime), and none before the first byte.
const silenceLimit = time.Minute

// sayAfter is when waiting for the remote is reported.
const sayAfter = runstore.WaitUntold

// errSilent is returned where the remote keeps the connection without answering.
var errSilent = errors.New("the remote has said nothing")

// remoteVerbs are git's commands that use the remote. They are run with progress output, to
// distinguish silence from slowness.
var remoteVerbs = []string{"ls-remote", "fetch", "push"}

// silence watches a git that uses the remote.
type silence struct{ say, end *time.Timer }

// watch ends a git by its context where the remote is silent for too long; nil for one without a
// remote.
func (r *repository) watch(verb string, end context.CancelCauseFunc) *silence {
	if !slices.Contains(remoteVerbs, verb) {
		return nil
	}
	return &silence{
		say: time.AfterFunc(min(sayAfter, r.silence), func() {
			if r.waiting != nil {
				r.waiting(fmt.Sprintf("waiting up to %v for the remote of the history", r.silence), fmt.Errorf("git %s: %w for %v", verb, errSilent, min(sayAfter, r.silence)))
			}
		}),
		end: time.AfterFunc(r.silence, func() { end(fmt.Errorf("%w for %v", errSilent, r.silence)) }),
	}
}

// heard is called with any output of git.
func (s *silence) heard(limit time.Duration) {
	if s == nil {
		return
	}
	if s.say.Stop() { // once reported, it is not reported again
		s.say.Reset(min(sayAfter, limit))
	}
	s.end.Reset(limit)
}

func (s *silence) stop() {
	if s != nil {
		s.say.Stop()
		s.end.Stop()
	}
}

// progress matches git's progress output, which is no error.
var progress = regexp.MustCompile(`^(remote: )?(Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Total|Updating|Delta compression|From |To )`)
