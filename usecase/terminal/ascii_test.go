package terminal

import (
	"bytes"
	"testing"
)

func TestUTF8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, true},
		{map[string]string{"LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "de_DE.UTF-8@euro"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "POSIX"}, false},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
		{map[string]string{"LANG": "en_US"}, true},
	} {
		if got := (Console{Getenv: func(name string) string { return c.env[name] }}).UTF8(); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

// Characters that come in two calls are one, and the number of bytes is that of the caller.
func TestASCII(t *testing.T) {
	t.Parallel()
	const text = "tap: 5 → 7 ms, +40 %… │ ─ 世 é\n"
	const want = "tap: 5 -> 7 ms, +40 %... | - ? ?\n"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		w := ASCII(&out)
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if k, err := w.Write(rest[:n]); k != n || err != nil {
				t.Fatalf("%d, %v", k, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("%d bytes at a time: %q, want %q", size, &out, want)
		}
	}
	var out bytes.Buffer
	if _, err := ASCII(&out).Write([]byte("a\xffb")); err != nil || out.String() != "a?b" {
		t.Errorf("no UTF-8: %q, %v", &out, err)
	}
}
