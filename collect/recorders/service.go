package recorders

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// Producer is a program that writes track events into traces (protos/perfetto/common,
// tracing_service_state.proto, data_source_descriptor.proto, track_event_descriptor.proto).
type Producer struct {
	Name       string // of a process
	Categories []string
}

// Limits of the service's answer.
const (
	maxProducers  = 2_000
	maxCategories = 10_000 // of all
)

// Producers asks Perfetto's service on the device which programs write track events now. It returns
// none if the device's perfetto does not answer that.
func Producers(ctx context.Context, d device.Device) ([]Producer, error) {
	out, err := d.Exec(ctx, "perfetto --query-raw")
	if err != nil {
		return nil, fmt.Errorf("ask perfetto which programs write track events: %w", err)
	}
	if out.ExitCode != 0 {
		return nil, nil
	}
	return producers(out.Stdout), nil
}

// producers reads a TracingServiceState.
func producers(state []byte) (out []Producer) {
	const fieldProducers, fieldSources, eventSource = 1, 2, "track_event"
	names, categories := map[uint64]string{}, 0
	var ids []uint64 // of out: a producer may stand behind its sources
	for f := messages.FieldsOf(state); f.Next(); {
		switch {
		case f.Number == fieldProducers && len(names) < maxProducers:
			id, name := numbered(f.Bytes, 1, 2)
			names[id] = text(name)
		case f.Number == fieldSources && len(out) < maxProducers:
			id, descriptor := numbered(f.Bytes, 2, 1)
			kind, found := sourceOf(descriptor, maxCategories-categories)
			if categories += len(found); kind == eventSource {
				ids, out = append(ids, id), append(out, Producer{Categories: found})
			}
		}
	}
	for i, id := range ids {
		out[i].Name = names[id]
	}
	return out
}

// numbered returns a number and bytes of a message, by their fields.
func numbered(message []byte, number, content protowire.Number) (id uint64, bytes []byte) {
	for f := messages.FieldsOf(message); f.Next(); {
		switch f.Number {
		case number:
			id = f.Value
		case content:
			bytes = f.Bytes
		}
	}
	return id, bytes
}

// sourceOf reads a DataSourceDescriptor: its name, and up to so many categories of track events.
func sourceOf(descriptor []byte, most int) (name string, categories []string) {
	const fieldTrackEvent = 6
	for f := messages.FieldsOf(descriptor); f.Next(); {
		switch f.Number {
		case 1:
			name = text(f.Bytes)
		case fieldTrackEvent:
			for category := messages.FieldsOf(f.Bytes); category.Next(); {
				for in := messages.FieldsOf(category.Bytes); category.Number == 1 && in.Next(); {
					if in.Number == 1 && len(categories) < most {
						categories = append(categories, text(in.Bytes))
					}
				}
			}
		}
	}
	return name, categories
}

func text(b []byte) string {
	const most = 300
	return string(b[:min(len(b), most)])
}

// Has reports whether a program writes events of a category.
func (p Producer) Has(category string) bool { return slices.Contains(p.Categories, category) }
