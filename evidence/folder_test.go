package evidence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// SHA-256 of "abc", from FIPS 180-2, appendix B.1.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

var small = Limits{File: 1000, Run: 2000, Files: 10, Total: 3000}

func newFolder(t *testing.T) *Folder {
	t.Helper()
	return At(filepath.Join(t.TempDir(), "history.db.evidence"), small)
}

func keep(t *testing.T, f *Folder, text string) string {
	t.Helper()
	digest, _, err := f.Keep(t.Context(), strings.NewReader(text), small.File)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// runWith returns a run of that day of November with those files.
func runWith(id string, day int, digests ...string) run.Run {
	r := run.Run{ID: id, Started: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)}
	for _, d := range digests {
		r.Evidence = append(r.Evidence, run.Evidence{Digest: d})
	}
	return r
}

func attach(t *testing.T, f *Folder, r run.Run) Gone {
	t.Helper()
	gone, err := f.Attach(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return gone
}

func read(t *testing.T, f *Folder, digest string) string {
	t.Helper()
	file, err := f.Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func isKept(f *Folder, digest string) bool {
	_, _, here := f.Place(digest)
	return here
}

func TestKeepNamesByContent(t *testing.T) {
	f := newFolder(t)
	digest, size, err := f.Keep(t.Context(), strings.NewReader("abc"), 1000)
	if err != nil || digest != abc || size != 3 {
		t.Fatalf("%q, %d, %v; want %s, 3", digest, size, err, abc)
	}
	if got := read(t, f, abc); got != "abc" {
		t.Errorf("it reads %q", got)
	}
	at, size, here := f.Place(abc)
	data, err := os.ReadFile(at)
	if !here || size != 3 || err != nil || string(data) != "abc" {
		t.Errorf("at %q: %q, %v", at, data, err)
	}
	if again := keep(t, f, "abc"); again != abc {
		t.Errorf("kept again it is %s", again)
	}
}

func TestKeepTooLargeLeavesNothing(t *testing.T) {
	for name, limit := range map[string]int64{"for the caller": 10, "for the folder": 1 << 30} {
		f := newFolder(t)
		if _, _, err := f.Keep(t.Context(), strings.NewReader(strings.Repeat("a", 1001)), limit); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", name, err)
		}
		if left := filesIn(t, f.Path()); len(left) != 1 {
			t.Errorf("%s: there is %q, want the format alone", name, left)
		}
	}
}

// filesIn returns the files below a folder.
func filesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCancelledKeepLeavesNothing(t *testing.T) {
	f := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(strings.NewReader("abc"), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }))
	if _, _, err := f.Keep(ctx, r, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if left := filesIn(t, f.Path()); len(left) != 1 {
		t.Errorf("there is %q, want the format alone", left)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestDamageIsDetectedAndRepaired(t *testing.T) {
	f := newFolder(t)
	keep(t, f, "abc")
	at, _, _ := f.Place(abc)
	if err := os.WriteFile(at, []byte("abd"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(abc); !errors.Is(err, ErrDamaged) {
		t.Errorf("a changed byte: %v, want ErrDamaged", err)
	}
	keep(t, f, "abc")
	if got := read(t, f, abc); got != "abc" {
		t.Errorf("kept again it reads %q", got)
	}
}

func TestOpenAbsent(t *testing.T) {
	f := newFolder(t)
	if _, err := f.Open(abc); !errors.Is(err, ErrAbsent) {
		t.Errorf("without a folder: %v, want ErrAbsent", err)
	}
	if gone := attach(t, f, runWith("r", 1, abc)); gone.Files != 0 {
		t.Errorf("attached without a folder: %+v", gone)
	}
	if _, err := os.Stat(f.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking made the folder: %v", err)
	}
	keep(t, f, "another")
	if _, err := f.Open(abc); !errors.Is(err, ErrAbsent) {
		t.Errorf("in a folder: %v, want ErrAbsent", err)
	}
}

// Digests come from records, which may be hostile.
func TestHostileDigest(t *testing.T) {
	f := newFolder(t)
	keep(t, f, "abc")
	secret := filepath.Join(filepath.Dir(f.Path()), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"", "..", "../../secret", strings.Repeat("../", 20) + "etc", strings.ToUpper(abc), abc + "/", "/" + abc[1:], abc[:62] + "/."} {
		if file, err := f.Open(digest); err == nil || file != nil {
			t.Errorf("%q was opened", digest)
		}
		if _, _, here := f.Place(digest); here {
			t.Errorf("%q has a place", digest)
		}
	}
	at, _, _ := f.Place(abc)
	if err := errors.Join(os.Remove(at), os.Symlink(secret, at)); err != nil {
		t.Skip(err) // no links here
	}
	if _, err := f.Open(abc); !errors.Is(err, ErrDamaged) {
		t.Errorf("a link in a file's place: %v, want ErrDamaged", err)
	}
	if err := errors.Join(os.Remove(at), os.Remove(filepath.Dir(at)), os.Symlink(filepath.Dir(secret), filepath.Dir(at))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(secret), filepath.Base(at)), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(abc); err == nil {
		t.Error("a link to another folder was followed")
	}
	if _, _, err := f.Keep(t.Context(), strings.NewReader("abc"), 10); err == nil {
		t.Error("a file was kept behind a link")
	}
}

func TestForeignFolderIsLeftAlone(t *testing.T) {
	for name, set := range map[string]func(dir string) error{
		"with files of others": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644))
		},
		"of a later version": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "format"), []byte("apkgate.evidence/2\n"), 0o644))
		},
		"a link": func(dir string) error {
			return errors.Join(os.Mkdir(dir+".other", 0o755), os.Symlink(dir+".other", dir))
		},
		"whose format is a link": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+".other", []byte(Format+"\n"), 0o644), os.Symlink(dir+".other", filepath.Join(dir, "format")))
		},
		"half made, with a link out of it": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(dir+".other", 0o755), os.Symlink(dir+".other", filepath.Join(dir, "incoming")))
		},
	} {
		f := newFolder(t)
		if err := set(f.Path()); err != nil {
			t.Fatal(err)
		}
		before := filesIn(t, filepath.Dir(f.Path()))
		if _, _, err := f.Keep(t.Context(), strings.NewReader("abc"), 10); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: keep: %v, want ErrForeign", name, err)
		}
		if _, err := f.Prune(t.Context(), func(string) bool { return false }); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: prune: %v, want ErrForeign", name, err)
		}
		if after := filesIn(t, filepath.Dir(f.Path())); strings.Join(after, "\n") != strings.Join(before, "\n") {
			t.Errorf("%s: there is %q, was %q", name, after, before)
		}
	}
}

