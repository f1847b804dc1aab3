package recorders

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Ask is what a section needs of Perfetto.
type Ask struct {
	Who string // for messages; a later ask of the same takes its place
	// Sources are the data sources, as far as such a perfetto knows them.
	Sources func(Known) []Source
	// Whole says that all of it is needed, from beginning to end. Otherwise the last
	// that the buffers hold is enough.
	Whole bool
}

// Source is a data source of Perfetto (protos/perfetto/config/data_source_config.proto).
type Source struct {
	Name string // "android.power"
	// Config is the field of DataSourceConfig that says more, "" where none does.
	Config string
	Every  map[string]time.Duration // fields that are periods, in ms
	On     []string                 // flags that are set
	Within []string                 // messages whose flag "enabled" is set
	Enums  map[string][]string      // repeated fields, of names of an enum
	Texts  map[string][]string      // and of strings
	// BufferKB is the buffer that it needs. Sources that need the same share one, so
	// that none that writes a little is overwritten by one that writes much.
	BufferKB int
	// BytesPerSecond is the most that it writes, 0 where that is not known.
	BytesPerSecond int
	// Tells says that who reads it notices what was overwritten: beside what needs the
	// last only, the largest buffer serves where it is too small for all of it.
	Tells bool

	whole bool // asked for by whom needs all of it
}

// FrameTimeline is the data source in which Android's compositor tells of frames
// (Android 12 and later).
const FrameTimeline = "android.surfaceflinger.frametimeline"

// merge makes one configuration of all that is asked for: each data source once,
// with all of its fields that anybody sets and the shortest periods.
//
// Where all is needed and nothing else is recorded, it goes to the file as it comes.
// Beside what needs the last only, it stays in a buffer that is large enough for it,
// if there is one: a file would fill up with the rest, and a session that writes to
// a file can't be copied while it runs before perfetto 50.
//
// Format: protos/perfetto/config/trace_config.proto. Perfetto writes snapshots of all
// clocks into every trace.
func merge(asks []Ask, known Known, limit time.Duration) string {
	var sources []Source
	whole, mixed := false, false
	for _, a := range asks {
		whole, mixed = whole || a.Whole, mixed || !a.Whole
		for _, s := range a.Sources(known) {
			s.whole = a.Whole
			sources = join(sources, s)
		}
	}
	buffers := sizes(sources)
	need := func(kb int) int {
		size := max(kb, needs(sources, kb, limit))
		if mixed && told(sources, kb) {
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

// sessionName is by what name the session can be copied while it runs.
const sessionName = "apkgate"

// toFileField has the trace written to its file as it is recorded.
const toFileField = "write_into_file"

// maxBufferKB bounds a buffer in the device's memory.
const maxBufferKB = 64 << 10

// sizes are those of the buffers, in the order in which the sources need them.
func sizes(sources []Source) (out []int) {
	for _, s := range sources {
		if !slices.Contains(out, s.BufferKB) {
			out = append(out, s.BufferKB)
		}
	}
	return out
}

// needs is how large a buffer must be to hold all that is needed whole of the sources
// that share it.
func needs(sources []Source, buffer int, limit time.Duration) (kb int) {
	for _, s := range sources {
		if s.whole && s.BufferKB == buffer {
			kb += int(limit/time.Second) * s.BytesPerSecond >> 10
		}
	}
	return kb
}

// told reports whether whoever needs all of what is in a buffer notices what is not.
func told(sources []Source, buffer int) bool {
	return !slices.ContainsFunc(sources, func(s Source) bool { return s.whole && s.BufferKB == buffer && !s.Tells })
}

// join adds a data source, to the one of its name where that is there.
func join(sources []Source, s Source) []Source {
	i := slices.IndexFunc(sources, func(o Source) bool { return o.Name == s.Name })
	if i < 0 {
		return append(sources, s)
	}
	o := &sources[i]
	switch {
	case o.whole == s.whole:
		o.BufferKB = max(o.BufferKB, s.BufferKB)
	case s.whole: // what is needed whole is kept apart from a ring
		o.BufferKB = s.BufferKB
	}
	o.Config, o.Tells = max(o.Config, s.Config), o.Tells || s.Tells
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
	o.BytesPerSecond, o.whole = max(o.BytesPerSecond, s.BytesPerSecond), o.whole || s.whole
	o.On, o.Within = union(o.On, s.On), union(o.Within, s.Within)
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
	b.WriteString(" } }\n")
}
