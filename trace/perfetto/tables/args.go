package tables

import (
	"iter"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
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
	args := t.slices.Args
	return func(yield func([]any) bool) {
		row := make([]any, len(argColumns))
		for _, place := range inOrder(len(args), func(i int) time.Duration { return time.Duration(args[i].Slice) }) {
			one := args[place]
			key := t.slices.Names[one.Key]
			clear(row)
			row[0], row[1], row[2], row[6] = t.number(one.Slice), trackevent.Flat(key), key, one.Type
			switch one.Type {
			case trackevent.TypeString, trackevent.TypeJSON:
				row[4] = t.slices.Names[one.Bits]
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
