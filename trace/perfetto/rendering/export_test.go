package rendering

import "github.com/apkgate/apkgate/trace/perfetto/packets"

// ReadKeeping is Read with a limit of rows, so that a small trace is analyzed in many parts.
func ReadKeeping(in packets.Source, app App, rows int) (Trace, error) { return read(in, app, rows, 0) }

// ReadTired is Read with all but a small part of the work for frames already done.
func ReadTired(in packets.Source, app App, left int) (Trace, error) {
	return read(in, app, maxRows, maxWork-left)
}
