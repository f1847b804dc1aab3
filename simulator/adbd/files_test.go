package adbd

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// shelf is a phone with files only.
type shelf struct {
	Phone
	files fstest.MapFS // without the leading slash
}

func (s shelf) Stat(name string) (fs.FileInfo, error)   { return s.files.Stat(name[1:]) }
func (s shelf) Open(name string) (io.ReadCloser, error) { return s.files.Open(name[1:]) }
func (s shelf) List(name string) ([]fs.FileInfo, error) {
	entries, err := s.files.ReadDir(name[1:])
	var list []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			list = append(list, info)
		}
	}
	return list, err
}

func (s shelf) Create(name string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error) {
	return &keeper{close: func(contents []byte) error {
		if bytes.HasPrefix(contents, []byte("full")) {
			return ErrNoSpace
		}
		s.files[name[1:]] = &fstest.MapFile{Data: contents, Mode: mode, ModTime: modified}
		return nil
	}}, nil
}

type keeper struct {
	bytes.Buffer
	close func([]byte) error
}

func (k *keeper) Close() error { return k.close(k.Bytes()) }

// stream is a client's input and the answers to it.
type stream struct {
	io.Reader
	io.Writer
}

// answer returns the sync service's answer to the input.
func answer(files fstest.MapFS, input []byte) string {
	var out bytes.Buffer
	(&fileService{phone: shelf{files: files}, stream: stream{bytes.NewReader(input), &out}}).serve()
	return out.String()
}

func zeros(n int) string { return string(make([]byte, n)) }

func request(id wire.SyncID, text string) []byte { return wire.AppendSyncString(nil, id, text) }

func TestSync(t *testing.T) {
	modified := time.Unix(1_600_000_000, 0)
	files := fstest.MapFS{"data/f": {Data: []byte("hello"), Mode: 0o644, ModTime: modified}, "sd/f": {Data: []byte("hello"), Mode: 0o644, ModTime: modified}}
	send := func(path, contents string) []byte {
		in := request(wire.SyncSend, path)
		in = append(in, request(wire.SyncData, contents)...)
		return wire.AppendSync(in, wire.SyncDone, 7)
	}
	for _, test := range []struct {
		name  string
		input []byte
		want  string
	}{
		{"read", request(wire.SyncRecv, "/data/f"), "DATA\x05\x00\x00\x00helloDONE\x00\x00\x00\x00"},
		{"read by a crooked path", request(wire.SyncRecv, "data/../../data//f"), "DATA\x05\x00\x00\x00helloDONE\x00\x00\x00\x00"},
		{"read nothing", request(wire.SyncRecv, "/no"), "FAIL\x26\x00\x00\x00open failed: No such file or directory"},
		{"stat", request(wire.SyncStat, "/data/f"), "STAT\xa4\x81\x00\x00\x05\x00\x00\x00\x00\x10\x5e\x5f"},
		{"stat nothing", request(wire.SyncStat, "/no"), "STAT" + string(make([]byte, 12))},
		{"list", request(wire.SyncList, "/data"), "DENT\xa4\x81\x00\x00\x05\x00\x00\x00\x00\x10\x5e\x5f\x01\x00\x00\x00f" + "DONE" + string(make([]byte, 16))},
		{"list nothing", request(wire.SyncList, "/no"), "DONE" + string(make([]byte, 16))},
		{"write", send("/data/a,b,33261", "x"), "OKAY\x00\x00\x00\x00"},
		{"write without a mode", send("/data/a", "x"), "FAIL\x11\x00\x00\x00missing , in SEND"},
		{"write to a full phone", send("/data/a,33188", "full"), "FAIL\x2d\x00\x00\x00couldn't create file: No space left on device"},
		{"read 2", append(request(wire.SyncRecv2, "/data/f"), "RCV2\x00\x00\x00\x00"...), "DATA\x05\x00\x00\x00helloDONE\x00\x00\x00\x00"},
		{"read 2, compressed", append(request(wire.SyncRecv2, "/data/f"), "RCV2\x01\x00\x00\x00"...), "FAIL\x10\x00\x00\x00unknown flags: 1"},
		{"list 2", request(wire.SyncList2, "/sd"), "DNT2" + zeros(20) + "\xa4\x81\x00\x00\x01\x00\x00\x00" + zeros(8) + "\x05" + zeros(7) +
			strings.Repeat("\x00\x10\x5e\x5f\x00\x00\x00\x00", 3) + "\x01\x00\x00\x00f" + "DONE" + zeros(72)},
		{"write 2", wire.AppendSync(append(append(request(wire.SyncSend2, "/data/c,d"), "SND2\xed\x81\x00\x00\x00\x00\x00\x00"...), request(wire.SyncData, "x")...), wire.SyncDone, 7), "OKAY\x00\x00\x00\x00"},
		{"unknown", request(wire.SyncID{'N', 'O', 'P', 'E'}, ""), "FAIL\x16\x00\x00\x00unknown command \"NOPE\""},
		{"path too long", wire.AppendSync(nil, wire.SyncRecv, 1025), "FAIL\x0d\x00\x00\x00path too long"},
		{"too much data at once", append(request(wire.SyncSend, "/a,0644"), wire.AppendSync(nil, wire.SyncData, 65537)...), "FAIL\x14\x00\x00\x00invalid data message"},
		{"quit", append(wire.AppendSync(nil, wire.SyncQuit, 0), request(wire.SyncStat, "/no")...), ""},
	} {
		if got := answer(files, test.input); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	for _, name := range []string{"data/a,b", "data/c,d"} {
		written := files[name]
		if written == nil || string(written.Data) != "x" || written.Mode != 0o755 || !written.ModTime.Equal(time.Unix(7, 0)) {
			t.Errorf("%s: %+v, want x with mode 0755 of second 7", name, written)
		}
	}
}

func TestErrnoOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want wire.Errno
	}{
		{ErrNoSpace, wire.ENOSPC},
		{errors.Join(nil, ErrNoSpace), wire.ENOSPC},
		{&fs.PathError{Err: fs.ErrNotExist}, wire.ENOENT},
		{fs.ErrPermission, wire.EACCES},
		{errors.New("something"), wire.EIO},
	} {
		if got := errnoOf(test.err); got != test.want {
			t.Errorf("%v: %d, want %d", test.err, got, test.want)
		}
	}
}

// FuzzSync tests that the service ends and that its answers are limited, whatever a client
// sends.
func FuzzSync(f *testing.F) {
	f.Add(request(wire.SyncRecv, "/data/f"))
	f.Add(append(request(wire.SyncSend, "/a,0644"), wire.AppendSync(request(wire.SyncData, "x"), wire.SyncDone, 1)...))
	f.Add(wire.AppendSync(nil, wire.SyncSend, 1<<31))
	f.Fuzz(func(t *testing.T, input []byte) {
		files := fstest.MapFS{"data/f": {Data: []byte("hello"), Mode: 0o644}}
		// The answer to a request of 8 bytes or more is at most this long.
		if got := answer(files, input); len(got) > 200*(len(input)+1) {
			t.Errorf("%d bytes in, %d bytes out", len(input), len(got))
		}
	})
}
