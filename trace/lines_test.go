package trace_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apkgate/apkgate/trace"
)

func collect(t *testing.T, r io.Reader) ([]string, error) {
	t.Helper()
	var out []string
	l := trace.NewLines(r)
	for l.Next() {
		out = append(out, string(l.Text()))
		if l.Number() != len(out) {
			t.Fatalf("line %d says it is line %d", len(out), l.Number())
		}
	}
	return out, l.Err()
}

func TestLinesOfEveryEncoding(t *testing.T) {
	t.Parallel()
	little := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			b.WriteByte(c)
			b.WriteByte(0)
		}
		return b.String()
	}
	for name, in := range map[string]string{
		"plain":              "a\nb€\n\nc",
		"UTF-8 with a mark":  "\xEF\xBB\xBFa\nb€\n\nc\n",
		"CR LF":              "a\r\nb€\r\n\r\nc\r\n",
		"CR CR LF":           "a\r\r\nb€\r\r\n\r\r\nc\r\r\n",
		"UTF-16 LE":          "\xFF\xFE" + little("a\r\nb") + "\xAC\x20" + little("\r\n\r\nc"),
		"UTF-16 LE unmarked": little("a\nb") + "\xAC\x20" + little("\n\nc"),
		"UTF-16 BE":          "\xFE\xFF\x00a\x00\n\x00b\x20\xAC\x00\n\x00\n\x00c",
		"UTF-16 cut in half": "\xFF\xFE" + little("a\nb") + "\xAC\x20" + little("\n\nc") + "x",
	} {
		for _, chunked := range []bool{false, true} {
			var r io.Reader = strings.NewReader(in)
			if chunked {
				r = iotest.OneByteReader(r)
			}
			got, err := collect(t, r)
			if want := []string{"a", "b€", "", "c"}; err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	}
}

func TestLinesDecodeSurrogatePairs(t *testing.T) {
	t.Parallel()
	// U+1F600, then a high surrogate alone before an "x".
	got, err := collect(t, strings.NewReader("\xFF\xFE\x3D\xD8\x00\xDE\x3D\xD8x\x00"))
	if err != nil || len(got) != 1 || got[0] != "😀�x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLinesCutALongLine(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 3*trace.MaxLine+7)
	l := trace.NewLines(io.MultiReader(bytes.NewReader(long), strings.NewReader("\nnext")))
	if !l.Next() || !l.Cut() || len(l.Text()) != trace.MaxLine {
		t.Fatalf("first line: %d bytes, cut %v", len(l.Text()), l.Cut())
	}
	if !l.Next() || l.Cut() || string(l.Text()) != "next" || l.Number() != 2 {
		t.Fatalf("second line: %q, cut %v, number %d", l.Text(), l.Cut(), l.Number())
	}
}

func TestLinesOfEveryLength(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 64<<10 - 2, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000, trace.MaxLine - 1} {
		text := strings.Repeat("y", n)
		got, err := collect(t, strings.NewReader("a\n"+text+"\r\nb\n"+text))
		want := []string{"a", text, "b", text}
		if n == 0 {
			want = want[:3]
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d bytes: %d lines, %v", n, len(got), err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%d bytes: line %d has %d bytes", n, i+1, len(got[i]))
			}
		}
	}
}

func TestLinesReportReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	got, err := collect(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 2 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := collect(t, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("at once: %v", err)
	}
}

func TestWarningsAreLimited(t *testing.T) {
	t.Parallel()
	var w trace.Warnings
	for i := range trace.MaxWarnings + 5 {
		w.Addf(i+1, "doubt")
	}
	list := w.List()
	if len(list) != trace.MaxWarnings+1 || list[trace.MaxWarnings].Text != "5 more warnings are not listed" {
		t.Errorf("%d warnings, the last %+v", len(list), list[len(list)-1])
	}
}
