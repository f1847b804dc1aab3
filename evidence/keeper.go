// Package evidence keeps the files that belong to runs: traces, dumps, profiles.
//
// It owns where such a file lies, under which name, and for how long. It takes a
// stand: a file is its content. It is named by the SHA-256 of its bytes, written
// once and never changed, so that two runs which kept the same file keep it once.
// Which file belongs to which run stands in the run's record (run.Evidence), which
// is whole without them: a file that is gone is told of and is never an error. It
// knows nothing of what is in a file.
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
