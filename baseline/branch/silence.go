package branch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/baseline"
)

// silenceLimit is for how long the remote may say nothing. Git has limits of its own for
// HTTP alone (http.lowSpeedTime), and none before the first byte.
const silenceLimit = time.Minute

// sayAfter is when it is said that the remote is waited for.
const sayAfter = baseline.WaitUntold

// errSilent is that the remote keeps the connection and says nothing.
var errSilent = errors.New("the remote has said nothing")

// remoteVerbs are git's commands that talk with the remote. They are asked to show their
// progress, so that silence is told from slowness.
var remoteVerbs = []string{"ls-remote", "fetch", "push"}

// silence watches a git that talks with the remote.
type silence struct{ say, end *time.Timer }

// watch ends a git by its context where the remote is silent for too long; nil for one that
// talks with nobody.
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

// heard is called with whatever git says.
func (s *silence) heard(limit time.Duration) {
	if s == nil {
		return
	}
	if s.say.Stop() { // once it is said, it is said
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

// progress are git's words for how far it is: not what went wrong.
var progress = regexp.MustCompile(`^(remote: )?(Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Total|Updating|Delta compression|From |To )`)
