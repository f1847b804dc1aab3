package tracetest

import (
	"io"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Kernel passes the kernel's events of a trace to one reader, and returns how many gaps they have.
func Kernel(src io.ReadSeeker, reader packets.Reader) (lost int, err error) {
	f, kept := packets.New(), &packets.Losses{Source: "linux.ftrace"}
	err = f.ReadInOrder(src, reader, kept)
	return kept.Chunks() + f.KernelLost(), err
}
