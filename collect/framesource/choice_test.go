package framesource

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// chosen is a choice on a device of that API level.
func chosen(api int, asked string) *Choice {
	t := target.New("phone", nil, time.Time{}, nil)
	t.Journal = journal.New("phone", nil)
	t.Facts.API = api
	return &Choice{Target: t, Asked: asked}
}

// Shown frames are tried once, if the device has them and no repetition has settled the source yet.
func TestChoiceAnother(t *testing.T) {
	t.Parallel()
	if err := chosen(31, "").Another(true); err == nil {
		t.Error("on Android 12 frames as they were shown are not tried")
	}
	if err := chosen(29, "").Another(true); err != nil {
		t.Errorf("on Android 10: %v", err)
	}
	settled := chosen(31, "")
	if err := settled.Settle("app", Timeline, true, false); err != nil {
		t.Fatal(err)
	}
	if err := settled.Another(true); err != nil {
		t.Errorf("after a repetition with frames: %v", err)
	}
	shown := chosen(31, config.FramesShown)
	if shown.By = Shown; shown.Another(false) != nil {
		t.Error("the same source is tried again")
	}
}

// If an app turns out to draw by Android's views after all, the repetition is repeated; an app that
// draws into a surface of its own is settled, with a warning.
func TestChoiceSettle(t *testing.T) {
	t.Parallel()
	for surfaces, again := range map[bool]bool{false: true, true: false} {
		c := chosen(31, "")
		if c.Another(true) == nil {
			t.Fatal("frames as they were shown are not tried")
		}
		c.By, c.instead = Shown, Timeline
		if err := c.Settle("com.example", Shown, true, surfaces); (err != nil) != again {
			t.Errorf("with surfaces %v: %v", surfaces, err)
		}
		warned := len(c.Target.Journal.Warnings) == 1 && strings.Contains(c.Target.Journal.Warnings[0].Text, "com.example draws by itself")
		if warned == again {
			t.Errorf("with surfaces %v: %q", surfaces, c.Target.Journal.Warnings)
		}
	}
}

// A repetition without frames in dumps settles nothing, and one that is lost for another reason
// than its source changes nothing.
func TestChoiceStays(t *testing.T) {
	t.Parallel()
	c := chosen(31, "")
	if err := c.Settle("app", Dumps, false, false); err != nil || c.settled {
		t.Errorf("settled %v, %v", c.settled, err)
	}
	c.By = Timeline
	if changed, err := c.Changed(t.Context(), loss.ErrCrashed, true); changed || err != nil {
		t.Errorf("after a crash: %v, %v", changed, err)
	}
	for _, asked := range []string{"", config.FramesShown} {
		old := chosen(29, asked)
		if old.WarnNotShown(); len(old.Target.Journal.Warnings) == 0 == (asked != "") || old.Records() {
			t.Errorf("asked for %q on Android 10: %q", asked, old.Target.Journal.Warnings)
		}
	}
}
