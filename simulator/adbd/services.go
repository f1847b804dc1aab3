package adbd

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// serveStream serves one stream until its end. A stream that is never accepted is refused by
// that.
func (d *Daemon) serveStream(ctx context.Context, service string, ports *forwards, stream *mux.Stream) {
	if d.isOffline() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // hang up when the stream ends
		select {
		case <-stream.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	name, argument, _ := strings.Cut(service, ":")
	name, flags, _ := strings.Cut(name, ",")
	switch name {
	case "shell":
		d.serveShell(ctx, strings.Split(flags, ","), argument, stream)
	case "exec":
		d.serveRaw(ctx, argument, stream, stream)
	case "reboot":
		d.serveRaw(ctx, strings.TrimSpace("reboot "+argument), stream, stream)
	case "sync":
		stream.Accept()
		(&fileService{phone: d.phone, stream: stream}).serve()
	case "abb":
		if d.has(wire.FeatureAbb) {
			d.serveShell2(ctx, binderCommand(argument), stream)
		}
	case "abb_exec":
		if d.has(wire.FeatureAbbExec) {
			d.serveRaw(ctx, binderCommand(argument), stream, stream)
		}
	case "reverse":
		ports.serve(argument, stream)
		hangUp(ctx, stream)
	case "root", "unroot", "tcpip", "usb":
		answer, restarts := d.phone.Control(name, argument)
		io.WriteString(stream, answer)
		hangUp(ctx, stream)
		if restarts {
			d.Drop()
		}
	}
}

// binderCommand returns the command line for abb: a service's command, whose words are
// separated by NULs.
func binderCommand(argument string) string {
	return "cmd " + device.Quote(strings.Split(argument, "\x00")...)
}

func (d *Daemon) serveShell(ctx context.Context, flags []string, command string, stream *mux.Stream) {
	for _, flag := range flags {
		if flag == "v2" {
			if d.has(wire.FeatureShell2) {
				d.serveShell2(ctx, command, stream)
			}
			return
		}
	}
	var out io.Writer = stream
	if !d.has(wire.FeatureShell2) {
		out = &terminal{w: stream} // older phones run every command in a terminal
	}
	d.serveRaw(ctx, command, stream, out)
	hangUp(ctx, stream)
}

// closeTime limits how long a client may take to close a stream that is closed here.
const closeTime = 2 * time.Second

// hangUp closes the stream of a finished command right after its last output, as adbd does. It
// waits until the client has closed the stream too, so that the phone knows that its client
// has the result.
func hangUp(ctx context.Context, stream *mux.Stream) {
	bound, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	stream.CloseAndAwait(bound)
}

// serveRaw runs a command with both outputs in one stream, without an exit code.
func (d *Daemon) serveRaw(ctx context.Context, command string, in io.Reader, out io.Writer) {
	mixed := &lockedWriter{w: out}
	var accepted func()
	if stream, ok := in.(*mux.Stream); ok {
		accepted = stream.Accept
	}
	d.run(ctx, command, in, mixed, mixed, accepted)
}

// run runs a command to its end; accepted is called when it has started.
func (d *Daemon) run(ctx context.Context, command string, in io.Reader, out, errs io.Writer, accepted func()) int {
	wait := d.phone.Start(ctx, command, in, out, errs)
	if accepted != nil {
		accepted()
	}
	return wait()
}

// serveShell2 runs a command with shell protocol 2.
func (d *Daemon) serveShell2(ctx context.Context, command string, stream *mux.Stream) {
	var mu sync.Mutex
	stdin, feed := io.Pipe()
	defer stdin.Close()
	code := d.run(ctx, command, stdin,
		&packetWriter{mu: &mu, w: stream, id: wire.ShellStdout},
		&packetWriter{mu: &mu, w: stream, id: wire.ShellStderr},
		func() {
			stream.Accept()
			go unpackStdin(stream, feed) // reading accepts the stream, so not earlier
		})
	mu.Lock()
	defer mu.Unlock()
	stream.Write(wire.AppendShellPacket(nil, wire.ShellExit, []byte{byte(code)}))
	hangUp(ctx, stream)
}

// unpackStdin forwards standard input until its end, and then discards the rest.
func unpackStdin(stream io.Reader, feed *io.PipeWriter) {
	packets := wire.NewShellReader(stream)
	buffer := make([]byte, 4<<10)
	for {
		id, n, err := packets.Read(buffer)
		switch {
		case err != nil:
			feed.CloseWithError(io.EOF)
			return
		case id == wire.ShellStdin && n > 0:
			feed.Write(buffer[:n]) // an error means that nobody reads any more
		case id == wire.ShellCloseStdin:
			feed.Close()
		}
	}
}

// packetWriter writes one of a command's outputs as shell packets.
type packetWriter struct {
	mu *sync.Mutex
	w  io.Writer
	id wire.PacketID
}

func (p *packetWriter) Write(b []byte) (int, error) {
	const most = 64 << 10
	p.mu.Lock()
	defer p.mu.Unlock()
	written := 0
	for written < len(b) {
		piece := b[written:min(len(b), written+most)]
		if _, err := p.w.Write(wire.AppendShellPacket(nil, p.id, piece)); err != nil {
			return written, err
		}
		written += len(piece)
	}
	return written, nil
}

// lockedWriter serializes two outputs to one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// terminal converts line ends like a terminal.
type terminal struct{ w io.Writer }

func (t *terminal) Write(b []byte) (int, error) {
	_, err := io.WriteString(t.w, strings.ReplaceAll(string(b), "\n", "\r\n"))
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
