package fidelity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/internal/prose"
)

// Row is the comparison of all answers to one question.
type Row struct {
	Asked string // without the parts that change each time
	Times int
	Alike int // of them
	Like  Like
	Why   string // the first difference
	Forms Forms  // and its counts
}

// Other is the device that a recording is compared with.
type Other struct {
	Device device.Device
	Clock  device.Clock
	// Install installs the recorded files, or their replacements, on the device.
	Install func(ctx context.Context, files []recording.File) error
}

// Compare sends the questions of a run to the other device, in the same order and with the
// same sleeps. A question that can't be sent is an error; the rows so far are returned with
// it.
func Compare(ctx context.Context, r *recording.Recording, run recording.Run, other Other) ([]Row, error) {
	w := &walk{r: r, other: other, byKey: map[string]*Row{}, processes: map[int]*running{}, pids: map[string]string{}}
	var names []string
	for i, pkg := range r.Packages {
		names = append(names, pkg, "<package "+strconv.Itoa(i+1)+">")
	}
	w.names = strings.NewReplacer(names...)
	defer w.hangUp()
	for _, e := range run.Entries {
		if err := ctx.Err(); err != nil {
			return w.rows(), err
		}
		if err := w.step(ctx, e); err != nil {
			return w.rows(), err
		}
	}
	w.hangUp()
	return w.rows(), nil
}

type walk struct {
	r         *recording.Recording
	other     Other
	names     *strings.Replacer
	order     []*Row
	byKey     map[string]*Row
	processes map[int]*running
	pids      map[string]string // from process ids of the recorded device to those of the other
	// keepsShell is set if the recorded device keeps a shell, which some questions reveal: the
	// questions then run in the other device's kept shell.
	keepsShell bool
}

// running is a background process on both devices.
type running struct {
	command string
	was     Answer
	process device.Process
	done    chan struct{}

	mu sync.Mutex
	is []byte
}

func (w *walk) rows() []Row {
	out := make([]Row, len(w.order))
	for i, row := range w.order {
		out[i] = *row
	}
	return out
}

// note records a pair of answers.
func (w *walk) note(asked string, was, is Answer) {
	key := w.key(asked)
	row := w.byKey[key]
	if row == nil {
		row = &Row{Asked: key}
		w.byKey[key], w.order = row, append(w.order, row)
	}
	like, why, count := compare(was, is)
	row.Times++
	if like != Unlike {
		row.Alike++
	} else if row.Why == "" {
		row.Why, row.Forms = why, count
	}
	row.Like = max(row.Like, like)
}

var (
	volatileMark = regexp.MustCompile(`\b[0-9a-z]{6,12}-\d+\b`)
	volatilePID  = regexp.MustCompile(`\b\d{3,}\b`)
)

// key is a question without the parts that change each time.
func (w *walk) key(asked string) string {
	key := volatilePID.ReplaceAllString(volatileMark.ReplaceAllString(w.names.Replace(asked), "<mark>"), "<n>")
	return prose.Clip(prose.OneLine(key), 500)
}

// step repeats one exchange.
func (w *walk) step(ctx context.Context, e recording.Entry) error {
	switch e.Op {
	case recording.Open:
		w.keepsShell = e.KeepsShell
	case recording.Exec:
		return w.exec(ctx, e)
	case recording.Start:
		return w.start(ctx, e)
	case recording.Data:
		text, err := w.r.Content(e.Stdout)
		if p := w.processes[e.Stream]; p != nil {
			p.was.Text = append(p.was.Text, text...)
		}
		return err
	case recording.End:
		if p := w.processes[e.Stream]; p != nil && strings.HasPrefix(p.command, "logcat ") { // it ends when it is hung up
			w.end(e.Stream)
		}
	case recording.Sleep:
		return w.other.Clock.Sleep(ctx, time.Duration(e.ForNS))
	case recording.Push:
		return w.push(ctx, e)
	case recording.Pull:
		return w.pull(ctx, e)
	case recording.Install:
		err := w.other.Install(ctx, e.Files)
		w.note("install", Answer{Failed: textOf(e.Error)}, Answer{Failed: failure(err)})
	case recording.Uninstall:
		err := w.other.Device.Uninstall(ctx, e.Command)
		w.note("uninstall "+e.Command, Answer{Failed: textOf(e.Error)}, Answer{Failed: failure(err)})
	}
	return nil
}

