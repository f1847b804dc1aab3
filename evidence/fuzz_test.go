package evidence

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzIndex: whatever is in the folder's index, a run's file names only files by digests, and
// belongs to no other run; a total is never negative, nor from the future.
func FuzzIndex(f *testing.F) {
	f.Add("run-1", []byte(`{"format":"apkgate.evidence/1","run":"run-1","started":"2026-01-01T00:00:00Z","digests":["`+strings.Repeat("0a", 32)+`"]}`))
	f.Add("run-1", []byte(`{"format":"apkgate.evidence/1","run":"../run-1","digests":["../../etc/passwd"]}`))
	f.Add("", []byte(`{"bytes":10,"runs":2,"at":"2026-01-01T00:00:00Z"}`))
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, id string, data []byte) {
		if o, ok := ownerOf(data, ownerName(id)); ok {
			if o.Run != id && ownerName(o.Run) != ownerName(id) {
				t.Errorf("the file of %q is taken for that of %q", id, o.Run)
			}
			for _, digest := range o.Digests {
				if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
					t.Errorf("it names a file %q", digest)
				}
			}
			again, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if same, ok := ownerOf(again, o.name); !ok || same.Run != o.Run || len(same.Digests) != len(o.Digests) {
				t.Errorf("written again it is %+v, was %+v", same, o)
			}
		}
		if got, stands := totalOf(data, now); stands && (got.Bytes < 0 || got.Runs < 0 || got.At.After(now)) {
			t.Errorf("a total of %+v stands", got)
		}
	})
}
