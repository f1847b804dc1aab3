// Package lease remembers what was booted, so that it is stopped also where apkgate was
// killed meanwhile.
//
// A lease is a file of this computer for each virtual device that a lab creates or
// starts. It says what the lab calls it and everything that is needed to stop it, noted
// before each step that creates something. It is held by the operating system's lock of a
// file beside it, which ends with the process however that ends: a lease that nobody
// holds is of a process that is gone, and what it names can be stopped by anybody.
//
// It takes a stand: notes are written whole, and to the disk, before the call returns;
// and a file that can't be read is told, never passed over, since an emulator or a
// machine of a cloud may run behind it. It knows no lab, and stops nothing.
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

// Lease says what was booted, and by whom.
type Lease struct {
	Format string `json:"format"`
	// ID names the lease and what the lab creates for it: "apkgate-x7k2m3qa".
	ID   string `json:"id"`
	Kind string `json:"kind"` // the lab's: "avd"
	// Name is what the lease is for, as the configuration calls it: "pixel #2". "" where
	// that was not noted.
	Name string `json:"name,omitempty"`
	// Detail is what the lab noted.
	Detail map[string]string `json:"detail,omitempty"`
	// Owner is the process that took the lease.
	Owner devicelock.Owner `json:"owner"`
	// Session names the run of the command that took it, "" for none.
	Session string `json:"session,omitempty"`
	// InUse says that the process that holds the lease is alive; of List alone.
	InUse bool `json:"-"`
}

// Elsewhere reports whether the lease was taken on another computer, as in a home
// directory that several share: what runs there can't be stopped here.
func (l Lease) Elsewhere() bool {
	host, err := os.Hostname()
	return err == nil && l.Owner.Host != "" && l.Owner.Host != host
}

// Folder is where the leases of this user are: in the user's cache, or beside temporary
// files where there is none.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "apkgate", "leases")
}

// prefix begins each name: whoever sees it in a list of AVDs or instances knows whose
// they are.
const prefix = "apkgate-"

// idPattern is what a name of a lease is: it is safe in a path, in a command line and as
// the name of an AVD.
var idPattern = regexp.MustCompile(`^` + prefix + `[a-z0-9]{4,32}$`)

// IsID reports whether a name is one that a lease can have given.
func IsID(name string) bool { return idPattern.MatchString(name) }

// newID is a name that nobody else draws.
func newID() string {
	const letters = 10 // of 5 bits each
	return prefix + strings.ToLower(rand.Text()[:letters])
}

// Take makes a lease in the folder and holds it, for a lab of the kind and a session.
func Take(folder, kind, session string) (*Held, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("take a lease: %w", err)
	}
	const tries = 10 // of names whose file somebody is just looking at
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

// Reclaim holds a lease whose process is gone, as to clean up behind it. The error wraps
// ErrInUse where it is not gone, and fs.ErrNotExist where there is no such lease.
func Reclaim(folder, id string) (*Held, error) {
	if !IsID(id) {
		return nil, fmt.Errorf("reclaim a lease: %q is no lease's name", id)
	}
	h, err := lockUntil(folder, id, time.Now().Add(asLongAs))
	if err != nil {
		return nil, fmt.Errorf("reclaim the lease %s: %w", id, err)
	}
	if h.lease, err = read(filepath.Join(folder, id+fileSuffix)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			h.sweep()
		}
		h.unlock()
		return nil, fmt.Errorf("reclaim the lease %s: %w", id, err)
	}
	return h, nil
}
