package sqlite

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
)

// The bytes are those of docs/format/history.md: ids 3, 131 and 132 are the steps 3, 128 and 1, and
// 128 as LEB128 is 80 01.
func TestFormOfLists(t *testing.T) {
	data := interning.EncodeIDs([]int64{132, 3, 131})
	if want := []byte{0x03, 0x80, 0x01, 0x01}; !bytes.Equal(data, want) {
		t.Errorf("ids are % x, want % x", data, want)
	}
	ids, err := interning.DecodeIDs(nil, data)
	if d := cmp.Diff([]int64{3, 131, 132}, ids); d != "" || err != nil {
		t.Errorf("ids come back as %v, %v", ids, err)
	}
	// Cell 2 is 1.0 (3ff0… in big-endian), cell 130 is -2.0 (c000…).
	cells := []byte{0x02, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x80, 0x01, 0, 0, 0, 0, 0, 0, 0, 0xc0}
	got := map[int64]float64{}
	err = records.EachValue(cells, func(cell int64, value float64) error { got[cell] = value; return nil })
	if d := cmp.Diff(map[int64]float64{2: 1, 130: -2}, got); d != "" || err != nil {
		t.Errorf("cells come back as %v, %v", got, err)
	}
}

// FuzzDecodeLists: lists of a damaged file are damage or some list, and cost no more than their
// size.
func FuzzDecodeLists(f *testing.F) {
	f.Add([]byte{0x03, 0x80, 0x01, 0x01})
	f.Add([]byte{0x02, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := interning.DecodeIDs(nil, data)
		if err != nil && !errors.Is(err, runstore.ErrDamaged) || len(ids) > len(data) {
			t.Errorf("%d ids of %d bytes, %v", len(ids), len(data), err)
		}
		n := 0
		err = records.EachValue(data, func(int64, float64) error { n++; return nil })
		if err != nil && !errors.Is(err, runstore.ErrDamaged) || 9*n > len(data) {
			t.Errorf("%d cells of %d bytes, %v", n, len(data), err)
		}
	})
}
