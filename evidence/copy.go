package evidence

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/run"
)

// Copied counts the results of Copy.
type Copied struct {
	Files   int // now in the other folder, including those that were there before
	Missing int // absent or damaged in the source folder
	Refused int // larger than the other folder accepts, or beyond its limit per run
	Gone    Gone
}

// Add adds the counts of another copy.
func (c *Copied) Add(o Copied) {
	c.Files += o.Files
	c.Missing += o.Missing
	c.Refused += o.Refused
	c.Gone.Add(o.Gone)
}

// Add adds the counts of another removal.
func (g *Gone) Add(o Gone) {
	g.Runs = append(g.Runs, o.Runs...)
	g.Files += o.Files
	g.Bytes += o.Bytes
}

// Copy copies the files of a run, which has an id, from one folder to another and attaches them
// there. Files that are absent in the source are counted, without an error.
func Copy(ctx context.Context, to, from *Folder, r run.Run) (done Copied, err error) {
	room := &share{to, to.limits.Files, to.limits.Run}
	for _, e := range r.Evidence {
		err := room.copyFile(ctx, to, from, e.Digest)
		switch {
		case err == nil:
			done.Files++
		case errors.Is(err, errUnread):
			done.Missing++
		case errors.Is(err, ErrTooLarge), errors.Is(err, ErrFull):
			done.Refused++
		default:
			return done, err
		}
	}
	done.Gone, err = to.Attach(ctx, r)
	return done, err
}

// errUnread marks a file that could not be read from the source.
var errUnread = errors.New("the file could not be read")

// copyFile copies one file. A file that is already in the other folder counts towards the run's
// limit too.
func (s *share) copyFile(ctx context.Context, to, from *Folder, digest string) error {
	if _, size, here := to.Place(digest); here {
		s.files--
		s.bytes -= size
		return nil
	}
	file, err := from.Open(digest)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	defer file.Close()
	got, _, err := s.Keep(ctx, file, to.limits.File)
	if err == nil && got != digest {
		err = fmt.Errorf("%w: kept file %s changed meanwhile: %w", errUnread, digest[:12], ErrDamaged)
	}
	return err
}
