//go:build unix

package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// guardFile is locked while the private repository is used. Each git that apkgate starts inherits
// the open file, and the lock with it (flock(2)): where only apkgate is killed, its git works on
// for a while, and the next one waits for it.
const guardFile = "repo.lock"

// guardPause is the pause between two attempts to lock: git ends in a moment, or hangs until its
// connection does.
const guardPause = 20 * time.Millisecond

// takeGuard waits until no git of an earlier apkgate uses the repository.
func (s *Store) takeGuard(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Wait, errOrphan)
	defer cancel()
	f, err := os.OpenFile(filepath.Join(s.dir, guardFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, copyError(s.dir, err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(copyError(s.dir, fmt.Errorf("lock the private repository: %w", err)), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(stillAtWork(ctx, s.dir), f.Close())
		case <-time.After(guardPause):
		}
	}
}

var errOrphan = errors.New("a git that an earlier apkgate started is still at work")

func stillAtWork(ctx context.Context, dir string) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, errOrphan) {
		return cause
	}
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %w in %s", runstore.ErrBusy, cause, dir),
		Advice: "Wait for that git to end, or end it: what is on the branch is not affected.",
	}
}

// giveGuard unlocks for all that have inherited the file: a helper that git leaves running, such as
// one that caches passwords, does not keep the lock.
func giveGuard(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing it unlocks it too, except for such helpers
	_ = f.Close()
}
