package marks

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// spoken returns what a shell without protocol 2 prints around the output.
func spoken(mark, output string, code int, terminal bool) string {
	text := mark + "\n" + output + mark + strconv.Itoa(code) + "\n"
	if terminal {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func TestTerminalOutput(t *testing.T) {
	const mark = "apkgate-0123"
	for _, output := range []string{
		"", "a", "a\n", "a\r\nb\r", "\r\r\n\n\r", "apkgate-", "ap" + mark[:11] + "\n", mark + " in between\n",
		mark, strings.Repeat("line\n", 50_000),
	} {
		for _, terminal := range []bool{true, false} {
			for name, slice := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
				"bytes": iotest.OneByteReader, "end with data": iotest.DataErrReader,
			} {
				o := NewOutput(slice(strings.NewReader(spoken(mark, output, 42, terminal))), mark)
				got, err := io.ReadAll(o)
				if string(got) != output || err != nil || o.ExitCode() != 42 {
					t.Errorf("%.30q, terminal %v, %s: %.30q, %v, exit code %d", output, terminal, name, got, err, o.ExitCode())
				}
			}
		}
	}
}

// A line is returned as soon as it is complete, not with the next one.
func TestTerminalOutputIsNotHeldBack(t *testing.T) {
	r, w := io.Pipe()
	o := NewOutput(r, "apkgate-0123")
	go io.WriteString(w, "apkgate-0123\r\nhello\r\n")
	got := make([]byte, 6)
	if _, err := io.ReadFull(o, got); err != nil || string(got) != "hello\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// The output ends with the second mark, even if the shell has not exited.
func TestTerminalOutputEndsWithTheMark(t *testing.T) {
	r, w := io.Pipe()
	o := NewOutput(r, "apkgate-0123")
	go io.WriteString(w, spoken("apkgate-0123", "hello\n", 7, true))
	if got, err := io.ReadAll(o); string(got) != "hello\n" || err != nil || o.ExitCode() != 7 {
		t.Errorf("%q, %v, exit code %d", got, err, o.ExitCode())
	}
}

func TestTerminalOutputErrors(t *testing.T) {
	for _, said := range []string{"", "apkgate-0123", "apkgate-0123\nhalf", "apkgate-0123\nhalf apkgate-0123", "apkgate-0123\napkgate-0123x\n", "sh: echo: not found\n"} {
		o := NewOutput(strings.NewReader(said), "apkgate-0123")
		if _, err := io.ReadAll(o); err == nil {
			t.Errorf("%q was taken for a command that ended", said)
		}
	}
}

func FuzzTerminalOutput(f *testing.F) {
	f.Add([]byte("a\r\nb"), 3, true)
	f.Add([]byte("apkgate-apkgate-01"), 1, false)
	f.Fuzz(func(t *testing.T, output []byte, size int, terminal bool) {
		const mark = "apkgate-0123"
		if bytes.Contains(output, []byte(mark)) {
			return // it can't guess the mark
		}
		o := NewOutput(iotest.HalfReader(strings.NewReader(spoken(mark, string(output), 255, terminal))), mark)
		var got bytes.Buffer
		_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{o}, make([]byte, 1+size&63))
		if !bytes.Equal(got.Bytes(), output) || err != nil || o.ExitCode() != 255 {
			t.Errorf("%q became %q, %v, exit code %d", output, got.Bytes(), err, o.ExitCode())
		}
	})
}
