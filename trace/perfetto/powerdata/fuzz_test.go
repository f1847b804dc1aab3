package powerdata_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// FuzzRead tests that on any input there is no panic, no error, times in order, and details that
// JSON can encode.
func FuzzRead(f *testing.F) {
	f.Add(file(clocks(second, second/2), at(2*second).in(38, battery(-1, 1).float(2, 50).text(5, "BAT0"))))
	f.Add(file(at(second).in(40, append(rail(1, "S2M_VDD"), energy(1, 7)...)), at(3*second).on(4).num(98, 1).in(40, energy(1, 9))))
	f.Add(file(tree(), bundle(0, event(1, 4, message(nil).num(6, 100)), event(9, 113, message(nil).text(1, "timekeeping_freeze").num(3, 1)))))
	f.Add(file(message(nil).in(1, message(nil).in(4, message(nil).text(5, "a").packed(1, 5, 6).packed(3, 1, 2).packed(6, 0, 9)))))
	f.Add(file(message(nil).in(107, message(nil).in(1, message(nil).in(2, clocks(1, 2)[2:]).in(3, clocks(3, 4)[2:]))).num(98, 3)))
	f.Add(file(message(nil).in(6, message(nil).in(1, message(nil).num(1, 64).num(2, 5).num(3, 1).num(4, 1000)).num(2, 64)).on(7), at(3).on(7).num(58, 64).in(86, nil)))
	f.Fuzz(func(t *testing.T, in []byte) {
		seen, err := powerdata.Inspect(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(seen); err != nil {
			t.Fatal(err)
		}
		got, err := powerdata.Read(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(got.Battery); i++ {
			if got.Battery[i].Time < got.Battery[i-1].Time {
				t.Fatalf("reading %d is before the one before it", i)
			}
		}
		if got.Start > got.End {
			t.Fatalf("the trace ends (%v) before it starts (%v)", got.End, got.Start)
		}
	})
}
