// Package lease records booted devices, so that they are stopped even if apkgate is killed.
//
// A lease is a file on this computer for each virtual device that a lab creates or starts. It
// contains the lab's name for the device and everything that is needed to stop it, noted
// before each step that creates something. It is held by an operating system lock on a second
// file, which is released when the process ends, however it ends. A lease that is not held
// belongs to a dead process, and any process may stop the device.
//
// Notes are atomic and on the disk before the call returns. A file that can't be read is
// reported and never ignored, since an emulator or a machine in a cloud may be running. The
// package knows no lab, and stops nothing.
package lease

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/devicelock"
)

// Format is the format of a lease's file.
const Format = "apkgate.lease/1"

// Lease records a booted device and its owner.
type Lease struct {
	Format string `json:"format"`
	// ID is the name of the lease and of everything that the lab creates for it:
	// "apkgate-x7k2m3qa".
	ID   string `json:"id"`
	Kind string `json:"kind"` // the lab's: "avd"
	// Name is the device's name in the configuration: "pixel #2". It is "" if it was not
	// noted.
	Name string `json:"name,omitempty"`
	// Detail is the lab's notes.
	Detail map[string]string `json:"detail,omitempty"`
	// Owner is the process that took the lease.
	Owner devicelock.Owner `json:"owner"`
	// Session is the run of the command that took the lease, "" for none.
	Session string `json:"session,omitempty"`
	// InUse reports that the process that holds the lease is alive. Only List sets it.
	InUse bool `json:"-"`
}

// Elsewhere reports whether the lease was taken on another computer, as in a shared home
// directory: its device can't be stopped here.
func (l Lease) Elsewhere() bool {
	host, err := os.Hostname()
	return err == nil && l.Owner.Host != "" && l.Owner.Host != host
}

// Folder returns the folder of this user's leases: in the user's cache directory, or the
// directory for temporary files if there is none.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "apkgate", "leases")
}

// prefix begins each name, and identifies apkgate's entries in a list of AVDs or instances.
const prefix = "apkgate-"

// idPattern matches the names of leases, which are safe in a path, in a command line and as
// the name of an AVD.
var idPattern = regexp.MustCompile(`^` + prefix + `[a-z0-9]{4,32}$`)

// IsID reports whether a name is a valid lease ID.
func IsID(name string) bool { return idPattern.MatchString(name) }

// newID returns a random name.
func newID() string {
	const letters = 10 // of 5 bits each
	return prefix + strings.ToLower(rand.Text()[:letters])
}

// Take creates a lease in the folder and holds it, for a lab of the kind and a session.
func Take(folder, kind, session string) (*Held, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("take a lease: %w", err)
	}
	const tries = 10 // since List may be holding the file of a name
	var err error
	for range tries {
		l := Lease{Format: Format, ID: newID(), Kind: kind, Owner: devicelock.Me(time.Now()), Session: session}
		var h *Held
		if h, err = lock(folder, l.ID); err != nil {
			continue
		}
		h.lease = l
		if err = h.write(l); err == nil {
			return h, nil
		}
		err = errors.Join(err, h.Release())
		break
	}
	return nil, fmt.Errorf("take a lease: %w", err)
}

// Reclaim takes over the lease of a dead process, as for a cleanup. The error wraps ErrInUse
// if the process is alive, and fs.ErrNotExist if there is no such lease.
func Reclaim(folder, id string) (*Held, error) {
	if !IsID(id) {
		return nil, fmt.Errorf("reclaim a lease: %q is not the name of a lease", id)
	}
	h, err := lockUntil(folder, id, time.Now().Add(lockTimeout))
	if err != nil {
		return nil, fmt.Errorf("reclaim the lease %s: %w", id, err)
	}
	if h.lease, err = read(filepath.Join(folder, id+fileSuffix)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			h.removeFiles()
		}
		h.unlock()
		return nil, fmt.Errorf("reclaim the lease %s: %w", id, err)
	}
	return h, nil
}
