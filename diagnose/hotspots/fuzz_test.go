package hotspots

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/apkgate/apkgate/run"
)

// FuzzExplain compares any two records: the result can be read back.
func FuzzExplain(f *testing.F) {
	add := func(h, b run.Run) {
		h.Format, b.Format = run.Format, run.Format
		head, errH := run.Encode(h)
		base, errB := run.Encode(b)
		_, notHead := run.Decode(head)
		_, notBase := run.Decode(base)
		if err := errors.Join(errH, errB, notHead, notBase); err != nil {
			f.Fatal(err)
		}
		f.Add(head, base)
	}
	h, b := head(), base()
	add(h, b)
	h.Energy.Methods.List[0].Local.EnergyJ, h.Energy.Methods.List[0].Local.HighJ = run.MaxValue, run.MaxValue
	h.Energy.Methods.Calls = []run.Call{{Parent: -1, Name: "a$1", EnergyJ: run.MaxValue}, {Parent: -1, Name: "a$2", EnergyJ: run.MaxValue}}
	h.Energy.Methods.Level, b.Energy.Methods.Level = 1, 0
	h.Energy.Wakelocks = []run.Wakelock{{Name: "w", ScreenOffMS: run.MaxValue}, {Name: "w", HeldMS: 1}}
	add(h, b)
	f.Fuzz(func(t *testing.T, headJSON, baseJSON []byte) {
		head, errH := run.Decode(headJSON)
		base, errB := run.Decode(baseJSON)
		if errH != nil || errB != nil {
			return
		}
		c, ok := Explain(head, []run.Run{base})
		if !ok {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
	})
}
