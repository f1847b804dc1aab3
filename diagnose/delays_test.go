package diagnose

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/run"
)

func TestPictureOfDelays(t *testing.T) {
	t.Parallel()
	one := Delay{Name: "a", Base: run.Spread{Count: 1}}
	if p := PictureOfDelays("Waits", "queuing time", 500, Delay{Name: "none"}, Delay{Name: "b", Head: run.Spread{Count: 2}}, one); p == nil || p.Kind != DelaysPicture || p.Title != "Waits" || p.Label != "Waits" ||
		p.Delays.Of != "queuing time" || p.Delays.OverMS != 500 || len(p.Delays.List) != 2 || p.Delays.List[1].Name != "a" {
		t.Errorf("%+v", p)
	}
	if p := PictureOfDelays("", "", 0, slices.Repeat([]Delay{one}, 5)...); len(p.Delays.List) != MaxDelays {
		t.Errorf("%d groups are drawn", len(p.Delays.List))
	}
	if p := PictureOfDelays("", "", 0, Delay{}); p != nil {
		t.Errorf("of nothing %+v", p)
	}
}
