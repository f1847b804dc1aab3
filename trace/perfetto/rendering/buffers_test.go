package rendering

import (
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

const at = time.Millisecond

// counted are buffers of layers, by the values of their counters at 1 ms, 2 ms and so on; a
// negative value means no count at that time.
func counted(layers map[string][]int64) *buffers {
	b := newBuffers(packets.New(), "com.example.app")
	for layer, list := range layers {
		for i, n := range list {
			if n >= 0 {
				b.count(time.Duration(i+1)*at, transactions+layer, n)
			}
		}
	}
	return b
}

// TestBuffersFilled: the layer of a frame is the app's that first received a buffer while the frame
// was drawn: more than before, or any if there was no count before.
func TestBuffersFilled(t *testing.T) {
	t.Parallel()
	const app, popup, other = "com.example.app/.Main#7", "com.example.app/.Popup#8", "com.example.rival/.Main#9"
	for name, c := range map[string]struct {
		layers map[string][]int64
		want   string
	}{
		"one more":                     {map[string][]int64{app: {0, 0, 0, 1}}, app},
		"another app's before it":      {map[string][]int64{other: {0, 0, 1}, app: {0, 0, 0, 1}}, app},
		"another app's alone":          {map[string][]int64{other: {0, 0, 1}}, ""},
		"the first of two":             {map[string][]int64{app: {0, 0, 0, 0, 1}, popup: {0, 0, 0, 1}}, popup},
		"of one that is new":           {map[string][]int64{popup: {-1, -1, -1, 1}}, popup},
		"none of one that is new":      {map[string][]int64{popup: {-1, -1, -1, 0}}, ""},
		"one that was taken":           {map[string][]int64{app: {2, 2, 2, 1, 0}}, ""},
		"one from before":              {map[string][]int64{app: {0, 1}}, ""},
		"one that came too late":       {map[string][]int64{app: {0, 0, 0, 0, 0, 0, 1}}, ""},
		"one taken, and one that came": {map[string][]int64{popup: {0, 0, 0, 0, 1}, app: {2, 2, 1, 2}}, app},
	} {
		var work int
		if got := counted(c.layers).filled(&work, []string{"", "com.example.app"}, 3*at, 6*at); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestBuffersTaken: the buffer before a frame's own was taken when the count fell for it; 0 if
// unknown.
func TestBuffersTaken(t *testing.T) {
	t.Parallel()
	const layer = "com.example.app/.Main#7"
	for name, c := range map[string]struct {
		list []int64
		want time.Duration
	}{
		"after it came":                {[]int64{1, 1, 2, 2, 1}, 5},
		"the second of two after":      {[]int64{2, 2, 3, 2, 1}, 5},
		"before it came":               {[]int64{1, 0, 1}, 2},
		"before, as one came since":    {[]int64{2, 2, 3, 3}, 0},
		"never, as it is the first":    {[]int64{0, 0, 1}, 0},
		"before, with one taken since": {[]int64{2, 3, 2, 2, 1}, 5},
		"not told":                     {nil, 0},
	} {
		if got := counted(map[string][]int64{layer: c.list}).before(layer, 3*at); got != c.want*at {
			t.Errorf("%s: %v, want %v", name, got, c.want*at)
		}
	}
}

// TestBuffersOfLayers: a window's name has its package, activity and number; other counters are not
// of buffers.
func TestBuffersOfLayers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"com.example.app/.Main#7": true, "com.example.app/com.example.Main#12": true, "com.example.app/.Main": false, "com.example.app#7": false,
		"TX - com.example.app/.Main#7": false, "com.example.app/.Main#7a": false, "VSYNC-app": false,
	} {
		if isLayer(name) != want {
			t.Errorf("%q is a window's name: %t, want %t", name, !want, want)
		}
		b := newBuffers(packets.New(), "com.example.app")
		b.count(at, name, 1)
		if (len(b.layers) == 1) != want {
			t.Errorf("%q: %d layers", name, len(b.layers))
		}
	}
}

// TestBuffersAreBounded: layers, and counts of one layer, beyond the limits are reported as too
// many.
func TestBuffersAreBounded(t *testing.T) {
	t.Parallel()
	b := newBuffers(packets.New(), "com.example.app")
	for i := range maxLayers + 2 {
		b.count(at, fmt.Sprint(transactions, "layer ", i), 1)
	}
	for i := range maxCounts + 2 {
		b.count(time.Duration(i)*at, transactions+"layer 0", 1)
	}
	if len(b.layers) != maxLayers || len(b.names) != maxLayers || b.file.TooMany["layers with buffers"] != 2 {
		t.Errorf("%d layers, %d names, %v too many", len(b.layers), len(b.names), b.file.TooMany)
	}
	if n := len(b.layers["layer 0"]); n != maxCounts || b.file.TooMany["counts of buffers"] != 3 {
		t.Errorf("%d counts, %v too many", n, b.file.TooMany)
	}
}

// TestCallsForgotten: a call is kept until it was answered before the time from which things are
// kept, or was sent a minute before that and never answered.
func TestCallsForgotten(t *testing.T) {
	t.Parallel()
	const now = 100 * time.Second
	c := &calls{list: []call{
		{client: 1, sent: now - 2*time.Second, replied: now - time.Second}, {client: 2, sent: now - time.Hour, replied: now}, {client: 3, sent: now - time.Minute, replied: -1},
		{client: 4, sent: now - time.Minute - 1, replied: -1}, {client: 5, sent: now, replied: now + 1},
	}, waiting: map[int32][]int32{3: {2}, 4: {3}}}
	c.forget(now)
	var left []int32
	for _, one := range c.list {
		left = append(left, one.client)
	}
	if fmt.Sprint(left) != "[2 3 5]" || len(c.waiting[3]) != 1 || c.waiting[3][0] != 1 || c.waiting[4] != nil {
		t.Errorf("left are the calls of %v, waiting %v, want those of 2, 3 and 5, and the third waiting for the second that is left", left, c.waiting)
	}
}
