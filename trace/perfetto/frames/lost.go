package frames

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// source is the name of the frame timeline's data source.
const source = "android.surfaceflinger.frametimeline"

// losses reads what the service says of the buffer that the frame timeline went into:
// what was written over before it was read stands nowhere else.
type losses struct {
	buffer int // its place among the buffers
	lost   []uint64
}

func (l *losses) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketTraceConfig, field.PacketTraceStats}}
}

// Packet reads a TraceConfig or a TraceStats, of which the last counts.
func (l *losses) Packet(p packets.Packet) {
	if p.Kind == field.PacketTraceConfig {
		for f := packets.FieldsOf(p.Data); f.Next(); {
			if f.Number == field.ConfigDataSources {
				l.target(f.Bytes)
			}
		}
		return
	}
	const most = 64
	l.lost = nil
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number == field.StatsBufferStats && len(l.lost) < most {
			l.lost = append(l.lost, lostOf(f.Bytes))
		}
	}
}

// target reads a data source of the configuration.
func (l *losses) target(dataSource []byte) {
	for f := packets.FieldsOf(dataSource); f.Next(); {
		if f.Number != field.ConfigSourceConfig {
			continue
		}
		name, buffer := "", uint64(0)
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.SourceConfigName:
				name = g.Text()
			case field.SourceConfigTargetBuffer:
				buffer = g.Value
			}
		}
		if name == source {
			l.buffer = int(min(buffer, 1<<20))
		}
	}
}

func lostOf(buffer []byte) (chunks uint64) {
	for f := packets.FieldsOf(buffer); f.Next(); {
		if f.Number == field.BufferStatsChunksOverwritten || f.Number == field.BufferStatsChunksDiscarded {
			chunks += min(f.Value, 1<<30)
		}
	}
	return chunks
}

// chunks is how many pieces of the timeline were lost in its buffer.
func (l *losses) chunks() int {
	if l.buffer >= len(l.lost) {
		return 0
	}
	return int(l.lost[l.buffer])
}
