package messages_test

import (
	"bytes"
	"math/rand"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// TestFieldsAreProtobufs compares the fields of random bytes, most of which end in the middle of
// one, with the result of the format's own package.
func TestFieldsAreProtobufs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	whole := 0
	for range 20_000 {
		b := make([]byte, random.Intn(24))
		for i := range b {
			mask := random.Intn(256)
			b[i] = byte(random.Intn(256) & mask) // small numbers more often
		}
		f := messages.FieldsOf(b)
		for rest := b; len(rest) > 0; {
			number, kind, n := protowire.ConsumeField(rest)
			if got := f.Next(); got != (n >= 0) {
				t.Fatalf("%x: at %x a field is found: %v, want %v", b, rest, got, n >= 0)
			}
			if n < 0 {
				break
			}
			_, _, tag := protowire.ConsumeTag(rest)
			var value uint64
			var data []byte
			switch kind {
			case protowire.VarintType:
				value, _ = protowire.ConsumeVarint(rest[tag:])
			case protowire.BytesType:
				data, _ = protowire.ConsumeBytes(rest[tag:])
			case protowire.Fixed32Type:
				v, _ := protowire.ConsumeFixed32(rest[tag:])
				value = uint64(v)
			case protowire.Fixed64Type:
				value, _ = protowire.ConsumeFixed64(rest[tag:])
			}
			if f.Number != number || f.Value != value || !bytes.Equal(f.Bytes, data) || (f.Bytes == nil) != (kind != protowire.BytesType) {
				t.Fatalf("%x: %d %d %x, want %d %d %x", b, f.Number, f.Value, f.Bytes, number, value, data)
			}
			rest = rest[n:]
			whole++
		}
	}
	if whole < 10_000 {
		t.Errorf("only %d whole fields were among them", whole)
	}
}

// message builds a protocol buffer message field by field.
type message []byte

func (m message) num(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) in(field protowire.Number, v message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func TestEventsInAnyOrderOfTheirFields(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		event message
		want  messages.Event
	}{
		"as written":     {message(nil).num(1, 300).num(2, 7).in(4, message("x")), messages.Event{NS: 300, TID: 7, Kind: 4, Data: []byte("x")}},
		"turned round":   {message(nil).in(4, message("x")).num(2, 7).num(1, 300), messages.Event{NS: 300, TID: 7, Kind: 4, Data: []byte("x")}},
		"said again":     {message(nil).num(1, 300).num(2, 7).num(1, 301).in(4, message("x")), messages.Event{NS: 301, TID: 7, Kind: 4, Data: []byte("x")}},
		"nobody's":       {message(nil).num(1, 300).in(4, message("x")), messages.Event{NS: 300, TID: -1, Kind: 4, Data: []byte("x")}},
		"of no kind":     {message(nil).num(1, 300).num(2, 7), messages.Event{NS: 300, TID: 7}},
		"cut in a value": {message(nil).num(1, 300)[:2], messages.Event{TID: -1}},
	} {
		got := messages.EventOf(c.event)
		if got.NS != c.want.NS || got.TID != c.want.TID || got.Kind != c.want.Kind || !bytes.Equal(got.Data, c.want.Data) {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}
