// Package tasksources reads the asynchronous tasks of a file, whichever source recorded them.
//
// It owns which sources there are, and by what a file of each is recognized. A new source is a
// package below trace/tasks and a line here; what its tasks mean is no matter of this package.
package tasksources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/arttasks"
	"github.com/apkgate/apkgate/trace/tasks/fridatasks"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

// Options are what a reader may need beside a file.
type Options struct {
	// Package is the app's; "" stands for every app of the file.
	Package string
	// Pools reads the scheduling of the app's pools too, which takes as long as all else.
	Pools bool
	// Mapping gives methods that R8 renamed the names of the source; it may be nil.
	Mapping *r8map.Map
}

// sources are all sources, or several that are read together, and by what the beginning of a file of
// theirs is recognized. The first that reads a file is taken.
var sources = []struct {
	reads func(head []byte) bool
	read  func(src io.ReadSeeker, o Options) ([]tasks.List, error)
}{
	{fridatasks.Reads, func(src io.ReadSeeker, _ Options) ([]tasks.List, error) {
		list, err := fridatasks.Read(src)
		return []tasks.List{list}, err
	}},
	{methodTrace, func(src io.ReadSeeker, o Options) ([]tasks.List, error) {
		list, err := arttasks.Read(src, o.Mapping)
		return []tasks.List{list}, err
	}},
	{packetTrace, func(src io.ReadSeeker, o Options) ([]tasks.List, error) {
		lists, ofApp, err := tracedtasks.Read(packets.Packets(src), tracedtasks.App{Package: o.Package}, o.Pools)
		if err != nil {
			return nil, err
		}
		messages, err := tracedtasks.ReadMessages(packets.Packets(src), ofApp)
		if len(messages.Tasks) > 0 {
			lists = slices.Insert(lists, 0, messages)
		}
		return lists, err
	}},
	{func([]byte) bool { return true }, func(src io.ReadSeeker, o Options) ([]tasks.List, error) {
		lists, _, err := tracedtasks.Read(systrace.Source(src), tracedtasks.App{Package: o.Package}, o.Pools)
		return lists, err
	}},
}

// Both is the word in records for messages and sections of one trace.
const Both = tracedtasks.MessagesSource + "-" + tracedtasks.SectionsSource

// OfTrace reads the tasks of processes from a system trace: the sections that they write and, if the
// trace may have them, the messages of their loopers. A message with a section is one task, of which
// both tell. Without either it returns an empty list, which may say why.
func OfTrace(in packets.Source, of func(pid int) bool, withMessages bool) (out tasks.List, err error) {
	if withMessages {
		if out, err = tracedtasks.ReadMessages(in, of); err != nil {
			return out, err
		}
	}
	lists, _, err := tracedtasks.Read(in, tracedtasks.App{PID: of}, false)
	switch {
	case err != nil || len(out.Tasks) == 0 && len(lists) == 0:
		return out, err
	case len(out.Tasks) == 0:
		return lists[0], nil
	case len(lists) > 0:
		out.Join(lists[0])
	}
	out.Source = Both // even without sections now: they were looked for, as in other repetitions
	return out, nil
}

// methodTrace recognizes ART's traces: with a header, streamed, or a low-overhead dump.
func methodTrace(head []byte) bool {
	return bytes.HasPrefix(head, []byte("*version\n")) || bytes.HasPrefix(head, []byte("SLOW")) || len(head) > 0 && head[0] == 2
}

// packetTrace recognizes Perfetto's traces: the tag of the first packet, and bytes that no text has.
func packetTrace(head []byte) bool {
	return len(head) > 0 && head[0] == 0x0a && bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' })
}

// headSize is how much of a file is read to recognize its source.
const headSize = 4 << 10

// Read reads the tasks of a file: a list of each source that has any, or that says in a warning why
// it has none; the surest source first. An error is one of reading.
func Read(src io.ReadSeeker, o Options) ([]tasks.List, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read the beginning of a recording of tasks: %w", err)
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read a recording of tasks again: %w", err)
	}
	for _, one := range sources {
		if !one.reads(head[:n]) {
			continue
		}
		lists, err := one.read(src, o)
		if err != nil {
			return nil, err
		}
		for _, list := range lists {
			if o.Mapping != nil && list.Source != arttasks.Source { // which has retraced its methods
				retrace(list.Tasks, o.Mapping)
			}
		}
		return lists, nil
	}
	return nil, nil
}
