// Package devicelock keeps two apkgates from using a device at the same time: each would
// stop the other's app and take it for a crash.
//
// It owns both ways in which they know of each other. A claim is a file of this
// computer, one for each device: the operating system's lock of it ends with the
// process however that ends, and what the file says is for the reader alone. It sees
// neither other computers nor other users of this one. A mark is a file on the device
// itself, which all of them see, and which ends some time after it was last renewed.
//
// It takes a stand: time is told by the device's own clock alone, which no time server
// sets; and no mark is ever taken from anybody: everybody has a file of their own, and
// whoever sees another's that counts steps back.
package devicelock

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
)

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
	lock string
}

// Lock names the lock that the claim is: whoever gets one of the same name knows that
// its last holder is gone. "" where that can't be told.
func (c *Claim) Lock() string { return c.lock }

// Take claims the device, a serial or an address, in the folder. Where somebody
// else holds it the error is a *HeldError.
func Take(folder, device string, me Owner) (*Claim, error) {
	const most = 200 // of a file's name, in bytes
	name := url.QueryEscape(device)
	path := filepath.Join(folder, name[:min(len(name), most)]+".lock")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("claim %s: %w", device, err)
	}
	for {
		file, err := filelock.Lock(path)
		if errors.Is(err, filelock.ErrHeld) {
			return nil, &HeldError{ownerOf(path)}
		}
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", device, err)
		}
		if !isAt(file, path) { // its last holder has just removed it
			_ = file.Close()
			continue
		}
		c := &Claim{file, path, lockName(folder, filepath.Base(path))}
		if err := c.write(me); err != nil {
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

func (c *Claim) write(h Owner) error {
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

// ownerOf reads who holds a claim; what can't be read is nobody known.
func ownerOf(path string) (h Owner) {
	file, err := os.Open(path)
	if err != nil {
		return h
	}
	defer func() { _ = file.Close() }()
	const most = 1 << 10 // bytes
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return Owner{}
	}
	return h
}

// Release gives the device free.
func (c *Claim) Release() {
	// While it is locked, so that nobody's new file is removed; Windows keeps it.
	_ = os.Remove(c.path)
	_ = c.file.Close()
}

// folderID is the file that tells one folder of claims from all others.
const folderID = "id"

// lockName names the lock of a file in the folder.
func lockName(folder, name string) string {
	path := filepath.Join(folder, folderID)
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Of two that make it at once, the second finds the first's.
		if file, made := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); made == nil {
			_, made = file.WriteString(rand.Text())
			_ = errors.Join(made, file.Close())
		}
		id, err = os.ReadFile(path)
	}
	const short = 20 // of an id; one that is being written is none yet
	if err != nil || len(id) < short {
		return ""
	}
	// The folder may be a copy, as of an image that many computers are made of, or be
	// shared over a network without its locks.
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // of Linux
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s", id, host, boot, name))
	return hex.EncodeToString(sum[:8])
}

// How often a held device is looked at, and how often it is said that it is held.
const (
	every    = time.Second
	tellEach = time.Minute
)

// Wait takes the claim as soon as it is free, within the time that is allowed. tell
// is told who holds the device, at once and each minute. Where the time is over the
// error is a *HeldError.
func Wait(ctx context.Context, folder, device string, me Owner, longest time.Duration, tell func(Owner)) (*Claim, error) {
	begun := time.Now()
	var told time.Time
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		me.Since = time.Now()
		c, err := Take(folder, device, me)
		var held *HeldError
		if !errors.As(err, &held) || time.Since(begun) >= longest {
			return c, err
		}
		if time.Since(told) >= tellEach {
			tell(held.Owner)
			told = time.Now()
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
