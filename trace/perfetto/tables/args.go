package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// argRow is an argument of a slice.
type argRow struct {
	*slices.Arg
	slices *slices.Reader
}

func (r *argRow) key() string { return r.slices.Names[r.Key] }

// argColumns are the columns of args. arg_set_id is the id of the slice in the table of slices.
var argColumns = []column[*argRow]{
	always("arg_set_id", func(r *argRow) int64 { return int64(r.Slice) }),
	always("flat_key", func(r *argRow) string { return trackevent.Flat(r.key()) }),
	always("key", (*argRow).key),
	some("int_value", func(r *argRow) (int64, bool) { return r.Bits, !r.isText() && r.Type != trackevent.TypeReal }),
	some("string_value", func(r *argRow) (string, bool) {
		if !r.isText() {
			return "", false
		}
		return r.slices.ArgTexts.Of(r.Text()), true
	}),
	some("real_value", func(r *argRow) (float64, bool) { return r.Real(), r.Type == trackevent.TypeReal }),
	always("value_type", func(r *argRow) string { return r.Type.String() }),
}

func (r *argRow) isText() bool {
	return r.Type == trackevent.TypeString || r.Type == trackevent.TypeJSON
}

func readArgs(f *packets.File, in packets.Source, keep *lists) (iter.Seq[*argRow], error) {
	t, err := readSliceTable(f, in, true, keep)
	if err != nil {
		return nil, err
	}
	if t.slices.CutArgs > 0 {
		f.Warnings.Counted(0, t.slices.CutArgs,
			"%d argument of a slice is left out: beyond 1,000 of an event, 16 levels or 64 KiB, of a program's own type, or with a lost name",
			"%d arguments of slices are left out: beyond 1,000 of an event, 16 levels or 64 KiB, of a program's own type, or with a lost name")
	}
	row := &argRow{slices: t.slices}
	all := spill.InOrder(&t.slices.Args, func(a *slices.Arg) int64 { return int64(a.Slice) })
	return each(all, row, func(_ int, one *slices.Arg) { row.Arg = one }), nil
}
