package simpleperf

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
)

// attr is the part of Linux's perf_event_attr that the records need.
type attr struct {
	kind, config uint64
	period       uint64 // fixed; 0 for a frequency
	sampleType   uint64
	readFormat   uint64
	excludeUser  bool
	excludeOS    bool
	idOnAll      bool // records other than samples end with the sample's id
}

// Bits of perf_event_attr.sample_type.
const (
	sampleIP         = 1 << 0
	sampleTID        = 1 << 1
	sampleTime       = 1 << 2
	sampleAddr       = 1 << 3
	sampleRead       = 1 << 4
	sampleChain      = 1 << 5
	sampleID         = 1 << 6
	sampleCPU        = 1 << 7
	samplePeriod     = 1 << 8
	sampleStreamID   = 1 << 9
	sampleIdentifier = 1 << 16
)

// attrMin is the size of the first version of perf_event_attr.
const attrMin = 64

func parseAttr(b []byte) attr {
	c := cursor{b: b}
	kind := c.u32()
	c.skip(4) // its size
	a := attr{kind: uint64(kind), config: c.u64(), period: c.u64(), sampleType: c.u64(), readFormat: c.u64()}
	flags := c.u64()
	a.excludeUser, a.excludeOS = flags&(1<<4) != 0, flags&(1<<5) != 0
	a.idOnAll = flags&(1<<18) != 0
	if frequency := flags&(1<<10) != 0; frequency {
		a.period = 0
	}
	return a
}

// generic are Linux's names of hardware (type 0) and software (type 1) events by their config, as
// simpleperf spells them.
var generic = [2][]string{
	{
		"cpu-cycles", "instructions", "cache-references", "cache-misses", "branch-instructions",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	},
	{
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
		"major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	},
}

// eventKey identifies a kind of event.
type eventKey struct{ kind, config uint64 }

// event names the counted event: as in the recording, or else as in Linux.
func (a attr) event(named map[eventKey]string) Event {
	name := named[eventKey{a.kind, a.config}]
	if name == "" && a.kind < 2 && a.config < uint64(len(generic[a.kind])) {
		name = generic[a.kind][a.config]
	}
	if etm := named[eventKey{a.kind, 0}]; name == "" && etm == "cs-etm" {
		name = etm // its config holds options
	}
	if name == "" {
		name = fmt.Sprintf("type %d, config %#x", a.kind, a.config)
	}
	switch {
	case strings.HasSuffix(name, ":u") || strings.HasSuffix(name, ":k"):
	case a.excludeUser && !a.excludeOS:
		name += ":k"
	case a.excludeOS && !a.excludeUser:
		name += ":u"
	}
	return Event{Name: eventName(name), Type: uint32(a.kind), Config: a.config}
}

// eventName prepares a name from the file for display: short, and without control characters.
func eventName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, prose.Clip(name, 100))
}

// isETM reports whether only an instruction trace was recorded.
func (p *Profile) isETM() bool {
	for _, e := range p.Events {
		if base, _, _ := strings.Cut(e.Name, ":"); base != "cs-etm" {
			return false
		}
	}
	return len(p.Events) > 0
}

// clock returns "task-clock" or "cpu-clock" if the event's periods are nanoseconds of CPU time,
// else "".
func (e Event) clock() string {
	switch base, _, _ := strings.Cut(e.Name, ":"); base {
	case "task-clock", "cpu-clock":
		return base
	}
	return ""
}
