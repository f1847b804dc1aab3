package recorders

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// lines returns the trimmed lines of a configuration that begin with a word.
func lines(text, word string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, word) {
			out = append(out, line)
		}
	}
	return out
}

func asked(who string, whole bool, sources ...Source) Request {
	return Request{Who: who, Complete: whole, Sources: func(Capabilities) []Source { return sources }}
}

// The requests of two sections are merged into one configuration that gives each what it needs.
func TestMerge(t *testing.T) {
	t.Parallel()
	power := asked("power", true,
		Source{Name: "android.power", Config: "android_power_config", BufferKB: 4096, BytesPerSecond: 1024,
			Every: map[string]time.Duration{"battery_poll_ms": time.Second}, On: []string{"collect_power_rails"},
			Enums: map[string][]string{"battery_counters": {"BATTERY_COUNTER_CURRENT"}}})
	heat := asked("heat", false,
		Source{Name: "android.power", Config: "android_power_config", BufferKB: 4096,
			Every: map[string]time.Duration{"battery_poll_ms": 250 * time.Millisecond},
			Enums: map[string][]string{"battery_counters": {"BATTERY_COUNTER_CURRENT", "BATTERY_COUNTER_VOLTAGE"}}},
		Source{Name: "linux.ftrace", Config: "ftrace_config", BufferKB: 32768, Texts: map[string][]string{"ftrace_events": {"sched/sched_switch"}}})
	cpu := asked("cpu", false,
		Source{Name: "linux.ftrace", Config: "ftrace_config", BufferKB: 32768, Within: []string{"compact_sched"}, Texts: map[string][]string{"ftrace_events": {"sched/sched_switch", "sched/sched_waking"}}})
	got := merge([]Request{power, heat, cpu}, Capabilities{}, 10*time.Minute)
	for word, want := range map[string][]string{
		"data_sources":      {`data_sources { config { name: "android.power" target_buffer: 0 android_power_config {`, `data_sources { config { name: "linux.ftrace" target_buffer: 1 ftrace_config {`},
		"battery_poll_ms":   {"battery_poll_ms: 250"}, // the fastest
		"battery_counters":  {"battery_counters: BATTERY_COUNTER_CURRENT", "battery_counters: BATTERY_COUNTER_VOLTAGE"},
		"collect_power":     {"collect_power_rails: true"},
		"compact_sched":     {"compact_sched { enabled: true }"},
		"ftrace_events":     {`ftrace_events: "sched/sched_switch"`, `ftrace_events: "sched/sched_waking"`},
		"buffers":           {"buffers { size_kb: 4096 fill_policy: RING_BUFFER }", "buffers { size_kb: 32768 fill_policy: RING_BUFFER }"},
		"duration_ms":       {"duration_ms: 600000"},
		"write_into_file":   nil, // it would fill up with the kernel's events
		"unique_session_na": nil,
	} {
		if lines := lines(got, word); !slices.Equal(lines, want) {
			t.Errorf("%s: %q, want %q in\n%s", word, lines, want, got)
		}
	}
}

// Complete data has enough room: its own buffer, or the file.
func TestMergeOfCompleteRequests(t *testing.T) {
	t.Parallel()
	whole := asked("power", true, Source{Name: "android.power", BufferKB: 4096, BytesPerSecond: 10 << 10})
	ring := asked("evidence", false, Source{Name: "linux.ftrace", BufferKB: 32768})
	for name, c := range map[string]struct {
		asks   []Request
		limit  time.Duration
		buffer string
		toFile bool
	}{
		"alone":                      {[]Request{whole}, 24 * time.Hour, "size_kb: 4096 ", true},
		"beside a ring":              {[]Request{whole, ring}, 1000 * time.Second, "size_kb: 10000 ", false},
		"for too long for a buffer":  {[]Request{whole, ring}, 24 * time.Hour, "size_kb: 4096 ", true},
		"a ring alone":               {[]Request{ring}, 24 * time.Hour, "size_kb: 32768 ", false},
		"less than a buffer's least": {[]Request{whole, ring}, time.Minute, "size_kb: 4096 ", false},
	} {
		got := merge(c.asks, Capabilities{}, c.limit)
		if first := lines(got, "buffers")[0]; !strings.Contains(first, c.buffer) || strings.Contains(got, "write_into_file: true") != c.toFile {
			t.Errorf("%s: %s, written to its file: %v; want %q, %v", name, first, !c.toFile, c.buffer, c.toFile)
		}
	}
}

// Next to a ring buffer, frames have a buffer of their own, so that they are complete. It grows
// with the time limit up to what a device can spare, since a file would fill up with the ring
// buffer's data.
func TestMergeOfTimelineAndRing(t *testing.T) {
	t.Parallel()
	frames := asked("frames", true, Source{Name: FrameTimeline, BufferKB: 8192, BytesPerSecond: 64 << 10, DetectsLoss: true})
	evidence := asked("evidence", false, Source{Name: "linux.ftrace", BufferKB: 32768}, Source{Name: FrameTimeline, BufferKB: 32768})
	for name, c := range map[string]struct {
		asks    []Request
		limit   time.Duration
		buffers []string
		toFile  bool
	}{
		"frames first":        {[]Request{frames, evidence}, 200 * time.Second, []string{"12800", "32768"}, false},
		"evidence first":      {[]Request{evidence, frames}, 200 * time.Second, []string{"32768", "12800"}, false},
		"for hours":           {[]Request{frames, evidence}, 5 * time.Hour, []string{"65536", "32768"}, false},
		"for hours and alone": {[]Request{frames}, 5 * time.Hour, []string{"8192"}, true},
	} {
		got := merge(c.asks, Capabilities{}, c.limit)
		var sizes []string
		for _, line := range lines(got, "buffers") {
			sizes = append(sizes, strings.Fields(line)[3])
		}
		if !slices.Equal(sizes, c.buffers) || strings.Contains(got, "write_into_file: true") != c.toFile || strings.Count(got, FrameTimeline) != 1 {
			t.Errorf("%s: %q in\n%s", name, sizes, got)
		}
	}
}
