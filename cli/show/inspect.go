package show

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/cli/viewer"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr/waits"
	"github.com/apkgate/apkgate/trace/archive"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/hierarchy"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/powerprofile"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/sensorservice"
	"github.com/apkgate/apkgate/trace/simpleperf"
	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks/tasksources"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// reader is one of inspect's.
type reader struct {
	inspect func(io.Reader) (trace.Inspection, error)
	reads   string // what it reads
	counts  string // what of that has totals, "" if nothing has
	packed  archive.Want
}

// ofApp are the readers that read more of an app on request.
var ofApp = map[string]func(r io.Reader, app string) (trace.Inspection, error){"tasks": inspectTasksOf}

// bugReports are archives with the text of a bug report.
var bugReports = archive.Want{Report: true}

// readers are the formats that inspect reads, named after the packages in trace.
var readers = map[string]reader{
	"art":           {art.Inspect, "a method trace of ART: what am profile, Android Studio or Debug.startMethodTracing writes (.trace)", "", archive.Want{Names: []string{".trace"}}},
	"anr":           {waits.Inspect, "a dump of threads: of /data/anr, the drop box, an ApplicationExitInfo or debuggerd", "", archive.Want{Names: []string{"traces.txt"}}},
	"batterystats":  {batterystats.Inspect, "dumpsys batterystats (as text, or with --checkin or -c), dumpsys battery, or a bug report", "the estimated drain and CPU times on battery", bugReports},
	"gfxinfo":       {gfxinfo.Inspect, "dumpsys gfxinfo or dumpsys graphicsstats, or a bug report", "frames", bugReports},
	"hierarchy":     {hierarchy.Inspect, "the views of windows: what uiautomator dump writes, or dumpsys activity top", "", archive.Want{}},
	"logcat":        {logcat.Inspect, "what logcat prints, or a bug report", "ANRs and start-up times", bugReports},
	"perfetto":      {powerdata.Inspect, "a Perfetto trace (.perfetto-trace, .pftrace)", "energy (power rails, the battery's counters) and CPU times (the scheduler's events); --table reads slices, counters, frames, threads and the scheduler", inputfiles.TracesOfPerfetto},
	"powerprofile":  {powerprofile.Inspect, "power_profile.xml", "", archive.Want{Names: []string{"power_profile.xml"}}},
	"r8map":         {r8map.Inspect, "mapping.txt of R8 or ProGuard", "", inputfiles.Mappings},
	"sensorservice": {sensorservice.Inspect, "dumpsys sensorservice --proto", "", archive.Want{}},
	"systrace":      {systrace.Inspect, "a trace of the kernel in text: what atrace or systrace writes (text, compressed, HTML), or ftrace's trace file", "CPU times (the scheduler's events); --table reads slices, counters, threads and the scheduler", archive.Want{Names: []string{"systrace.txt"}}},
	"tasks":         {inspectTasks, "the asynchronous tasks of a trace: of Perfetto, atrace or ART, or what examples/tasks/frida.js records", "", archive.Want{Names: []string{".perfetto-trace", ".pftrace", ".trace", ".jsonl"}}},
	"simpleperf":    {simpleperf.Inspect, "perf.data, or what simpleperf report-sample --protobuf writes", "CPU times (task-clock, cpu-clock)", inputfiles.Samples},
}

// inspectTasks reads the tasks of a file, which takes two passes.
func inspectTasks(r io.Reader) (trace.Inspection, error) { return inspectTasksOf(r, "") }

