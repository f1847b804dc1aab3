package target

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzLedger checks that any content of the file on the phone gives at most maxChanges changes,
// each with a description, and that a change survives being written and read again.
func FuzzLedger(f *testing.F) {
	f.Add([]byte("kind=setting&space=global&name=window_animation_scale&before=1.0&put=0\nkind=package&name=com.example.mail&put=123\n"))
	f.Add([]byte("kind=network&name=wifi&before=enable&put=disable\nkind=pack"))
	f.Add([]byte("put=%zz\nput=;rm -rf /\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		changes := parseLedger(text)
		if len(changes) > maxChanges {
			t.Errorf("%d changes are read", len(changes))
		}
		for _, c := range changes {
			if c.String() == "" && c.Kind != "" {
				t.Errorf("%+v is not told", c)
			}
			_, line, _ := strings.Cut(c.note(), "'")
			line, _, _ = strings.Cut(line, "'")
			if strings.ContainsAny(line, " ;$`\n") {
				t.Errorf("%+v is noted with more than words: %q", c, line)
			}
			if _, err := url.ParseQuery(line); err != nil {
				continue // it is quoted differently
			}
			if again := parseLedger([]byte(line)); len(again) != 1 || again[0] != c {
				t.Errorf("%+v is read again as %+v", c, again)
			}
		}
	})
}

func FuzzLogSizes(f *testing.F) {
	f.Add([]byte("main: ring buffer is 256 KiB (123 KiB consumed, 206 KiB readable), max entry is 5120 B, max payload is 4068 B\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, b := range readLogSizes(text).below("16M") {
			if n := bytesOf(b.size); n <= 0 || n >= 16<<20 || !notedSize.MatchString(b.name+"="+b.size) {
				t.Errorf("%+v is taken for a size to put back", b)
			}
		}
	})
}
