package rendering

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

const (
	maxLayers = 1_000
	maxCounts = 200_000 // of one layer, kept at one time
)

// buffers counts the buffers of each layer that wait to be shown, over time.
//
// The counter differs among versions. Since Android 12 it is SurfaceFlinger's "BufferTX - LAYER"
// (frameserver BufferStateLayer.cpp, since Android 14 Layer.cpp: buffers that came with a
// transaction and were not latched). Before, it is the counter of the consumer's queue, named after
// the layer alone (BufferQueueProducer.cpp and BufferQueueConsumer.cpp,
// ATRACE_INT(mCore->mConsumerName, mCore->mQueue.size())); "TX - LAYER" counts transactions then,
// and is ignored. The app's own counter ("QueuedBuffer - …") includes buffers that were shown and
// not yet returned, and is ignored too.
type buffers struct {
	file     *packets.File
	packages string
	layers   map[string][]count // by the layer's name
	names    []string           // of all layers, sorted
	sent     map[string]bool    // layers with SurfaceFlinger's counter
}

type count struct {
	at time.Duration
	n  int64
}

const transactions = "BufferTX - "

func newBuffers(file *packets.File, packages string) *buffers {
	return &buffers{file: file, packages: packages, layers: map[string][]count{}, sent: map[string]bool{}}
}

// count records a counter's value.
func (b *buffers) count(at time.Duration, name string, n int64) {
	layer, sent := strings.CutPrefix(name, transactions)
	if !sent && !(isLayer(name) && strings.Contains(name, b.packages)) || b.sent[layer] && !sent {
		return
	}
	list, known := b.layers[layer]
	if !known && !b.file.Room("layers with buffers", len(b.layers), maxLayers) || !b.file.Room("counts of buffers", len(list), maxCounts) {
		return
	}
	if !known {
		at, _ := slices.BinarySearch(b.names, layer)
		b.names = slices.Insert(b.names, at, layer)
	}
	if sent && !b.sent[layer] {
		b.sent[layer], list = true, nil
	}
	b.layers[layer] = append(list, count{at, n})
}

// isLayer reports whether a name is that of an app's window: "PACKAGE/ACTIVITY#NUMBER".
func isLayer(name string) bool {
	window, number, found := strings.Cut(name, "#")
	return found && strings.Contains(window, "/") && !strings.Contains(window, " ") && strings.Trim(number, "0123456789") == ""
}

// forget drops the counts before a time, except the last of each layer.
func (b *buffers) forget(before time.Duration) {
	for layer, list := range b.layers {
		b.layers[layer] = slices.Delete(list, 0, max(countBefore(list, before), 0))
	}
}

// countBefore returns the index of the last count not after a time, -1 for none.
func countBefore(list []count, t time.Duration) int {
	i, _ := slices.BinarySearchFunc(list, t+1, func(c count, t time.Duration) int { return cmp.Compare(c.at, t) })
	return i - 1
}

// ready returns how many buffers of a layer waited at a time, -1 if unknown.
func (b *buffers) ready(layer string, at time.Duration) int {
	list := b.layers[layer]
	i := countBefore(list, at)
	if i < 0 {
		return -1
	}
	return int(min(max(list[i].n, 0), 1<<20))
}

// filled returns the app's layer that first received a buffer between two times, of several the
// first by name, "" for none. It adds the rows that it examines to work.
func (b *buffers) filled(work *int, names []string, from, to time.Duration) string {
	layer, first := "", to
	for _, name := range b.names {
		list := b.layers[name]
		if !slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.Contains(name, n) }) {
			continue
		}
		for i := max(countBefore(list, from), 0); i < len(list) && list[i].at < first && *work < maxWork; i++ {
			*work++
			more := i > 0 && list[i].n > list[i-1].n || i == 0 && list[i].n > 0
			if list[i].at >= from && more {
				layer, first = name, list[i].at
			}
		}
	}
	return layer
}

// before returns when the buffer that preceded the one which a layer received at or before a time
// was taken, 0 if unknown. Buffers are taken in the order in which they came.
func (b *buffers) before(layer string, queued time.Duration) time.Duration {
	list := b.layers[layer]
	own := countBefore(list, queued)
	for own > 0 && list[own].n <= list[own-1].n {
		own-- // some were taken since
	}
	if own < 0 {
		return 0
	}
	ahead := list[own].n - 1
	if ahead <= 0 {
		for i := own; i > 0; i-- {
			if list[i].n < list[i-1].n {
				return list[i].at
			}
		}
		return 0
	}
	for i := own + 1; i < len(list); i++ {
		if list[i].n < list[i-1].n {
			if ahead--; ahead == 0 {
				return list[i].at
			}
		}
	}
	return 0
}
