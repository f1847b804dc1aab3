package packets_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// times reads the times of the kernel's events of one kind.
type times struct{ got []time.Duration }

const eventKind = 99

func (*times) Wants() packets.Wants     { return packets.Wants{Events: []protowire.Number{eventKind}} }
func (*times) Packet(packets.Packet)    {}
func (r *times) Event(e *packets.Event) { r.got = append(r.got, e.At) }
func inOrder(t *testing.T, trace message) (*packets.File, *times) {
	t.Helper()
	f, r := packets.New(), &times{}
	if err := f.ReadInOrder(bytes.NewReader(trace), r); err != nil {
		t.Fatal(err)
	}
	f.Doubts()
	return f, r
}

// bundle is a packet with events of a CPU at these times.
func bundle(cpu uint64, size int, at ...uint64) message {
	b := message(nil).num(1, cpu)
	for _, ns := range at {
		b = b.in(2, message(nil).num(1, ns).in(eventKind, make([]byte, size)))
	}
	return message(nil).in(1, message(nil).num(10, 1).in(1, b))
}

func TestReadInOrderSortsCPUs(t *testing.T) {
	t.Parallel()
	_, r := inOrder(t, slices.Concat(bundle(1, 1, 30, 40, 90), bundle(0, 1, 10, 35, 80), bundle(1, 1, 100), bundle(2, 1, 20, 95)))
	if got := fmt.Sprint(r.got); got != "[10ns 20ns 30ns 35ns 40ns 80ns 90ns 95ns 100ns]" {
		t.Error(got)
	}
}

// TestReadInOrderBoundsWaitingEvents has more events than may wait for one another: those that come
// in time are in order, and those that come too late are left out, with a warning.
func TestReadInOrderBoundsWaitingEvents(t *testing.T) {
	t.Parallel()
	var trace message
	const each = 4 << 20
	for i := uint64(1); i <= 30; i++ {
		trace = append(trace, bundle(i%2, each, 1000*i+1500*(i%2))...) // each pair is swapped
	}
	f, r := inOrder(t, append(trace, bundle(2, 1, 5)...))
	if len(r.got) != 30 || !slices.IsSorted(r.got) {
		t.Errorf("%d events, want 30 in order: %v", len(r.got), r.got)
	}
	if said := fmt.Sprint(f.Warnings.List()); !strings.Contains(said, "1 event of the kernel comes too long after") {
		t.Error(said)
	}
}
