package recorders

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func in(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

func id(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// state is what perfetto --query-raw writes of two programs, the second of which stands behind its
// source, and of a source that writes no track events.
func state() []byte {
	category := func(name string) []byte { return in(nil, 1, []byte(name)) }
	source := func(name string, producer uint64, categories ...string) []byte {
		var list []byte
		for _, one := range categories {
			list = in(list, 1, category(one))
		}
		return id(in(nil, 1, in(in(nil, 1, []byte(name)), 6, list)), 2, producer)
	}
	b := in(nil, 1, in(id(nil, 1, 7), 2, []byte("system_server")))
	b = in(b, 2, source("track_event", 7, "cc", "mq"))
	b = in(b, 2, source("track_event", 9, "mq"))
	b = in(b, 2, source("linux.ftrace", 3))
	return in(b, 1, in(id(nil, 1, 9), 2, []byte("com.example.app")))
}

func TestProducers(t *testing.T) {
	t.Parallel()
	if got, want := fmt.Sprint(producers(state())), "[{system_server [cc mq]} {com.example.app [mq]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if one := producers(state())[1]; !one.Has("mq") || one.Has("cc") {
		t.Errorf("%+v", one)
	}
}

func FuzzProducers(f *testing.F) {
	f.Add(state())
	f.Fuzz(func(t *testing.T, data []byte) {
		all := 0
		for _, one := range producers(data) {
			all += len(one.Categories)
		}
		if all > maxCategories {
			t.Fatalf("%d categories", all)
		}
	})
}
