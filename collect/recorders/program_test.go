package recorders

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// ended is a device on which no program runs.
type ended struct{ device.Device }

func (ended) Exec(context.Context, string) (device.Output, error) {
	return device.Output{Stdout: []byte("simpleperf E open: Permission denied\n"), ExitCode: 1}, nil
}

func TestStartForgetsAnEndedRecorder(t *testing.T) {
	t.Parallel()
	on := target.New("pixel", nil, time.Now(), func(context.Context) (device.Device, error) { return ended{}, nil })
	if err := on.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	perfetto, simpleperf, late := Program{"perfetto", "10"}, Program{"simpleperf", "11"}, Program{"another", "12"}
	programs := &Programs{Target: on, running: []Program{perfetto, simpleperf, late}}
	if err := (&Simpleperf{Programs: programs}).await(t.Context(), simpleperf, "task-clock"); err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Errorf("%v, want why it ended", err)
	}
	if want := []Program{perfetto, late}; !slices.Equal(programs.running, want) {
		t.Errorf("still to be ended: %v, want %v", programs.running, want)
	}
}
