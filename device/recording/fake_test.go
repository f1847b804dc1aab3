package recording_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
)

// fake is a device with scripted answers.
type fake struct {
	mu      sync.Mutex
	now     time.Duration
	answers map[string][]string // by command line, in turn; the last is repeated
	files   map[string]string
	printed *io.PipeWriter // the output of the started process
	closed  chan struct{}
	keeps   bool     // whether it keeps a shell
	asked   []string // the commands that came through Ask
}

func newFake() *fake {
	return &fake{now: 5 * time.Second, answers: map[string][]string{}, files: map[string]string{}, closed: make(chan struct{})}
}

func (f *fake) Now() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += time.Millisecond
	return f.now
}

func (f *fake) Sleep(_ context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += d
	return nil
}

func (f *fake) date() time.Time { return time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC) }

func (f *fake) Serial() string { return "R5CT70ABCDE" }
func (f *fake) Close() error   { return nil }

func (f *fake) KeepsShell(context.Context) bool { return f.keeps }

func (f *fake) Ask(ctx context.Context, command string) (device.Output, error) {
	f.asked = append(f.asked, command)
	return f.Exec(ctx, command)
}

func (f *fake) Exec(_ context.Context, command string) (device.Output, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += 20 * time.Millisecond
	all := f.answers[command]
	if len(all) == 0 {
		return device.Output{Stderr: []byte("not found\n"), ExitCode: 127}, nil
	}
	if len(all) > 1 {
		f.answers[command] = all[1:]
	}
	return device.Output{Stdout: []byte(all[0])}, nil
}

func (f *fake) Start(context.Context, string) (device.Process, error) {
	r, w := io.Pipe()
	f.printed = w
	return &process{PipeReader: r, closed: f.closed}, nil
}

type process struct {
	*io.PipeReader
	once   sync.Once
	closed chan struct{}
}

func (p *process) Stdout() io.Reader  { return p.PipeReader }
func (p *process) Stderr() []byte     { return []byte("said in the end\n") }
func (p *process) Wait() (int, error) { return 3, nil }

func (p *process) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.PipeReader.Close()
}

func (f *fake) Push(_ context.Context, src io.Reader, path string, _ fs.FileMode, _ time.Time) error {
	text, err := io.ReadAll(src)
	f.files[path] = string(text)
	return err
}

func (f *fake) Pull(_ context.Context, path string, dst io.Writer) error {
	text, there := f.files[path]
	if !there {
		return &fs.PathError{Op: "pull", Path: path, Err: fs.ErrNotExist}
	}
	_, err := io.WriteString(dst, text)
	return err
}

func (f *fake) Install(context.Context, ...string) error {
	return errors.New("INSTALL_FAILED_TEST_ONLY")
}
func (f *fake) Uninstall(context.Context, string) error { return nil }

// recorded records what do does with a device, and returns the new folder.
func recorded(t *testing.T, f *fake, black *recording.Blackout, do func(ctx context.Context, d device.Device, clock device.Clock)) (dir string, head recording.Head) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "recording")
	r, err := recording.New(dir, recording.Head{Of: recording.OfDevice}, black)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Begin("scroll", time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC), f)
	d, err := s.Opened(func(context.Context) (device.Device, error) { return f, nil })(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do(t.Context(), d, s.Clock())
	if so, err := recording.Read(dir); err != nil || so.Whole || len(so.Runs) != 1 || len(so.Runs[0].Entries) == 0 {
		t.Errorf("before its end, as after a kill, it reads as %+v, %v; want what there is, not whole", so, err)
	}
	head, err = r.Finish(true)
	if err != nil {
		t.Fatal(err)
	}
	return dir, head
}

// played returns a player of the only run in a folder, and its device.
func played(t *testing.T, dir string) (*recording.Player, device.Device) {
	t.Helper()
	r, err := recording.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Play(r.Runs[0])
	d, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p, d
}

// said returns the output of a command, which must succeed.
func said(t *testing.T, d device.Device, command string) string {
	t.Helper()
	out, err := d.Exec(t.Context(), command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return string(out.Stdout)
}

// everything returns all files of a recording as one text.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
