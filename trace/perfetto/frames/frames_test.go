package frames_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// TestNamesOfLayersAreBounded has a frame of each of 100,002 layers. A frame whose layer has no
// room is kept without its name, and counted.
func TestNamesOfLayersAreBounded(t *testing.T) {
	t.Parallel()
	const most, many = 100_000, 100_002
	var trace tracetest.Message
	for i := range int64(many) {
		frame := tracetest.Message(nil).Num(field.ActualSurfaceCookie, i).Num(field.ActualSurfaceToken, i).Num(field.ActualSurfaceDisplayFrameToken, i).
			Num(field.ActualSurfacePID, 10).Text(field.ActualSurfaceLayerName, fmt.Sprint("layer", i))
		trace = trace.In(field.TracePacket, tracetest.Message(nil).Num(field.PacketTimestamp, 1000+i).
			In(field.PacketFrameTimelineEvent, tracetest.Message(nil).In(field.FrameActualSurfaceFrameStart, frame)))
	}
	f := packets.New()
	r := frames.New(f)
	if err := f.ReadInOrder(bytes.NewReader(trace), r); err != nil {
		t.Fatal(err)
	}
	if r.Frames.Len() != many || f.TooMany["names of layers"] != many-most {
		t.Fatalf("%d frames; %v", r.Frames.Len(), f.TooMany)
	}
	if last, first := r.Layers[r.Frames.Rows[most-1].Layer], r.Layers[r.Frames.Rows[most].Layer]; last != "layer99999" || first != "" {
		t.Errorf("%q, %q", last, first)
	}
}
