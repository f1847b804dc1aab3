package tables

import (
	"iter"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/blockio"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// blockRow is a request of a block device.
type blockRow struct {
	*blockio.Work
	names  []string
	thread threadOf
}

// blockColumns are, after event, the arguments of the kernel's events.
var blockColumns = slices.Concat(
	[]column[*blockRow]{
		always("ts", func(r *blockRow) int64 { return int64(r.At) }),
		always("dur", func(r *blockRow) int64 { return open(r.For) }),
		always("event", func(r *blockRow) string { return r.Level.String() }),
		always("dev", func(r *blockRow) int64 { return int64(r.Device) }),
		always("sector", func(r *blockRow) int64 { return int64(r.Sector) }),
		always("nr_sector", func(r *blockRow) int64 { return int64(r.Sectors) }),
		always("bytes", func(r *blockRow) int64 { return int64(r.Bytes) }),
		word("rwbs", func(r *blockRow) string { return r.names[r.Kind] }),
		word("comm", func(r *blockRow) string { return r.names[r.Command] }),
		always("error", func(r *blockRow) int64 { return int64(r.Error) }),
	},
	threadCells(func(r *blockRow) threadOf { return r.thread }),
)

func readBlockIO(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*blockRow], error) {
	t := threads.New(f)
	r := blockio.New(f, t)
	spilling(keep, &r.Work)
	err := in(f, t, r)
	row := &blockRow{names: r.Names, thread: threadOf{Tracker: t}}
	return each(r.Work.All(), row, func(_ int, one *blockio.Work) { row.Work, row.thread.number = one, int(one.Thread) }), err
}
