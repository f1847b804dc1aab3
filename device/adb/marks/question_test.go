package marks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The result does not depend on how the output is split into pieces, and no part of the output
// is mistaken for a mark.
func FuzzBetween(f *testing.F) {
	const mark = "apkgate-00112233"
	f.Add([]byte("text"), uint8(0), uint8(1))
	f.Add([]byte(""), uint8(255), uint8(3))
	f.Add([]byte("no end apkgate-0011223"), uint8(7), uint8(5))
	f.Add([]byte("apkgate-00112232\napkgate-00112230\n"), uint8(1), uint8(200))
	f.Add([]byte("\x00\r\n\n"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, code, piece uint8) {
		if bytes.Contains(append(bytes.Clone(text), mark[:len(mark)-1]...), []byte(mark)) || bytes.Contains(text, []byte(mark)) {
			t.Skip("a mark that was guessed")
		}
		sent := fmt.Appendf(nil, "%s\n%s%s%d\n", mark, text, mark, code)
		b := Between{Mark: mark}
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), max(int(piece), 1))
			if b.Whole {
				t.Fatalf("whole before its end %q", rest)
			}
			if err := b.Add(rest[:n]); err != nil {
				t.Fatalf("%q: %v", sent, err)
			}
			rest = rest[n:]
		}
		if !b.Whole || !bytes.Equal(b.Text, text) || b.Len() != len(text) || b.End != fmt.Sprint(code) {
			t.Errorf("%q: %q, %q, whole %v", sent, b.Text, b.End, b.Whole)
		}
		if err := b.Add([]byte("x")); err == nil {
			t.Error("more is taken behind the end")
		}
	})
}

// A question consists of words and separators: once quoted text is removed, nothing else that
// means something to a shell is left.
func FuzzAsksOnly(f *testing.F) {
	for _, line := range []string{
		"cat /proc/uptime /proc/1/stat 2>/dev/null || pidof com.example com.exampl",
		"cat /proc/sys/kernel/random/boot_id; getprop sys.system_server.start_count; dumpsys -t 120 activity settings >/dev/null 2>&1",
		"dumpsys gfxinfo com.example framestats; echo; echo apkgate-proc-stat; cat /proc/1/stat",
		"logcat -d -b events am_anr:V '*:S' 2>/dev/null", "echo $$", "echo 'it'\\''s'", "cat x > y", "echo $(cat x)", "cat x\nexit",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !AsksOnly(line) {
			return
		}
		parts := strings.Split(line, "'")
		if len(parts)%2 == 0 {
			t.Fatalf("%q: a quote that is not closed", line)
		}
		plain := ""
		for i := 0; i < len(parts); i += 2 {
			plain += parts[i] + "x"
		}
		plain = strings.NewReplacer("2>/dev/null", "", ">/dev/null", "", "2>&1", "", "&&", "", "$$", "").Replace(plain)
		if at := strings.IndexAny(plain, "&<>(){}$`\\\"*?[]~#!^\r\x00"); at >= 0 {
			t.Errorf("%q: %q is no plain word", line, plain[at:])
		}
		if strings.Contains(line, "\n") {
			t.Errorf("%q: more than a line", line)
		}
	})
}

func TestAsksOnly(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"cat /proc/uptime": true,
		"echo":             true,
		"echo; echo x":     true,
		"cat x 2>/dev/null || pidof a b && cat y": true,
		"echo 'a;b' '$x' '`x`'":                   true,
		"getprop":                                 true,
		"":                                        false,
		"echo x;":                                 false,
		"; echo x":                                false,
		"echo x ;; echo y":                        false,
		"echo x & echo y":                         false,
		"A=b echo x":                              false,
		"exit":                                    false,
		"echoes x":                                false,
		"'exit'":                                  false,
		"cat <x":                                  false,
		"cat x >/dev/nullx":                       false,
		"cat x >/dev/null/..":                     false,
		"cat x | cat":                             false,
		"echo x || exit":                          false,
		"echo x\\":                                false,
		"echo 'x":                                 false,
		"echo 'x\ny'":                             false,
		"echo $":                                  false,
		"echo $$x":                                false,
		"echo $?":                                 false,
		"am start x":                              false,
	} {
		if got := AsksOnly(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
