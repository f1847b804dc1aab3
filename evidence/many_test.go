package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// many creates a folder of n runs, an hour apart, with a file of ten bytes each.
func many(t *testing.T, n int) (dir string, root *os.Root) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "kept")
	f := At(dir, Default)
	if err := f.make(); err != nil {
		t.Fatal(err)
	}
	root, err := f.open(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for i := range n {
		digest := fmt.Sprintf("%064x", i+1)
		if err := root.MkdirAll(filepath.Dir(placeOf(digest)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile(placeOf(digest), []byte("ten bytes "), 0o644); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"format":%q,"run":"run-%d","started":%q,"digests":[%q]}`,
			Format, i, time.Unix(int64(i)*3600, 0).UTC().Format(time.RFC3339), digest)
		if err := root.WriteFile(ownerName(fmt.Sprint("run-", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, root
}

// A lowered limit removes the oldest of thousands of runs at once, reading each file once.
func TestThousandsOfRunsAreRemovedAtOnce(t *testing.T) {
	const runs, stay = 4000, 100
	dir, _ := many(t, runs)
	f := At(dir, Limits{File: 1 << 10, Run: 1 << 10, Files: 10, Total: 10 * stay})
	digest, n, err := f.Keep(t.Context(), strings.NewReader("a new one!"), 100)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	gone, err := f.Attach(t.Context(), run.Run{ID: "new", Evidence: []run.Evidence{{Digest: digest, Bytes: n}}})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > lockFor/2 {
		t.Errorf("others waited %v for the folder, which they do for %v", took, lockFor)
	}
	if len(gone.Runs) != runs+1-stay || gone.Runs[0] != "run-0" || gone.Bytes != 10*(runs+1-stay) {
		t.Errorf("%d runs with %d bytes are gone, want the %d oldest", len(gone.Runs), gone.Bytes, runs+1-stay)
	}
	left, err := f.Runs()
	if err != nil || len(left) != stay || !slices.Contains(left, "new") || !slices.Contains(left, fmt.Sprint("run-", runs-1)) {
		t.Errorf("%d runs are left (%v), want %d, the new one and the newest among them", len(left), err, stay)
	}
}

// Foreign files in runs are ignored, however many they are.
func TestForeignFilesAmongRuns(t *testing.T) {
	dir, root := many(t, 3)
	for i := range maxRuns + 1 {
		if err := root.WriteFile(fmt.Sprintf("%s/%d.json", runsDir, i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := At(dir, Default)
	digest, n, err := f.Keep(t.Context(), strings.NewReader("a"), 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Attach(t.Context(), run.Run{ID: "new", Evidence: []run.Evidence{{Digest: digest, Bytes: n}}}); err != nil {
		t.Errorf("attach: %v", err)
	}
	gone, err := f.Prune(t.Context(), func(id string) bool { return id == "new" })
	if err != nil || len(gone.Runs) != 3 {
		t.Errorf("prune: %v, gone are %q", err, gone.Runs)
	}
}

// A total that is damaged, outdated or missing, as from an apkgate that did not write it, is not
// used.
func TestInvalidTotal(t *testing.T) {
	for name, text := range map[string]string{
		"none":     "",
		"damaged":  `{"bytes":`,
		"below 0":  `{"bytes":-1,"runs":0,"at":"` + time.Now().Format(time.RFC3339) + `"}`,
		"old":      `{"bytes":0,"runs":0,"at":"` + time.Now().Add(-25*time.Hour).Format(time.RFC3339) + `"}`,
		"tomorrow": `{"bytes":0,"runs":0,"at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, root := many(t, 20)
			if text != "" {
				if err := root.WriteFile(totalFile, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f := At(dir, Limits{File: 1 << 10, Run: 1 << 10, Files: 10, Total: 100})
			digest, n, err := f.Keep(t.Context(), strings.NewReader("a new one!"), 100)
			if err != nil {
				t.Fatal(err)
			}
			if gone, err := f.Attach(t.Context(), run.Run{ID: "new", Evidence: []run.Evidence{{Digest: digest, Bytes: n}}}); err != nil || len(gone.Runs) != 11 {
				t.Errorf("%d runs are gone (%v), want 11 of 21", len(gone.Runs), err)
			}
		})
	}
}

// Run by run, a folder stays within its limit.
func TestRunByRunWithinTheLimit(t *testing.T) {
	dir, root := many(t, 0)
	f := At(dir, Limits{File: 1 << 10, Run: 1 << 10, Files: 10, Total: 50})
	for i := range 20 {
		digest, n, err := f.Keep(t.Context(), strings.NewReader(fmt.Sprintf("number %2d ", i)), 100)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Run{ID: fmt.Sprint("r", i), Started: time.Unix(int64(i), 0), Evidence: []run.Evidence{{Digest: digest, Bytes: n}}}
		if _, err := f.Attach(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		a, err := accountOf(root)
		if err != nil || a.bytes > 50 || a.bytes != int64(10*min(i+1, 5)) {
			t.Errorf("after %d runs of 10 bytes there are %d (%v), want up to 50", i+1, a.bytes, err)
		}
	}
}
