package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// change is what a push does to the branch.
type change struct {
	message string
	files   []file
	root    bool         // begin the branch again with these files and no past
	apply   func() error // updates the index when the remote has it
}

// Pauses between attempts: drawn evenly from zero up to a limit that doubles.
const (
	firstPause = 50 * time.Millisecond
	longPause  = 5 * time.Second
	// maxStuck is how often to try while the branch does not move: another writer is then not the
	// reason for a rejection.
	maxStuck = 6
)

// write makes a change and pushes it. plan computes the change from the index, which is then at the
// branch's tip; where another writer is faster, it is called again. A change without files is not
// pushed.
func (s *Store) write(ctx context.Context, plan func(*work) (change, error)) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: it was opened to be read", runstore.ErrReadOnly)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Wait, errTooLong)
	defer cancel()
	return s.alone(ctx, func(w *work) error {
		// A push shows whether the index is still at the tip. A change without a push has to check.
		looked := w.tip == "" // the branch is new, or the private repository is
		if looked {
			if err := w.sync(ctx); err != nil {
				return err
			}
		}
		stuck, overtaken := 0, false
		for attempt := 0; ; attempt++ {
			c, err := plan(w)
			if (err != nil || len(c.files) == 0) && !looked {
				if err := w.sync(ctx); err != nil {
					return err
				}
				looked = true
				c, err = plan(w)
			}
			if err != nil || len(c.files) == 0 {
				return err
			}
			before := w.tip
			err = w.publish(ctx, c)
			if err == nil {
				return c.apply()
			}
			if errors.Is(err, errSilent) {
				return unreachable(err)
			}
			arrived, syncErr := w.catchUp(ctx, attempt, c)
			if arrived {
				return c.apply()
			}
			if stuck++; w.tip != before {
				stuck, overtaken = 0, true
			}
			if cause := context.Cause(ctx); cause != nil {
				if !errors.Is(cause, errTooLong) {
					return fmt.Errorf("%w: %w", cause, err)
				}
				return s.outOfTime(err, syncErr, overtaken)
			}
			if stuck == maxStuck {
				return why(err, syncErr)
			}
		}
	})
}

// errTooLong is returned where the time for writing is over.
var errTooLong = errors.New("the time for it is over")

// outOfTime returns why writing was given up after its time: others were faster each time, or the
// last error of the push and of reading.
func (s *Store) outOfTime(push, reading error, overtaken bool) error {
	if overtaken && reading == nil {
		return &runstore.Error{
			Err:    fmt.Errorf("give up after %v, since others write all the time: %w", s.options.Wait, push),
			Advice: "Run the same command again when fewer others write.",
		}
	}
	return why(fmt.Errorf("no push was taken within %v: %w", s.options.Wait, push), reading)
}

// why returns advice on a rejected push, unless the remote can't be read either.
func why(push, reading error) error {
	if reading != nil && !errors.Is(reading, context.DeadlineExceeded) {
		return unreachable(fmt.Errorf("%w; then %w", push, reading))
	}
	if strings.Contains(push.Error(), "cannot lock ref") { // git's files.c, lock_ref
		return &runstore.Error{
			Err:    push,
			Advice: "Another git holds the branch locked on the remote, or was killed and has left its lock: see what git says of it.",
		}
	}
	return &runstore.Error{
		Err:    push,
		Advice: "Writing needs the right to push to this branch (in a GitHub workflow: permissions: contents: write), and pruning the right to force a push.",
	}
}

// publish pushes the change on top of the tip of the index.
func (w *work) publish(ctx context.Context, c change) error {
	files, parent := c.files, w.tip
	if c.root {
		parent = ""
	}
	if parent == "" {
		files = append([]file{{path: formatPath, data: []byte(Format + "\n")}, {path: readmePath, data: []byte(readme)}}, files...)
	}
	commit, err := w.repo.commit(ctx, parent, c.message, w.options.Now(), files)
	if err != nil {
		return err
	}
	if err := w.repo.push(ctx, w.tip, commit); err != nil {
		return err
	}
	w.tip = commit
	if c.root {
		if _, err := w.tx.ExecContext(ctx, "DELETE FROM segments"); err != nil {
			return copyError(w.dir, err)
		}
	}
	for _, f := range c.files {
		if err := w.note(ctx, f.path, f.damage); err != nil {
			return err
		}
	}
	return nil
}

// catchUp waits a little and indexes what others have pushed. It reports whether the change has
// arrived after all, as where only the answer was lost.
func (w *work) catchUp(ctx context.Context, attempt int, c change) (arrived bool, err error) {
	bound := min(longPause, firstPause<<min(attempt, 10))
	pause := time.NewTimer(rand.N(bound))
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-pause.C:
	}
	if err := w.sync(ctx); err != nil {
		return false, err
	}
	known, err := w.known(ctx)
	if err != nil {
		return false, err
	}
	for _, f := range c.files {
		if _, ok := known[f.path]; !ok {
			return false, nil
		}
	}
	return true, nil
}
