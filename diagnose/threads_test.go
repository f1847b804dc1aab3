package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
)

// A late frame is drawn with the others, as far as known.
func TestPictureOfFrames(t *testing.T) {
	late := run.LateFrame{Repetition: 3, AtMS: 9_000, DurationMS: 40, DeadlineMS: 16, Path: []run.PathStep{{Thread: "main", Kind: run.WaitBinder, What: "I::m", FromMS: -1, ToMS: 40}}}
	usual := run.LateFrame{Repetition: 1, DurationMS: 9, Path: []run.PathStep{{Thread: "main", Kind: run.WaitRunning, ToMS: 9}}}
	p := PictureOfFrames("Worst", late, &usual, &run.LateFrame{DurationMS: 8})
	want := []DrawnFrame{
		{Role: Late, Repetition: 3, TookMS: 40, DeadlineMS: 16, Steps: []Step{{Thread: "main", Kind: "binder", What: "I::m", FromMS: -1, ToMS: 40}}},
		{Role: Usual, Repetition: 1, TookMS: 9, Steps: []Step{{Thread: "main", Kind: "running", ToMS: 9}}},
	}
	if diff := cmp.Diff(want, p.Threads.Frames); p.Kind != ThreadsPicture || diff != "" {
		t.Errorf("a picture of kind %s:\n%s", p.Kind, diff)
	}
	if err := p.validate(); err != nil {
		t.Error(err)
	}
	if got := PictureOfFrames("Worst", late, nil, &usual).Threads.Frames; len(got) != 2 || got[1].Role != Base {
		t.Errorf("beside the frames of before it draws %+v", got)
	}
	if p := PictureOfFrames("Worst", run.LateFrame{DurationMS: 40}, &usual, &usual); p != nil {
		t.Errorf("a frame without a path makes the picture %+v", p)
	}
	if p := PictureOfUsual("Usual", &usual, &late); p == nil || len(p.Threads.Frames) != 2 || p.Threads.Frames[0].Role != Usual || p.Threads.Frames[1].Role != Base || p.validate() != nil {
		t.Errorf("a usual frame and one of before make the picture %+v", p)
	}
	if PictureOfUsual("Usual", &usual, nil) != nil || PictureOfUsual("Usual", &run.LateFrame{}, &usual) != nil {
		t.Error("a picture is made of one frame alone")
	}
}
