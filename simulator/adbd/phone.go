package adbd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Phone is the phone that the daemon serves. Its methods are called concurrently, for each
// stream that a client opens.
type Phone interface {
	// Banner is the CNXN system identity:
	// "device::ro.product.name=…;ro.product.model=…;ro.product.device=…;features=shell_v2,cmd,stat_v2,…".
	Banner() string
	// Start starts a command line in the phone's shell, and returns when the phone has
	// accepted it; wait blocks until it ends and returns its exit code. When ctx ends the
	// command is hung up.
	Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int)
	// Control handles requests that change the daemon: "root", "unroot", "tcpip" with a port,
	// "usb". restarts reports that it restarts for that.
	Control(service, argument string) (answer string, restarts bool)
	// Files, for the sync service. Paths are absolute on the phone. Errors are fs.ErrNotExist,
	// ErrNoSpace, …; the client is shown their text.
	Stat(path string) (fs.FileInfo, error)
	List(path string) ([]fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
	// Create replaces the file at path once the writer is closed.
	Create(path string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error)
}

// ErrNoSpace means that the phone's storage is full.
//
//lint:ignore ST1005 the message is errno's, as a phone prints it
var ErrNoSpace = errors.New("No space left on device")
