// Package artexport writes method traces of ART for other programs: Perfetto's user interface, pprof,
// and whatever draws folded stacks (flame graphs, speedscope).
//
// It owns these three outputs (docs/format/inspect.md). They have names and times alone: of the
// threads, and of the methods with their signatures and source files. It reads nothing itself
// (package art does), and computes nothing but sums of calls.
package artexport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/internal/pprofile"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/r8map"
)

// ErrNoTimes is the error of an output that needs times, of a trace that has the order of calls
// alone.
var ErrNoTimes = errors.New("the trace has the order of calls and no times")

// Source is a trace that is read again for each output.
type Source struct {
	src   io.ReadSeeker
	trace *art.Trace
}

// Open reads a trace's names. A mapping gives methods that R8 renamed the names of the source; it
// may be nil.
func Open(src io.ReadSeeker, mapping *r8map.Map) (*Source, error) {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read a method trace: %w", err)
	}
	t, err := art.Read(src, nil)
	if err != nil {
		return nil, err
	}
	t.Retrace(mapping)
	return &Source{src, t}, nil
}

// HasTimes reports whether the trace has more than the order of calls.
func (s *Source) HasTimes() bool { return s.trace.Clock != art.NoClock }

// maxName bounds a name, in bytes.
const maxName = 1000

// name is a method's name with its signature, as Perfetto has it where it reads ART's traces.
func (s *Source) name(place int) string {
	if place < 0 {
		return "unknown method"
	}
	m := s.trace.Methods[place]
	if m.Signature == "" {
		return prose.Clip(m.String(), maxName)
	}
	return prose.Clip(m.String()+": "+m.Signature, maxName)
}

// Folded writes a line for each stack, its thread first, with the microseconds that its innermost
// method took itself; of a trace without times, with the number of its calls.
func (s *Source) Folded(w io.Writer) ([]run.Warning, error) {
	st, err := s.stacks()
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(w)
	for i, n := range st.nodes {
		value := n.self.Microseconds()
		if !s.HasTimes() {
			value = n.calls
		}
		if value == 0 || n.method == threadRoot {
			continue
		}
		var frames []string
		for at := i; at >= 0; at = st.nodes[at].caller {
			frames = append(frames, foldable(s.frame(st.nodes[at])))
		}
		for k := len(frames) - 1; k > 0; k-- {
			_, _ = out.WriteString(frames[k] + ";")
		}
		_, _ = out.WriteString(frames[0] + " " + strconv.FormatInt(value, 10) + "\n")
	}
	return st.warnings(), out.Flush()
}

// frame is the name of a node: a method's, or a thread's.
func (s *Source) frame(n node) string {
	if n.method == threadRoot {
		return s.trace.Thread(n.thread)
	}
	return s.name(n.method)
}

// foldable is a name without what separates the frames of a line.
func foldable(name string) string {
	return strings.NewReplacer(";", ",", "\n", " ", "\r", " ").Replace(name)
}

// Pprof writes a profile, with the calls of each stack and the time of its innermost method's own
// code: wall time, processor time, or both, as the trace has. A sample is labelled with its thread.
func (s *Source) Pprof(w io.Writer, app string) ([]run.Warning, error) {
	st, err := s.stacks()
	if err != nil {
		return nil, err
	}
	b := pprofile.New(app)
	b.SampleType = append(b.SampleType, &profile.ValueType{Type: "calls", Unit: "count"})
	clock := s.trace.Clock
	if clock == art.Wall || clock == art.Dual {
		b.SampleType = append(b.SampleType, &profile.ValueType{Type: "wall", Unit: "nanoseconds"})
	}
	if clock == art.ThreadCPU || clock == art.Dual {
		b.SampleType = append(b.SampleType, &profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	}
	b.DefaultSampleType = b.SampleType[min(1, len(b.SampleType)-1)].Type
	b.PeriodType, b.Period = b.SampleType[0], 1
	for i, n := range st.nodes {
		if n.method == threadRoot {
			continue
		}
		values := []int64{n.calls, int64(n.self), int64(n.cpu)}[:len(b.SampleType)]
		if n.calls == 0 && n.self == 0 && n.cpu == 0 {
			continue
		}
		sample := &profile.Sample{Value: values, Label: map[string][]string{"thread": {s.trace.Thread(n.thread)}}}
		for at := i; st.nodes[at].method != threadRoot; at = st.nodes[at].caller {
			sample.Location = append(sample.Location, b.Location(s.pprofFrame(st.nodes[at].method)))
		}
		b.Sample = append(b.Sample, sample)
	}
	b.Comments = []string{"every call was recorded, which costs more than most calls take: compare shares, and not times with those of other recordings"}
	if err := b.Write(w); err != nil {
		return nil, fmt.Errorf("write a pprof profile: %w", err)
	}
	return st.warnings(), nil
}

func (s *Source) pprofFrame(method int) pprofile.Frame {
	f := pprofile.Frame{Name: s.name(method)}
	if method >= 0 {
		f.File, f.Line = prose.Clip(s.trace.Methods[method].File, maxName), s.trace.Methods[method].Line
	}
	return f
}
