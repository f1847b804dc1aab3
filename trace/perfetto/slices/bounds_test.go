package slices_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// TestNamesOfTracksAreBounded has 40,000 tracks with names of 1,000 bytes each: those beyond the
// limit share one track without a name, so that their own are not stored.
func TestNamesOfTracksAreBounded(t *testing.T) {
	t.Parallel()
	const many, room = 40_000, 32 << 20
	long := strings.Repeat("x", 990)
	var bundle tracetest.Message
	for i := range int64(many) {
		line := tracetest.Message(nil).Text(field.PrintBuf, fmt.Sprintf("S|10|%06d%s|1\n", i, long))
		bundle = bundle.In(field.BundleEvent, tracetest.Message(nil).Num(field.EventTimestamp, 1000+i).Num(field.EventPID, 10).In(field.EventPrint, line))
	}
	trace := tracetest.Message(nil).In(field.TracePacket, tracetest.Message(nil).In(field.PacketFtraceEvents, bundle))
	f := packets.New()
	tracker := threads.New(f)
	r := slices.New(f, tracker)
	if err := f.ReadInOrder(bytes.NewReader(trace), tracker, r); err != nil {
		t.Fatal(err)
	}
	unnamed := 0
	for _, track := range r.Tracks {
		if track.Name == "" {
			unnamed++
		}
	}
	if n := len(r.Tracks); n < 30_000 || n*1000 > room || unnamed != 1 || f.TooMany["names of slices"] == 0 {
		t.Errorf("%d tracks, %d without a name; %v", n, unnamed, f.TooMany)
	}
}
