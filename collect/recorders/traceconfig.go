package recorders

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Request is what one section of a run needs from Perfetto.
type Request struct {
	Who string // for messages; a later request of the same section replaces it
	// Sources are the data sources, as far as such a perfetto knows them.
	Sources func(Capabilities) []Source
	// Complete requests all data from beginning to end. Otherwise the last that the buffers hold is
	// enough.
	Complete bool
}

// Source is a data source of Perfetto (protos/perfetto/config/data_source_config.proto).
type Source struct {
	Name string // "android.power"
	// Config is the field of DataSourceConfig for its settings, "" if there is none.
	Config string
	Every  map[string]time.Duration // fields that are periods, in ms
	On     []string                 // flags that are set
	Within []string                 // messages whose flag "enabled" is set
	Enums  map[string][]string      // repeated fields of enum names
	Texts  map[string][]string      // repeated fields of strings
	// Producers are regular expressions for the whole names of the programs that it is requested
	// from; none: all.
	Producers []string
	// BufferKB is the buffer size that it needs. Sources with equal sizes share a buffer, so that a
	// source that writes little is not overwritten by one that writes much.
	BufferKB int
	// BytesPerSecond is the most that it writes, 0 if unknown.
	BytesPerSecond int
	// DetectsLoss reports that its reader detects overwritten data. Next to requests that need only
	// the last data, it may use the largest buffer even if that is too small for all of it.
	DetectsLoss bool

	complete bool // requested by a section that needs all of it
}

// FrameTimeline is the data source in which Android's compositor reports frames (Android 12 and
// later).
const FrameTimeline = "android.surfaceflinger.frametimeline"

// merge combines all requests into one configuration: each data source once, with the union of its
// fields and the shortest periods.
//
// If all data is needed and nothing else is recorded, it is written to the file as it comes. Next
// to requests that need only the last data, it stays in a buffer that is large enough, if there is
// one: a file would fill up with the rest, and a session that writes to a file can't be cloned
// before perfetto 50.
//
// Format: protos/perfetto/config/trace_config.proto. Perfetto writes snapshots of all clocks into
// every trace.
func merge(asks []Request, known Capabilities, limit time.Duration) string {
	var sources []Source
	whole, mixed := false, false
	for _, a := range asks {
		whole, mixed = whole || a.Complete, mixed || !a.Complete
		for _, s := range a.Sources(known) {
			s.complete = a.Complete
			sources = join(sources, s)
		}
	}
	buffers := sizes(sources)
	need := func(kb int) int {
		size := max(kb, needs(sources, kb, limit))
		if mixed && lossDetected(sources, kb) {
			return min(size, maxBufferKB)
		}
		return size
	}
	toFile := whole && (!mixed || slices.ContainsFunc(buffers, func(kb int) bool { return need(kb) > maxBufferKB }))
	var b strings.Builder
	for _, kb := range buffers {
		if !toFile {
			kb = need(kb)
		}
		fmt.Fprintf(&b, "buffers { size_kb: %d fill_policy: RING_BUFFER }\n", kb)
	}
	fmt.Fprintf(&b, "duration_ms: %d\n", limit.Milliseconds())
	if toFile {
		fmt.Fprintf(&b, toFileField+": true\nfile_write_period_ms: 5000\nmax_file_size_bytes: %d\n", maxRecording)
	}
	if known.clone {
		fmt.Fprintf(&b, "unique_session_name: %q\n", sessionName)
	}
	for _, s := range sources {
		s.write(&b, slices.Index(buffers, s.BufferKB))
	}
	return b.String()
}

// sessionName is the name by which the running session can be cloned.
const sessionName = "apkgate"

// toFileField makes Perfetto write the trace to its file as it is recorded.
const toFileField = "write_into_file"

// maxBufferKB limits a buffer in the device's memory.
const maxBufferKB = 64 << 10

// sizes returns the buffer sizes in the order in which the sources need them.
func sizes(sources []Source) (out []int) {
	for _, s := range sources {
		if !slices.Contains(out, s.BufferKB) {
			out = append(out, s.BufferKB)
		}
	}
	return out
}

// needs returns how large a buffer must be to hold everything that must be complete of its sources.
func needs(sources []Source, buffer int, limit time.Duration) (kb int) {
	for _, s := range sources {
		if s.complete && s.BufferKB == buffer {
			kb += int(limit/time.Second) * s.BytesPerSecond >> 10
		}
	}
	return kb
}

// lossDetected reports whether overwritten data in a buffer is detected by all readers that need
// all of it.
func lossDetected(sources []Source, buffer int) bool {
	return !slices.ContainsFunc(sources, func(s Source) bool { return s.complete && s.BufferKB == buffer && !s.DetectsLoss })
}

// join adds a data source, merging it with one of the same name.
func join(sources []Source, s Source) []Source {
	i := slices.IndexFunc(sources, func(o Source) bool { return o.Name == s.Name })
	if i < 0 {
		return append(sources, s)
	}
	o := &sources[i]
	switch {
	case o.complete == s.complete:
		o.BufferKB = max(o.BufferKB, s.BufferKB)
	case s.complete: // complete data is kept apart from a ring buffer
		o.BufferKB = s.BufferKB
	}
	o.Config, o.DetectsLoss = max(o.Config, s.Config), o.DetectsLoss || s.DetectsLoss
	every := maps.Clone(s.Every)
	for field, d := range o.Every {
		if other, both := every[field]; !both || d < other {
			if every == nil {
				every = map[string]time.Duration{}
			}
			every[field] = d
		}
	}
	o.Every = every
	o.BytesPerSecond, o.complete = max(o.BytesPerSecond, s.BytesPerSecond), o.complete || s.complete
	o.On, o.Within = union(o.On, s.On), union(o.Within, s.Within)
	o.Producers = union(o.Producers, s.Producers)
	o.Enums, o.Texts = unions(o.Enums, s.Enums), unions(o.Texts, s.Texts)
	return sources
}

func unions(a, b map[string][]string) map[string][]string {
	out := map[string][]string{}
	for field := range a {
		out[field] = a[field]
	}
	for field := range b {
		out[field] = union(out[field], b[field])
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (s Source) write(b *strings.Builder, buffer int) {
	fmt.Fprintf(b, "data_sources { config { name: %q target_buffer: %d", s.Name, buffer)
	if s.Config != "" {
		fmt.Fprintf(b, " %s {\n", s.Config)
		for _, field := range slices.Sorted(maps.Keys(s.Every)) {
			fmt.Fprintf(b, "  %s: %d\n", field, s.Every[field].Milliseconds())
		}
		for _, field := range s.On {
			fmt.Fprintf(b, "  %s: true\n", field)
		}
		for _, message := range s.Within {
			fmt.Fprintf(b, "  %s { enabled: true }\n", message)
		}
		for _, field := range slices.Sorted(maps.Keys(s.Enums)) {
			for _, name := range s.Enums[field] {
				fmt.Fprintf(b, "  %s: %s\n", field, name)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(s.Texts)) {
			for _, text := range s.Texts[field] {
				fmt.Fprintf(b, "  %s: %q\n", field, text)
			}
		}
		b.WriteString("}")
	}
	b.WriteString(" }")
	for _, name := range s.Producers {
		fmt.Fprintf(b, " producer_name_regex_filter: %q", name)
	}
	b.WriteString(" }\n")
}
