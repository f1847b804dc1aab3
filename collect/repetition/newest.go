package repetition

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apkgate/apkgate/config"
	callring "github.com/apkgate/apkgate/trace/ring"
)

// keptWhole is up to how many bytes a recording of every call is kept as it is.
const keptWhole = 32 << 20

// newestOf returns the newest calls of a recording of every call, in a file of its own, and how long
// after the recording's begin they begin: an app's file grows as long as it runs, and what is read
// and kept does not. Other recordings, and short ones, are returned as they are. The caller calls
// drop.
func (m *methods) newestOf(ctx context.Context, n int, file io.ReadSeeker, pid int, whole int64) (newest io.ReadSeeker, skipped time.Duration, drop func(), err error) {
	drop = func() {}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil || m.by != config.MethodsCalls || size <= whole {
		return file, 0, drop, err
	}
	keep := callring.NewKeep(callring.Options{PID: pid})
	if _, err := keep.Read(cancelled{ctx, file}); err != nil {
		return nil, 0, drop, fmt.Errorf("read %d bytes of calls: %w", size, err)
	}
	var kept callring.Flushed
	part, err := os.CreateTemp("", "apkgate-calls-")
	if err == nil {
		drop = func() {
			_ = part.Close()
			_ = os.Remove(part.Name())
		}
		if kept, err = keep.Flush(part); err == nil {
			_, err = part.Seek(0, io.SeekStart)
		}
	}
	if err != nil {
		drop()
		return nil, 0, func() {}, fmt.Errorf("keep the newest of %d bytes of calls: %w", size, err)
	}
	m.phone.Target.Journal.Warnf("repetition %d: of its calls the newest %d are kept, from %.1f s to %.1f s of the recording, whose file has %d bytes",
		n, kept.Calls, kept.From.Seconds(), kept.To.Seconds(), size)
	for _, w := range kept.Warnings {
		m.phone.Target.Journal.Warnf("repetition %d: its calls: %s", n, w.Text)
	}
	return part, kept.From, drop, nil
}

// cancelled reads until the context ends.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}
