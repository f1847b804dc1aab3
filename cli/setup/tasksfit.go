package setup

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// registers is what an app's process has to do for its messages to be in traces.
const registers = "have a debug or test build call android.os.Trace.registerWithPerfetto by reflection"

// tasksFit reports whether the device and the build expose asynchronous tasks to traces, and else
// what would.
func tasksFit(ctx context.Context, d device.Device, cfg *config.Config) ([]device.Finding, error) {
	out, err := d.Exec(ctx, "getprop ro.build.version.sdk; pidof "+device.Quote(cfg.App.Package))
	if err != nil {
		return nil, fmt.Errorf("read the API level, and whether the app runs: %w", err)
	}
	level, pids, _ := strings.Cut(string(out.Stdout), "\n")
	api, err := strconv.Atoi(strings.TrimSpace(level))
	if err != nil {
		return nil, nil //nolint:nilerr // no finding without an answer
	}
	f := device.Finding{Name: "tasks", OK: true}
	if !applog.HasMessages(api) {
		f.Detail, f.Hint = "asynchronous tasks are not in this Android's traces: the messages of loopers are since Android 16", otherTasks
		return []device.Finding{f}, nil
	}
	all, err := recorders.Producers(ctx, d)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p recorders.Producer) bool { return !p.Has("mq") })
	ofApp := func(p recorders.Producer) bool {
		return cfg.App.Package != "" && (p.Name == cfg.App.Package || strings.HasPrefix(p.Name, cfg.App.Package+":"))
	}
	switch {
	case len(all) == 0:
		f.Detail = "asynchronous tasks are not in this Android's traces: its flag perfetto_sdk_tracing_v2 is off"
		f.Hint = "on a build of Android for developers, as root: aflags enable android.os.perfetto_sdk_tracing_v2, and restart; or " + otherTasks
	case slices.ContainsFunc(all, ofApp):
		f.Detail = "asynchronous tasks: the app reports the messages of its loopers"
		if !cfg.Evidence.Tasks {
			f.Hint = "evidence.tasks records them"
		}
	case strings.TrimSpace(pids) != "":
		f.Detail, f.Hint = "asynchronous tasks: this Android reports messages of loopers, but the app's process has not registered with Perfetto", registers+"; or "+otherTasks
	default:
		f.Detail, f.Hint = "asynchronous tasks: this Android reports messages of loopers; whether the app does is known once it runs", registers
	}
	return []device.Finding{f}, nil
}

// otherTasks is what has tasks on other devices.
const otherTasks = "docs/tasks.md has other sources, such as ART's method traces of a debug build"
