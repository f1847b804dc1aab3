package tables

import (
	"io"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// ReadHolding is Read with at most keep rows of each list in memory.
func ReadHolding(src io.ReadSeeker, name string, keep int) (*Table, error) {
	return of(packets.Packets(src), name, keep)
}