func textOf(f *recording.Failed) string {
	if f == nil {
		return ""
	}
	return f.Text
}

func failure(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (w *walk) exec(ctx context.Context, e recording.Entry) error {
	text, err := w.r.Content(e.Stdout)
	if err != nil {
		return err
	}
	ask := w.other.Device.Exec
	if w.keepsShell {
		ask = func(ctx context.Context, command string) (device.Output, error) {
			return device.Ask(ctx, w.other.Device, command)
		}
	}
	out, err := ask(ctx, w.translated(e.Command))
	if errors.Is(err, device.ErrGone) {
		return fmt.Errorf("ask the other device %s: %w", e.Asked(), err)
	}
	w.learn(string(text), string(out.Stdout))
	w.note(e.Command, Answer{text, e.Exit, textOf(e.Error)}, Answer{out.Stdout, out.ExitCode, failure(err)})
	return nil
}

var lonePID = regexp.MustCompile(`(?m)^\s*(\d{2,10})\s*$`)

// learn maps the process ids of the recorded device to the other's, if both answers consist of
// numbers only.
func (w *walk) learn(was, is string) {
	const short = 200
	if len(was) > short || len(is) > short {
		return
	}
	a, b := lonePID.FindAllStringSubmatch(was, -1), lonePID.FindAllStringSubmatch(is, -1)
	for i := range min(len(a), len(b)) {
		w.pids[a[i][1]] = b[i][1]
	}
}

// translated returns a command line with the other device's process ids.
func (w *walk) translated(command string) string {
	return volatilePID.ReplaceAllStringFunc(command, func(pid string) string {
		if other, known := w.pids[pid]; known {
			return other
		}
		return pid
	})
}

func (w *walk) start(ctx context.Context, e recording.Entry) error {
	p, err := w.other.Device.Start(ctx, w.translated(e.Command))
	if err != nil || e.Error != nil {
		w.note(e.Command, Answer{Failed: textOf(e.Error)}, Answer{Failed: failure(err)})
		return nil
	}
	its := &running{command: e.Command, process: p, done: make(chan struct{})}
	w.processes[e.Stream] = its
	go func() {
		defer close(its.done)
		buffer := make([]byte, 32<<10)
		for {
			n, err := p.Stdout().Read(buffer)
			its.mu.Lock()
			its.is = append(its.is, buffer[:n]...)
			its.mu.Unlock()
			if err != nil {
				_, _ = p.Wait()
				_ = p.Close()
				return
			}
		}
	}()
	return nil
}

// hangUp ends the background processes, and compares their outputs.
func (w *walk) hangUp() {
	for _, number := range slices.Sorted(maps.Keys(w.processes)) {
		w.end(number)
	}
}

// end ends one of them.
func (w *walk) end(number int) {
	p := w.processes[number]
	_ = p.process.Close()
	<-p.done
	w.note(p.command, p.was, Answer{Text: p.is})
	delete(w.processes, number)
}

func (w *walk) push(ctx context.Context, e recording.Entry) error {
	if len(e.Files) != 1 || !e.Files[0].Kept {
		return nil
	}
	text, err := w.r.Content(&recording.Text{SHA256: e.Files[0].SHA256, Bytes: e.Files[0].Bytes})
	if err != nil {
		return err
	}
	err = w.other.Device.Push(ctx, strings.NewReader(string(text)), e.Path, 0o644, w.r.Started)
	w.note("push "+e.Path, Answer{Failed: textOf(e.Error)}, Answer{Failed: failure(err)})
	return nil
}

func (w *walk) pull(ctx context.Context, e recording.Entry) error {
	was, err := w.r.Content(e.Stdout)
	if err != nil {
		return err
	}
	var is limited
	err = w.other.Device.Pull(ctx, e.Path, &is)
	w.note("pull "+e.Path, Answer{Text: was, Failed: textOf(e.Error)}, Answer{Text: is.bytes, Failed: failure(err)})
	return nil
}

// limited keeps the first bytes of a file.
type limited struct{ bytes []byte }

func (l *limited) Write(p []byte) (int, error) {
	const most = 64 << 20
	if len(l.bytes)+len(p) > most {
		return 0, io.ErrShortWrite
	}
	l.bytes = append(l.bytes, p...)
	return len(p), nil
}
