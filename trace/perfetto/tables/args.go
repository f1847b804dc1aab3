package tables

import (
	"iter"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// argColumns are those of args. arg_set_id is the id of the slice in the table of slices.
var argColumns = []string{"arg_set_id", "flat_key", "key", "int_value", "string_value", "real_value", "value_type"}

func readArgs(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
	t, err := readSliceTable(f, in, true, keep)
	if err != nil {
		return nil, err
	}
	if t.slices.CutArgs > 0 {
		f.Warnings.Counted(0, t.slices.CutArgs,
			"%d argument of a slice is left out: beyond 1,000 of an event, 16 levels or 64 KiB, of a message of the program's own, or named by what the trace lost",
			"%d arguments of slices are left out: beyond 1,000 of an event, 16 levels or 64 KiB, of a message of the program's own, or named by what the trace lost")
	}
	return func(yield func([]any) bool) {
		row := make([]any, len(argColumns))
		for _, one := range spill.InOrder(&t.slices.Args, func(a *slices.Arg) int64 { return int64(a.Slice) }) {
			key := t.slices.Names[one.Key]
			clear(row)
			row[0], row[1], row[2], row[6] = int64(one.Slice), trackevent.Flat(key), key, one.Type.String()
			switch one.Type {
			case trackevent.TypeString, trackevent.TypeJSON:
				row[4] = t.slices.ArgTexts.Of(one.Text())
			case trackevent.TypeReal:
				row[5] = one.Real()
			default:
				row[3] = one.Bits
			}
			if !yield(row) {
				return
			}
		}
	}, nil
}
