package diagnosecmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// nameless is how a process without a name is listed, before its id.
const nameless = "process "

// drawn counts the frames of a trace by package: that at the beginning of a window's name ("TX -
// com.example.mail/com.example.mail.ListActivity#12"), or else the process, if known.
func drawn(in packets.Source) (map[string]int, []run.Warning, error) {
	all, err := rendering.Read(in, rendering.App{Process: func(int) bool { return true }})
	if err != nil {
		return nil, nil, err
	}
	out := map[string]int{}
	for _, f := range all.Frames {
		name, _, window := strings.Cut(strings.TrimPrefix(f.Layer, "TX - "), "/")
		if !window {
			name = nameless + strconv.Itoa(int(f.PID))
			if len(f.Path) > 0 && f.Path[0].PID == f.PID && f.Path[0].Process != "" {
				name = f.Path[0].Process
			}
		}
		out[name]++
	}
	return out, all.Warnings, nil
}

// ofSystem reports whether a name is that of a part of Android, which draws in every trace: the
// status bar, the settings, the launcher.
func ofSystem(name string) bool {
	return strings.HasPrefix(name, "com.android.") || strings.Contains(name, "launcher") || strings.HasPrefix(name, "/") || name == "system_server"
}

// onlyApp returns the app whose frames are meant where no package is named: the only one that is
// not the system's and has a name, or the only process at all. others lists the rest.
func onlyApp(there map[string]int) (app rendering.App, others string, only bool) {
	var apps, rest []string
	for _, name := range byFrames(there) {
		if len(there) > 1 && (ofSystem(name) || strings.HasPrefix(name, nameless)) {
			rest = append(rest, name)
		} else {
			apps = append(apps, name)
		}
	}
	if len(apps) != 1 {
		return app, "", false
	}
	if id, ok := strings.CutPrefix(apps[0], nameless); ok {
		pid, err := strconv.Atoi(id)
		return rendering.App{Process: func(of int) bool { return of == pid }}, "", err == nil
	}
	return rendering.App{Package: apps[0]}, listed(rest, there), true
}

// byFrames returns the names with the most frames first.
func byFrames(there map[string]int) []string {
	return slices.SortedFunc(maps.Keys(there), func(a, b string) int {
		return cmp.Or(there[b]-there[a], strings.Compare(a, b))
	})
}

// listed returns names with their frames, "" for none.
func listed(names []string, there map[string]int) string {
	var list []string
	for _, name := range names[:min(len(names), maxNamed)] {
		list = append(list, fmt.Sprintf("%s (%d)", prose.Short(name), there[name]))
	}
	if n := len(names) - maxNamed; n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return terminal.Plain(prose.List(list))
}
