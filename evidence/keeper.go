// Package evidence stores the files that belong to runs: traces, dumps, profiles.
//
// It owns where such a file is stored, under which name, and for how long. A file is identified by
// its content: it is named by the SHA-256 of its bytes, written once and never changed, so that two
// runs with the same file store it once, and it stays until both are removed. The run's record
// (run.Evidence) lists which files belong to the run, and is complete without them: a missing file
// is reported and is never an error. The package does not interpret files.
package evidence

import (
	"context"
	"io"
)

// Keeper stores files.
type Keeper interface {
	// Keep stores the content of r, of at most limit bytes, and returns its SHA-256 in lower-case
	// hexadecimal and its size. Keeping a file again is no error. Content longer than limit, or
	// than the keeper's own limit, returns ErrTooLarge, and nothing is stored.
	Keep(ctx context.Context, r io.Reader, limit int64) (digest string, bytes int64, err error)
}

// OfRun returns a keeper for the files of one run, limited in number and total bytes. Beyond these
// it returns ErrFull, or ErrTooLarge where a smaller file may still fit. It is not safe for
// concurrent use.
func OfRun(k Keeper, files int, bytes int64) Keeper {
	return &share{keeper: k, files: files, bytes: bytes}
}

type share struct {
	keeper Keeper
	files  int
	bytes  int64
}

func (s *share) Keep(ctx context.Context, r io.Reader, limit int64) (string, int64, error) {
	if s.files <= 0 || s.bytes <= 0 {
		return "", 0, ErrFull
	}
	digest, n, err := s.keeper.Keep(ctx, r, min(limit, s.bytes))
	if err == nil {
		s.files--
		s.bytes -= n
	}
	return digest, n, err
}
