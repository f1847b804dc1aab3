package repetition

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
)

// A long recording of every call is kept as its newest calls, which a warning says; a short one, and
// one of long calls, is kept as it is.
func TestNewestOf(t *testing.T) {
	const calls = 1_000
	stream := arttest.Trace{
		Methods: []string{"0x100\tcom.example.Chat\tbind\t()V\tChat.java\t7\n"}, Threads: map[uint32]string{7: "main"}, Order: []uint32{7},
	}
	for n := range uint64(calls) {
		stream.Events = append(stream.Events, arttest.Event{Thread: 7, Wall: 5_000_000_000 + n*2_000_000}, arttest.Event{Thread: 7, Action: 1, Wall: 5_000_000_000 + n*2_000_000 + 1_000_000})
	}
	data := stream.Streaming(2, "wall")
	for _, c := range []struct {
		by      string
		whole   int64
		same    bool
		warning string
	}{
		{config.MethodsCalls, 1_000, false, "repetition 3: of its calls the newest 1000 are kept"},
		{config.MethodsCalls, int64(len(data)), true, ""},
		{config.MethodsLong, 1_000, true, ""},
	} {
		m := &methods{by: c.by, phone: &Phone{Target: &target.Target{Journal: journal.New("pixel", nil)}}}
		got, skipped, drop, err := m.newestOf(t.Context(), 3, bytes.NewReader(data), 7, c.whole)
		if err != nil {
			t.Fatal(err)
		}
		read, err := io.ReadAll(got)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(read, data) != c.same {
			t.Errorf("by %s, whole up to %d bytes: kept as it is %t, want %t", c.by, c.whole, !c.same, c.same)
		}
		if want := 5 * time.Second; skipped != want && !c.same || skipped != 0 && c.same {
			t.Errorf("by %s: they begin %v after the recording, want %v where it was cut", c.by, skipped, want)
		}
		entries := 0
		if _, err := art.Read(bytes.NewReader(read), func(e art.Event) {
			if e.Action == art.Enter {
				entries++
			}
		}); err != nil || entries != calls {
			t.Errorf("by %s: %d calls of %d, %v", c.by, entries, calls, err)
		}
		warned := ""
		for _, w := range m.phone.Target.Journal.Warnings {
			warned += w.Text
		}
		if !strings.HasPrefix(warned, c.warning) || c.warning == "" && warned != "" {
			t.Errorf("by %s: warned %q, want %q", c.by, warned, c.warning)
		}
		drop()
	}
}
