// Package claim keeps two apkgate processes of one computer from using a device
// at the same time: each would stop the other's app and take it for a crash.
//
// It owns the files that say who uses which device, one for each device. It takes a
// stand: a claim is the operating system's lock of such a file, which ends with the
// process however that ends; what the file says is for the reader alone. It sees
// neither other computers nor other users of this one.
package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
)

// Holder is who uses a device.
type Holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// String is "apkgate (pid 123) since 04:03", by this computer's time of day.
func (h Holder) String() string {
	if h.PID == 0 {
		return "another apkgate" // that has not said so yet
	}
	return fmt.Sprintf("apkgate (pid %d) since %s", h.PID, h.Since.Local().Format("15:04"))
}

// HeldError says that somebody else uses the device.
type HeldError struct{ Holder Holder }

// Error names the holder.
func (e *HeldError) Error() string { return "in use by " + e.Holder.String() }

// Folder is where the claims of this user are: in the user's cache, or beside
// temporary files where there is none.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "apkgate", "devices")
}

// Claim is a device in use by this process.
type Claim struct {
	file *os.File
	path string
}

// Take claims the device, a serial or an address, in the folder. Where somebody
// else holds it the error is a *HeldError.
func Take(folder, device string, now time.Time) (*Claim, error) {
	const most = 200 // of a file's name, in bytes
	name := url.QueryEscape(device)
	path := filepath.Join(folder, name[:min(len(name), most)]+".lock")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("claim %s: %w", device, err)
	}
	for {
		file, err := filelock.Lock(path)
		if errors.Is(err, filelock.ErrHeld) {
			return nil, &HeldError{holderOf(path)}
		}
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", device, err)
		}
		if !isAt(file, path) { // its last holder has just removed it
			_ = file.Close()
			continue
		}
		c := &Claim{file, path}
		if err := c.write(Holder{os.Getpid(), now}); err != nil {
			c.Release()
			return nil, fmt.Errorf("claim %s: %w", device, err)
		}
		return c, nil
	}
}

// isAt reports whether the file is the one at the path.
func isAt(file *os.File, path string) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

func (c *Claim) write(h Holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := c.file.Truncate(0); err != nil {
		return err
	}
	_, err = c.file.WriteAt(append(text, '\n'), 0)
	return err
}

// holderOf reads who holds a claim; what can't be read is nobody known.
func holderOf(path string) (h Holder) {
	file, err := os.Open(path)
	if err != nil {
		return h
	}
	defer func() { _ = file.Close() }()
	const most = 1 << 10 // bytes
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return Holder{}
	}
	return h
}

// Release gives the device free.
func (c *Claim) Release() {
	// While it is locked, so that nobody's new file is removed; Windows keeps it.
	_ = os.Remove(c.path)
	_ = c.file.Close()
}

// How often a held device is looked at, and how often it is said that it is held.
const (
	every    = time.Second
	tellEach = time.Minute
)

// Wait takes the claim as soon as it is free, within the time that is allowed. tell
// is told who holds the device, at once and each minute. Where the time is over the
// error is a *HeldError.
func Wait(ctx context.Context, folder, device string, longest time.Duration, tell func(Holder)) (*Claim, error) {
	begun := time.Now()
	var told time.Time
	for {
		c, err := Take(folder, device, time.Now())
		var held *HeldError
		if !errors.As(err, &held) || time.Since(begun) >= longest {
			return c, err
		}
		if time.Since(told) >= tellEach {
			tell(held.Holder)
			told = time.Now()
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
