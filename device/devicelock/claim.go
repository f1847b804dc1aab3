// Package devicelock prevents two apkgate processes from using a device at the same time: each
// would stop the other's app and report it as a crash.
//
// It owns both locks. A claim is a file on this computer, one for each device. The operating
// system releases its lock when the process ends, however it ends; the file's contents are
// informational. A claim is invisible to other computers and to other users of this one. A
// mark is a file on the device itself. It is visible to all of them, and expires some time
// after it was last renewed.
//
// Time is measured by the device's own uptime, which no time server changes. No process ever
// takes over another's mark: each writes a file of its own, and backs off if it finds a valid
// one of another process.
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

// Folder returns the folder of this user's claims: in the user's cache directory, or the
// directory for temporary files if there is none.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "apkgate", "devices")
}

// Claim is the exclusive use of a device by this process.
type Claim struct {
	file *os.File
	path string
	lock string
}

// Lock returns an identifier of the claim's lock: a process that obtains the lock of the same
// name knows that the previous holder is gone. It is "" where that can't be guaranteed.
func (c *Claim) Lock() string { return c.lock }

// Take claims the device, a serial or an address, in the folder. If another process holds it,
// the error is a *HeldError.
func Take(folder, device string, me Owner) (*Claim, error) {
	const most = 200 // limit on a file's name, in bytes
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
		if !isAt(file, path) { // the previous holder has just removed it
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

// ownerOf reads the owner of a claim. It is the zero Owner if the file can't be read.
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

// Release releases the device.
func (c *Claim) Release() {
	// The file is removed while it is locked, so that no other process's new file is removed.
	// Windows keeps it.
	_ = os.Remove(c.path)
	_ = c.file.Close()
}

// folderID is the file that identifies a folder of claims.
const folderID = "id"

// lockName identifies the lock of a file in the folder.
func lockName(folder, name string) string {
	path := filepath.Join(folder, folderID)
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Of two processes that create it at once, the second finds the first's.
		if file, made := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); made == nil {
			_, made = file.WriteString(rand.Text())
			_ = errors.Join(made, file.Close())
		}
		id, err = os.ReadFile(path)
	}
	const short = 20 // a shorter id is still being written
	if err != nil || len(id) < short {
		return ""
	}
	// The folder may be a copy, as of a disk image of many computers, or be shared over a
	// network without its locks. The host name and boot id distinguish such folders.
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // of Linux
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s", id, host, boot, name))
	return hex.EncodeToString(sum[:8])
}

// How often a held device is checked, and how often its owner is reported.
const (
	every    = time.Second
	tellEach = time.Minute
)

// Wait takes the claim as soon as it is free, within the longest time allowed. tell is called
// with the owner at once and then each minute. After the longest time the error is a
// *HeldError.
func Wait(ctx context.Context, folder, device string, me Owner, longest time.Duration, tell func(Owner)) (*Claim, error) {
	begun := time.Now()
	var reported time.Time
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
		if time.Since(reported) >= tellEach {
			tell(held.Owner)
			reported = time.Now()
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