func inspectTasksOf(r io.Reader, app string) (trace.Inspection, error) {
	src, drop, err := inputfiles.Seekable(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	defer drop()
	return tasksources.Inspect(src, app)
}

// InspectCommand returns apkgate inspect.
func InspectCommand(c terminal.Console) *cobra.Command {
	var format, table, app string
	var open bool
	var part viewer.Span
	var files callFiles
	names := slices.Sorted(maps.Keys(readers))
	cmd := &cobra.Command{
		Use:   "inspect READER FILE",
		Short: "Read one captured file and show what is in it",
		Long: `Reads one file that Android wrote and prints its totals under apkgate's metric
names, and what could not be read as warnings with their lines. A file in which
nothing could be read is wrong input: exit status 2.

Readers: ` + strings.Join(names, ", ") + `.

FILE may be packed: with gzip, or in a ZIP archive such as adb bugreport writes.
It may be - for standard input, but not for a ZIP archive.

With --table, the rows of a table of a Perfetto trace, under the names of
Perfetto's own columns: ` + strings.Join(tables.Names(), ", ") + `.
Of a trace in text (systrace): ` + strings.Join(systrace.Tables, ", ") + `.

With --open, the link that opens a trace in Perfetto's user interface
(ui.perfetto.dev), which reads the file from this computer while apkgate waits.

With --newest, the newest calls of each thread of a method trace (art), as many as
fit 64 MiB, are kept while it is read, which may be while it is written, and the
answer is about them.

With --perfetto, --pprof or --folded, the calls of a method trace (art) are also
written for Perfetto's user interface, go tool pprof, or a flame graph: names and
times alone, with the names of the source where --mapping names R8's mapping.`,
		Example: `  adb shell dumpsys gfxinfo com.example framestats | apkgate inspect gfxinfo -
  apkgate inspect art start.trace --perfetto calls.pftrace && apkgate inspect perfetto calls.pftrace --open`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.Usage(fmt.Errorf("inspect takes READER and FILE, got %d arguments", len(args)), "readers: "+strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(together(cmd.Flags(), open), files.of(cmd.Flags(), args[0], args[1])); err != nil {
				return err
			}
			if open {
				return viewer.Open(cmd.Context(), c, args[0], args[1], part)
			}
			if cmd.Flags().Changed("table") && app != "" {
				return exit.Usage(errors.New("--package is not for --table"), "")
			}
			if !cmd.Flags().Changed("table") {
				return inspect(cmd.Context(), c, args[0], args[1], app, output.Format(format), files)
			}
			if !cmd.Flags().Changed("format") {
				format = string(output.FormatCSV)
			}
			return inspectTable(c, args[0], args[1], table, output.Format(format))
		},
	}
	cmd.Flags().StringVar(&format, "format", string(output.FormatText), "what to print: text or json; of a table: csv or json")
	cmd.Flags().StringVar(&app, "package", "", "the app whose pools are read too, by when their threads ran (tasks)")
	cmd.Flags().BoolVar(&open, "open", false, "print the link that opens a trace in Perfetto's user interface (perfetto, systrace)")
	part.Register(cmd.Flags())
	files.register(cmd.Flags())
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault // files
	}
	cmd.Flags().StringVar(&table, "table", "", "print the rows of a table of a trace (perfetto, systrace)")
	_ = cmd.RegisterFlagCompletionFunc("table", func(_ *cobra.Command, args []string, _ string) (tables []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 && withTables[args[0]].names != nil {
			tables = withTables[args[0]].names()
		}
		return tables, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// together rejects flags that don't apply to the requested answer.
func together(flags *pflag.FlagSet, open bool) error {
	for _, name := range []string{"table", "format", "package"} {
		if open && flags.Changed(name) {
			return exit.Usage(fmt.Errorf("--open prints a link: --%s is not for it", name), "")
		}
	}
	return viewer.PartOf(flags, open)
}

func inspect(ctx context.Context, c terminal.Console, name, path, app string, format output.Format, files callFiles) error {
	reader, ok := readers[name]
	if !ok {
		names := slices.Sorted(maps.Keys(readers))
		return exit.Usage(fmt.Errorf("there is no reader %q, want one of %s", prose.Short(name), strings.Join(names, ", ")), config.DidYouMean(name, names))
	}
	if err := exit.OneOf("format", format, []output.Format{output.FormatText, output.FormatJSON}); err != nil {
		return err
	}
	more := ofApp[name]
	if app != "" && more == nil {
		return exit.Usage(fmt.Errorf("--package is for the reader tasks, not for %s", name), "")
	}
	content, file, err := inputfiles.Recording(c, path, reader.packed)
	if err != nil {
		return err
	}
	defer file.Close()
	read := reader.inspect
	if app != "" {
		read = func(r io.Reader) (trace.Inspection, error) { return more(r, app) }
	}
	in, again, drop, err := files.prepare(ctx, c, path, content.Reader)
	if err != nil {
		return err
	}
	defer drop()
	seen, err := read(in)
	if err != nil {
		return unread(path, err)
	}
	seen.Entry = content.Entry
	if err := showAs(c, format, seen); err != nil {
		return err
	}
	if seen.Nothing {
		return unreadable(path, name)
	}
	return files.write(c, path, again)
}

// unreadable returns the error of a file in which a reader finds nothing.
func unreadable(path, reader string) error {
	return exit.Usage(fmt.Errorf("inspect %s: nothing in it can be read as %s", terminal.Plain(path), reader), reader+" reads "+readers[reader].reads)
}

func showAs(c terminal.Console, format output.Format, seen trace.Inspection) error {
	if format == output.FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(seen)
	}
	return showInspection(c, seen)
}

func showInspection(c terminal.Console, seen trace.Inspection) error {
	catalogue := metric.Default()
	table := terminal.NewTable(c, "metric", "value", "")
	for _, name := range slices.SortedFunc(maps.Keys(seen.Metrics), catalogue.Compare) {
		m, _ := catalogue.Lookup(name)
		if err := table.Append(name, m.Format(seen.Metrics[name]), m.Title); err != nil {
			return err
		}
	}
	if seen.Entry != "" {
		fmt.Fprintf(c.Stdout, "%s of the archive:\n", terminal.Plain(seen.Entry))
	}
	var summary []string
	if details, ok := seen.Details.(interface{ Summary() []string }); ok {
		summary = details.Summary()
	}
	if len(seen.Metrics) > 0 {
		if err := table.Render(); err != nil {
			return err
		}
	} else if counts := readers[seen.Reader].counts; counts != "" && !seen.Nothing {
		fmt.Fprintf(c.Stdout, "nothing is counted: of such a file %s counts %s\n", seen.Reader, counts)
	}
	for _, line := range summary {
		fmt.Fprintln(c.Stdout, terminal.PlainLines(line))
	}
	for _, w := range seen.Warnings {
		fmt.Fprintf(c.Stdout, "warning: %s\n", w)
	}
	return nil
}
