package rendering

import "github.com/apkgate/apkgate/trace/perfetto/packets"

// ReadKeeping is Read that keeps so many rows, so that a small trace is looked at in many
// parts.
func ReadKeeping(in packets.Source, app App, rows int) (Trace, error) { return read(in, app, rows, 0) }

// ReadTired is Read that has done all the work that there is for frames, but for so much.
func ReadTired(in packets.Source, app App, left int) (Trace, error) {
	return read(in, app, maxRows, maxWork-left)
}
