package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/perfetto"
	"github.com/apkgate/apkgate/trace/powerprofile"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/sensorservice"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// readers are what inspect can read, named after the packages in trace.
var readers = map[string]func(io.Reader) (trace.Inspection, error){
	"batterystats":  batterystats.Inspect,
	"gfxinfo":       gfxinfo.Inspect,
	"logcat":        logcat.Inspect,
	"perfetto":      perfetto.Inspect,
	"powerprofile":  powerprofile.Inspect,
	"r8map":         r8map.Inspect,
	"sensorservice": sensorservice.Inspect,
	"simpleperf":    simpleperf.Inspect,
}

func (c Command) inspectVerb() *cobra.Command {
	var format string
	names := slices.Sorted(maps.Keys(readers))
	cmd := &cobra.Command{
		Use:   "inspect READER FILE",
		Short: "Read one captured file and show what is in it",
		Long: `Reads one file that Android wrote and prints its totals under apkgate's metric
names, and what could not be read as warnings with their lines.

Readers: ` + strings.Join(names, ", ") + `. FILE may be - for standard input.`,
		Example: "  adb shell dumpsys gfxinfo com.example framestats | apkgate inspect gfxinfo -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(fmt.Errorf("inspect takes READER and FILE, got %d arguments", len(args)), "readers: "+strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.inspect(args[0], args[1], Format(format)) },
	}
	cmd.Flags().StringVar(&format, "format", string(FormatText), "what to print: text or json")
	return cmd
}

func (c Command) inspect(reader, path string, format Format) error {
	read, ok := readers[reader]
	if !ok {
		names := slices.Sorted(maps.Keys(readers))
		return usage(fmt.Errorf("there is no reader %q, want one of %s", clip(reader), strings.Join(names, ", ")), config.DidYouMean(reader, names))
	}
	if err := oneOf("format", format, []Format{FormatText, FormatJSON}); err != nil {
		return err
	}
	src, err := c.open(path)
	if err != nil {
		return usage(err, "")
	}
	defer src.Close()
	seen, err := read(src)
	if err != nil {
		return usage(fmt.Errorf("inspect %s: %w", path, err), "")
	}
	if format == FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(seen)
	}
	return c.showInspection(seen)
}

func (c Command) showInspection(seen trace.Inspection) error {
	catalogue := metric.Default()
	table := tablewriter.NewWriter(c.Stdout)
	table.Header("metric", "value", "")
	for _, name := range slices.SortedFunc(maps.Keys(seen.Metrics), catalogue.Compare) {
		m, _ := catalogue.Lookup(name)
		if err := table.Append(name, m.Format(seen.Metrics[name]), m.Title); err != nil {
			return err
		}
	}
	var summary []string
	if details, ok := seen.Details.(interface{ Summary() []string }); ok {
		summary = details.Summary()
	}
	if len(seen.Metrics) > 0 {
		if err := table.Render(); err != nil {
			return err
		}
	} else if len(summary) == 0 {
		fmt.Fprintf(c.Stdout, "nothing that %s can count is in the file\n", seen.Reader)
	}
	for _, line := range summary {
		fmt.Fprintln(c.Stdout, line)
	}
	for _, w := range seen.Warnings {
		fmt.Fprintf(c.Stdout, "warning: %s\n", w)
	}
	return nil
}