func TestOfRunLimits(t *testing.T) {
	f := newFolder(t)
	k := OfRun(f, 3, 10)
	for _, c := range []struct {
		size int
		want error
	}{{6, nil}, {5, ErrTooLarge}, {2, nil}, {1, nil}, {1, ErrFull}} {
		if _, _, err := k.Keep(t.Context(), bytes.NewReader(make([]byte, c.size)), 100); !errors.Is(err, c.want) {
			t.Errorf("%d bytes: %v, want %v", c.size, err, c.want)
		}
	}
}

// Whatever is in the folder's place, the run is complete.
func TestCopyFromMissingFolder(t *testing.T) {
	from, to := newFolder(t), newFolder(t)
	if err := os.WriteFile(from.Path(), []byte("no folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	if done, err := Copy(t.Context(), to, from, runWith("r", 1, abc)); err != nil || done.Missing != 1 {
		t.Errorf("%+v, %v; want one missing", done, err)
	}
}

// A copy respects the limit of a run, including what was copied before.
func TestCopyRespectsLimitOfRun(t *testing.T) {
	roomy := Limits{File: 1000, Run: 10_000, Files: 10, Total: 10_000}
	for name, limits := range map[string]Limits{
		"of files": {File: 1000, Run: 10_000, Files: 2, Total: 10_000},
		"of bytes": {File: 1000, Run: 20, Files: 10, Total: 10_000},
	} {
		from, to := At(t.TempDir(), roomy), At(t.TempDir(), limits)
		r := runWith("r", 1, keep(t, from, "ten bytes1"), keep(t, from, "ten bytes2"), keep(t, from, "ten bytes3"))
		for range 2 {
			if done, err := Copy(t.Context(), to, from, r); err != nil || done.Files != 2 || done.Refused != 1 {
				t.Errorf("%s: %+v, %v; want two files, one refused", name, done, err)
			}
		}
	}
}

func TestCopyFilesOfRun(t *testing.T) {
	from, to := newFolder(t), newFolder(t)
	r := runWith("r", 1, keep(t, from, "abc"), keep(t, from, "trace"), strings.Repeat("0", 64))
	done, err := Copy(t.Context(), to, from, r)
	if err != nil || done.Files != 2 || done.Missing != 1 {
		t.Fatalf("%+v, %v; want 2 files and one missing", done, err)
	}
	if got := read(t, to, abc); got != "abc" {
		t.Errorf("the copy reads %q", got)
	}
	if ids, err := to.Runs(); err != nil || len(ids) != 1 || ids[0] != "r" {
		t.Errorf("runs with files: %q, %v", ids, err)
	}
}
