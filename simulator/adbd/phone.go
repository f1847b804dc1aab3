package adbd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Phone is what the daemon serves. Its methods are called from many goroutines
// at once, one for each stream that a client opens.
type Phone interface {
	// Banner is the CNXN system identity:
	// "device::ro.product.name=…;ro.product.model=…;ro.product.device=…;features=shell_v2,cmd,stat_v2,…".
	Banner() string
	// Start begins a command line in the phone's shell, and returns when the phone
	// has accepted it; wait blocks until it ends and returns its exit code. When ctx ends the
	// command is hung up.
	Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int)
	// Control answers what asks the daemon to become another: "root", "unroot",
	// "tcpip" with a port, "usb". restarts says that it starts anew for that.
	Control(service, argument string) (answer string, restarts bool)
	// Files, for the sync service. Paths are absolute on the phone. Errors are
	// fs.ErrNotExist, ErrNoSpace, …; their text is what the client is shown.
	Stat(path string) (fs.FileInfo, error)
	List(path string) ([]fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
	// Create replaces the file at path once the writer is closed.
	Create(path string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error)
}

// ErrNoSpace is the phone's storage being full.
//
//lint:ignore ST1005 these are errno's words, as a phone prints them
var ErrNoSpace = errors.New("No space left on device")
