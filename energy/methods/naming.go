package methods

import "github.com/apkgate/apkgate/trace/simpleperf"

// Naming gives a frame of a recording the names of the source: one frame, or
// several where the compiler put methods into one another, the innermost first.
type Naming func(simpleperf.Frame) []Frame

// unknown is the name of a frame whose symbol the recording doesn't hold: all
// such frames of a file are one method.
const unknown = "unknown"

// AsRecorded is the Naming that takes names as the recording has them.
func AsRecorded(f simpleperf.Frame) []Frame {
	name := f.Symbol
	if name == "" {
		name = unknown
	}
	return []Frame{{Name: name, File: f.File, Kind: f.Kind}}
}
