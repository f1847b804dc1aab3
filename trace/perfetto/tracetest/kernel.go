package tracetest

import (
	"io"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Kernel has one reader read the kernel's events of a trace, in a pass of its own, and
// returns how much of them the trace has lost.
func Kernel(src io.ReadSeeker, reader packets.Reader) (lost int, err error) {
	f, kept := packets.New(), &packets.Losses{Source: "linux.ftrace"}
	err = f.ReadInOrder(src, reader, kept)
	return kept.Chunks() + f.KernelLost(), err
}
