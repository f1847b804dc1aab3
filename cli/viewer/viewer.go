// Package viewer opens a trace in Perfetto's user interface, for several commands.
//
// It owns the checks and the output; the link and the server behind it belong to package
// perfettoui.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/perfettoui"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// opened are the readers whose files Perfetto's user interface opens.
var opened = []string{"perfetto", "systrace"}

// Span is a part of a trace in milliseconds of CLOCK_MONOTONIC, as in records. The zero value is
// the whole trace.
type Span struct{ FromMS, ToMS float64 }

// Register adds the flags of the part.
func (s *Span) Register(flags *pflag.FlagSet) {
	flags.Float64Var(&s.FromMS, "from-ms", 0, "with --open: show the part from then, in milliseconds of CLOCK_MONOTONIC (perfetto)")
	flags.Float64Var(&s.ToMS, "to-ms", 0, "with --open: show the part until then")
}

// PartOf rejects flags of a part if nothing is opened, and one without the other.
func PartOf(flags *pflag.FlagSet, open bool) error {
	for _, name := range []string{"from-ms", "to-ms"} {
		if !open && flags.Changed(name) {
			return exit.Usage(fmt.Errorf("--%s is for --open alone", name), "")
		}
	}
	if flags.Changed("from-ms") != flags.Changed("to-ms") {
		return exit.Usage(errors.New("--from-ms and --to-ms go together"), "")
	}
	return nil
}

// maxSpanMS is some 30 years.
const maxSpanMS = 1e12

// Open prints the link that opens a trace, which that reader of inspect reads, in Perfetto's user
// interface, and serves the trace to the page.
func Open(ctx context.Context, c terminal.Console, reader, path string, part Span) error {
	return openTrace(ctx, c, reader, path, part, listenForPage)
}

func openTrace(ctx context.Context, c terminal.Console, reader, path string, part Span, listen func() (net.Listener, error)) error {
	if !slices.Contains(opened, reader) {
		return exit.Usage(fmt.Errorf("--open is for %s, not for %s", strings.Join(opened, " and "), terminal.Plain(reader)), "")
	}
	if !(part.FromMS >= 0 && part.ToMS >= part.FromMS && part.ToMS <= maxSpanMS) {
		return exit.Usage(fmt.Errorf("--from-ms is %g and --to-ms %g, want 0 or more and no end before its begin", part.FromMS, part.ToMS), "")
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("open %s: %w", terminal.Plain(path), err), "name a file; the page reads it from there")
	}
	view, err := viewOf(c, reader, path, part)
	if err != nil {
		return err
	}
	l, err := listen()
	if err != nil {
		return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("wait for Perfetto's page: %w", err),
			"the page asks at "+perfettoui.Address+" alone; another program has it, such as trace_processor or another --open: end that")
	}
	server := perfettoui.New(l.Addr().String(), traceName(path), func() (io.ReadCloser, int64, error) {
		f, err := os.Open(path)
		return f, info.Size(), err
	})
	fmt.Fprintln(c.Stdout, perfettoui.Link(server.URL(), view))
	fmt.Fprintln(c.Stderr, "Open the link in a browser on this computer. The page reads the trace from here and sends it nowhere; this ends once it has, or with Ctrl-C.")
	err = server.Serve(ctx, l)
	if ctx.Err() != nil { // the user has ended it, which is no error
		return nil
	}
	return exit.InfrastructureIf(err)
}

// listenForPage listens at the page's address.
func listenForPage() (net.Listener, error) { return net.Listen("tcp", perfettoui.Address) }

// viewOf returns the part of the trace that is shown first. Only a Perfetto trace relates its times
// to CLOCK_MONOTONIC.
func viewOf(c terminal.Console, reader, path string, part Span) (perfettoui.View, error) {
	if part.ToMS == 0 {
		return perfettoui.View{}, nil
	}
	if reader != "perfetto" {
		return perfettoui.View{}, exit.Usage(fmt.Errorf("--from-ms and --to-ms are for perfetto, not for %s", reader), "")
	}
	content, file, err := inputfiles.Recording(c, path, inputfiles.TracesOfPerfetto)
	if err != nil {
		return perfettoui.View{}, err
	}
	defer file.Close()
	view, err := perfettoui.ViewOf(content.Reader, milliseconds(part.FromMS), milliseconds(part.ToMS))
	if err != nil {
		return view, exit.Usage(fmt.Errorf("open %s: %w", terminal.Plain(path), err), "")
	}
	if view == (perfettoui.View{}) {
		fmt.Fprintln(c.Stderr, "warning: the trace does not say how its times relate to CLOCK_MONOTONIC: all of it is shown")
	}
	return view, nil
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// traceName returns the trace's name on the page.
func traceName(path string) string {
	if name := filepath.Base(path); run.ValidFileName(name) {
		return name
	}
	return "trace"
}
