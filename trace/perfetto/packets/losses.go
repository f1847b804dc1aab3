package packets

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// Losses reads the service's statistics about the buffer of a data source's packets: no other
// packet reports what was overwritten before it was read.
type Losses struct {
	Source string // the data source's name

	buffer int // its index among the buffers
	lost   []uint64
}

// Wants returns the configuration and the statistics.
func (l *Losses) Wants() Wants {
	return Wants{Packets: []protowire.Number{field.PacketTraceConfig, field.PacketTraceStats}}
}

// Packet reads a TraceConfig or a TraceStats; the last one counts.
func (l *Losses) Packet(p Packet) {
	if p.Kind == field.PacketTraceConfig {
		config := messages.ConfigOf(p.Data)
		for source := range config.DataSources.Each {
			one := messages.SourceConfigOf(messages.ConfigSourceOf(source).Config)
			if Name(one.Name) == l.Source {
				l.buffer = int(min(one.TargetBuffer, 1<<20))
			}
		}
		return
	}
	const most = 64
	l.lost = nil
	stats := messages.StatsOf(p.Data)
	for buffer := range stats.BufferStats.Each {
		if b := messages.BufferStatsOf(buffer); len(l.lost) < most {
			l.lost = append(l.lost, min(b.ChunksOverwritten, 1<<30)+min(b.ChunksDiscarded, 1<<30))
		}
	}
}

// Chunks returns how many pieces were lost in the buffer, by all that share it.
func (l *Losses) Chunks() int {
	if l.buffer >= len(l.lost) {
		return 0
	}
	return int(l.lost[l.buffer])
}
