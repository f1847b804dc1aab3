package packets

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Losses reads what the service says of the buffer that a data source's packets went into:
// what was written over before it was read stands nowhere else.
type Losses struct {
	Source string // the data source's name

	buffer int // its place among the buffers
	lost   []uint64
}

// Wants are the configuration and the statistics.
func (l *Losses) Wants() Wants {
	return Wants{Packets: []protowire.Number{field.PacketTraceConfig, field.PacketTraceStats}}
}

// Packet reads a TraceConfig or a TraceStats, of which the last counts.
func (l *Losses) Packet(p Packet) {
	if p.Kind == field.PacketTraceConfig {
		for f := FieldsOf(p.Data); f.Next(); {
			if f.Number == field.ConfigDataSources {
				l.target(f.Bytes)
			}
		}
		return
	}
	const most = 64
	l.lost = nil
	for f := FieldsOf(p.Data); f.Next(); {
		if f.Number == field.StatsBufferStats && len(l.lost) < most {
			l.lost = append(l.lost, lostOf(f.Bytes))
		}
	}
}

// target reads a data source of the configuration.
func (l *Losses) target(dataSource []byte) {
	for f := FieldsOf(dataSource); f.Next(); {
		if f.Number != field.ConfigSourceConfig {
			continue
		}
		name, buffer := "", uint64(0)
		for g := FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.SourceConfigName:
				name = g.Text()
			case field.SourceConfigTargetBuffer:
				buffer = g.Value
			}
		}
		if name == l.Source {
			l.buffer = int(min(buffer, 1<<20))
		}
	}
}

func lostOf(buffer []byte) (chunks uint64) {
	for f := FieldsOf(buffer); f.Next(); {
		if f.Number == field.BufferStatsChunksOverwritten || f.Number == field.BufferStatsChunksDiscarded {
			chunks += min(f.Value, 1<<30)
		}
	}
	return chunks
}

// Chunks is how many pieces were lost in the buffer, of all that shares it.
func (l *Losses) Chunks() int {
	if l.buffer >= len(l.lost) {
		return 0
	}
	return int(l.lost[l.buffer])
}
