package diagnosecmd

import (
	"fmt"
	"io"

	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
	"github.com/apkgate/apkgate/trace/r8map"
	tasklist "github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
	"github.com/apkgate/apkgate/trace/tasks/tasksources"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// late adds the asynchronous tasks of a recording, and what those that were late waited for, by the
// surest of its sources. scheduling is the same recording if it is a trace of the system, which shows
// what they waited for themselves, nil otherwise.
func late(scheduling packets.Source, src io.ReadSeeker, path string, mapping *r8map.Map, out *saved.Diagnosis) error {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	lists, err := tasksources.Read(src, tasksources.Options{Package: out.Package, Mapping: mapping})
	if err != nil {
		return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
	}
	for _, list := range lists {
		if len(list.Tasks) == 0 {
			continue
		}
		all := grouping.NewCollector(out.Package, grouping.Late)
		paths, err := pathsIn(scheduling, list, out.Package)
		if err != nil {
			return exit.Usage(fmt.Errorf("diagnose %s: %w", terminal.Plain(path), err), "")
		}
		all.Add(grouping.Repetition{Number: 1, List: list, Paths: paths})
		out.Tasks = all.Tasks()
		out.Warnings = trace.Distinct(out.Warnings, all.Warnings()...)
		out.Causes = append(out.Causes, queueing.Explain(run.Run{App: run.App{Package: out.Package}, Tasks: out.Tasks}, nil, nil)...)
		return nil
	}
	return nil
}

// pathsIn returns what the late tasks of an app, "" for any, waited for themselves.
func pathsIn(scheduling packets.Source, list tasklist.List, name string) (map[int][]run.TaskStep, error) {
	slow := grouping.Slow(list, grouping.Late)
	if scheduling == nil || len(slow) == 0 {
		return nil, nil
	}
	app := rendering.App{Package: name, Stretches: section.Stretches(list, slow)}
	if name == "" {
		app.Process = func(int) bool { return true }
	}
	read, err := rendering.Read(scheduling, app)
	if err != nil {
		return nil, err
	}
	return section.TaskPaths(list, slow, read, app), nil
}

// tasksAlone reads a recording of tasks and of nothing else.
func tasksAlone(c terminal.Console, src io.ReadSeeker, path, mapping string, out *saved.Diagnosis) error {
	names, err := namesOf(c, mapping)
	if err != nil {
		return err
	}
	if err := late(nil, src, path, names, out); err != nil {
		return err
	}
	if out.Tasks == nil {
		return exit.Usage(fmt.Errorf("diagnose %s: it has no tasks", terminal.Plain(path)), "apkgate inspect tasks shows what is in it")
	}
	return nil
}
