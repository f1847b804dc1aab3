package packets_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// message builds a protocol buffer message field by field.
type message []byte

func (m message) num(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) in(field protowire.Number, v message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

// names reads packets of the battery, which here refer to an entry of interned data, by field 2.
type names struct{ got []string }

func (n *names) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketBattery}, Interned: []protowire.Number{2}}
}

func (n *names) Packet(p packets.Packet) {
	for f := messages.FieldsOf(p.Data); f.Next(); {
		entry := p.Seq.Interned(2, f.Value)
		for g := messages.FieldsOf(entry); g.Next(); {
			if g.Number == 2 {
				n.got = append(n.got, string(g.Bytes))
			}
		}
		if entry == nil {
			n.got = append(n.got, "-")
		}
	}
}

const (
	cleared = 1
	needs   = 2
)

// name interns a name under a number.
func name(id uint64, text string) message {
	return message(nil).in(2, message(nil).num(1, id).in(2, message(text)))
}

func uses(sequence, id uint64) message {
	return message(nil).num(10, sequence).num(13, needs).in(38, message(nil).num(1, id))
}

func TestSequenceInterned(t *testing.T) {
	t.Parallel()
	start := func(sequence uint64, interned message) message {
		return message(nil).num(10, sequence).num(13, cleared).in(12, interned)
	}
	for title, c := range map[string]struct {
		trace          []message
		want           []string
		lost, unusable int
	}{
		"by sequence":   {[]message{start(1, name(7, "a")), start(2, name(7, "b")), uses(1, 7), uses(2, 7)}, []string{"a", "b"}, 0, 0},
		"added to":      {[]message{start(1, name(7, "a")), message(nil).num(10, 1).in(12, name(8, "b")), uses(1, 7), uses(1, 8)}, []string{"a", "b"}, 0, 0},
		"cleared":       {[]message{start(1, name(7, "a")), start(1, name(8, "b")), uses(1, 7), uses(1, 8)}, []string{"-", "b"}, 0, 0},
		"said anew":     {[]message{start(1, name(7, "a")), message(nil).num(10, 1).in(12, name(7, "b")), uses(1, 7)}, []string{"b"}, 0, 0},
		"never started": {[]message{message(nil).num(10, 1).in(12, name(7, "a")), uses(1, 7)}, nil, 0, 1},
		"lost": {[]message{start(1, name(7, "a")), uses(1, 7).num(42, 1), uses(1, 7), start(1, name(7, "c")), uses(1, 7)},
			[]string{"c"}, 1, 2},
	} {
		var file message
		for _, p := range c.trace {
			file = file.in(1, p)
		}
		f, n := packets.New(), &names{}
		if err := f.Read(bytes.NewReader(file), n); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, n.got); diff != "" || f.Lost != c.lost || f.Unusable != c.unusable {
			t.Errorf("%s: %s; lost %d, unusable %d", title, diff, f.Lost, f.Unusable)
		}
	}
}
