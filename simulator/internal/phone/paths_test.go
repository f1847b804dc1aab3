package phone

import (
	"bytes"
	"strings"
	"testing"
	"time"

	waits "github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// The critical path in the trace contains the cause of a frame's delay, with its duration.
func TestCriticalPathLeadsToTheCause(t *testing.T) {
	t.Parallel()
	for line, is := range map[string]func(s *rendering.Step) bool{
		"blocks binder com.example.backend IFeed::query 24ms after tap every 5": func(s *rendering.Step) bool {
			return s.Kind == waits.WaitBinder && s.What == "com.example.backend IFeed::query" && s.Stage == waits.StageAnimation
		},
		"blocks disk 24ms after tap every 5 in measure": func(s *rendering.Step) bool {
			return s.Kind == waits.WaitIO && s.What == "folio_wait_bit_common" && s.Stage == waits.StageTraversal
		},
		"blocks lock db-writer 24ms through disk after tap every 5": func(s *rendering.Step) bool {
			return s.Kind == waits.WaitLock && strings.HasPrefix(s.What, "db-writer at ") && s.Thread == "db-writer" && s.Does == waits.WaitIO
		},
		"blocks cpu 24ms after tap every 5 by com.android.vending": func(s *rendering.Step) bool {
			return s.Kind == waits.WaitRunnable && strings.HasPrefix(s.What, "com.android.vending: ")
		},
		"gc 24ms after tap every 5":                             func(s *rendering.Step) bool { return s.Kind == waits.WaitGC },
		"gpu 24ms after tap every 5":                            func(s *rendering.Step) bool { return s.Kind == waits.WaitGPU },
		"work measure 24ms after tap every 5 of Feed.onMeasure": func(s *rendering.Step) bool { return s.Kind == waits.WaitRunning && s.What == "Feed.onMeasure" },
	} {
		p := newPhone(t, "pixel-7-android-14", still+line+"\n")
		pid := strings.TrimSpace(output(t, p, "echo '"+causesConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
		start(p, instrument)
		pass(t, p, 3*time.Second)
		output(t, p, "kill "+pid)
		pass(t, p, time.Second)
		trace, err := rendering.Read(packets.Packets(bytes.NewReader([]byte(output(t, p, "cat "+kernelTrace)))), rendering.App{Package: "com.example.still"})
		if err != nil {
			t.Fatal(err)
		}
		paths := map[int64]*rendering.Frame{}
		for i := range trace.Frames {
			paths[trace.Frames[i].Token] = &trace.Frames[i]
		}
		seen := 0
		for _, f := range windowsOf(p, "com.example.still")[0].Frames {
			read := paths[f.Token]
			if len(f.Delays) == 0 || read == nil {
				continue
			}
			seen++
			var delay, found time.Duration
			for _, d := range f.Delays {
				delay += d.To - d.From
			}
			for i := range read.Path {
				if s := &read.Path[i]; is(s) {
					found += s.To - s.From
				}
			}
			if found < delay*9/10 || found > delay*11/10 {
				t.Fatalf("%s: frame %d is %s; the delay of %v is %v of its path:\n%+v", line, f.Token, read.Class, delay, found, read.Path)
			}
		}
		if seen < 4 {
			t.Errorf("%s: %d delayed frames", line, seen)
		}
	}
}
