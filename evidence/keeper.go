// Package evidence keeps the files that belong to runs: traces, dumps, profiles.
//
// It owns where such a file lies, under which name, and for how long. It takes a
// stand: a file is its content. It is named by the SHA-256 of its bytes, written
// once and never changed, so that two runs which kept the same file keep it once, and
// it stays until both are gone. Which file belongs to which run stands in the run's
// record (run.Evidence), which is whole without them: a file that is gone is told of
// and is never an error. It knows nothing of what is in a file.
package evidence

import (
	"context"
	"io"
)

// Keeper takes files in.
type Keeper interface {
	// Keep takes what r yields, of at most limit bytes, and returns the SHA-256 of it
	// in lower-case hexadecimal and how many bytes there are. Keeping what is kept
	// already is no error. What is longer than limit, or than the keeper takes, is
	// ErrTooLarge, and nothing is kept of it.
	Keep(ctx context.Context, r io.Reader, limit int64) (digest string, bytes int64, err error)
}

// OfRun is a keeper for the files of one run: at most so many, of at most so many
// bytes together. What goes beyond is ErrFull, or ErrTooLarge where the next smaller
// file may still fit. It is for one goroutine.
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
