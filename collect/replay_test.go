package collect_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	tape "github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/run"
)

var replayedDate = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// recorded makes a run of the job while it is recorded.
func recorded(t *testing.T, dir string, job collect.Job, o collect.Options) collect.Result {
	t.Helper()
	r, err := tape.New(dir, tape.Head{Of: tape.OfSimulated}, tape.NewBlackout(job.App.Package))
	if err != nil {
		t.Fatal(err)
	}
	session := r.Begin("unit", replayedDate, job.Clock)
	job.Open, job.Clock = session.Opened(job.Open), session.Clock()
	o.Now = func() time.Time { return replayedDate }
	result := collect.Collect(t.Context(), job, o)
	if _, err := r.Finish(true); err != nil {
		t.Fatal(err)
	}
	return result
}

// replayed makes the run again from the recording.
func replayed(t *testing.T, dir string, job collect.Job, o collect.Options) (collect.Result, *tape.Player) {
	t.Helper()
	r, err := tape.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Play(r.Runs[0])
	job.Open, job.Clock, job.Wall, job.Died = p.Open, p.Clock(), p.Wall(), p.Died()
	o.Now = func() time.Time { return replayedDate }
	return collect.Collect(t.Context(), job, o), p
}

// record is a run as it is kept.
func record(t *testing.T, r run.Run) string {
	t.Helper()
	r, err := r.Named()
	if err != nil {
		t.Fatal(err)
	}
	data, err := run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAReplayGivesTheSameRecord(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5x-android-6.0.0", "pixel-5-android-11", "pixel-7-android-14"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, profile, simlab.Options{})
			dir := filepath.Join(t.TempDir(), "recording")
			o := collect.Options{Evidence: evidence.At(filepath.Join(t.TempDir(), "evidence"), evidence.Default)}
			was := recorded(t, dir, job, o)
			wantComplete(t, was, 3)
			now, p := replayed(t, dir, job, o)
			if err := p.Err(); err != nil {
				t.Fatal(err)
			}
			if a := p.Account(); !a.Exact() {
				t.Errorf("the replay asked %+v", a)
			}
			want, got := record(t, was.Run), record(t, now.Run)
			if got != want {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("the record differs at byte %d: %.200q, want %.200q", at, got[max(0, at-80):], want[max(0, at-80):])
			}
			if strings.Contains(got, "replay") {
				t.Error("the record tells of the replay")
			}
		})
	}
}
