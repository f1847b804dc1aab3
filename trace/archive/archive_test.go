package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/archive"
)

// entry is a file of an archive.
type entry struct{ name, text string }

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e.name)
		if err == nil {
			_, err = io.WriteString(w, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open opens a file with this data, and returns its content.
func open(data []byte, want archive.Want) (text, entry string, err error) {
	c, err := archive.Open(bytes.NewReader(data), bytes.NewReader(data), want)
	if err != nil {
		return "", "", err
	}
	all, err := io.ReadAll(c)
	return string(all), c.Entry, err
}

var (
	report = archive.Want{Report: true}
	traces = archive.Want{Names: []string{".pftrace"}}
)

func TestOpenFindsTheRecording(t *testing.T) {
	t.Parallel()
	bugreport := []entry{
		{"version.txt", "2.0"}, {"main_entry.txt", "bugreport-x-2026.txt\n"}, {"dumpstate_log.txt", "log"},
		{"bugreport-x-2026.txt", "the report"}, {"FS/data/anr/anr_1", "anr"}, {"FS/data/misc/perfetto-traces/bugreport/systrace.pftrace", "trace"},
	}
	for name, c := range map[string]struct {
		data        []byte
		want        archive.Want
		text, entry string
	}{
		"plain":                    {[]byte("text"), report, "text", ""},
		"empty":                    {nil, report, "", ""},
		"gzip":                     {gzipped(t, "text"), report, "text", ""},
		"gzip, empty":              {gzipped(t, ""), report, "", ""},
		"gzip, twice in a row":     {append(gzipped(t, "te"), gzipped(t, "xt")...), report, "text", ""},
		"a bug report":             {zipped(t, bugreport...), report, "the report", "bugreport-x-2026.txt"},
		"its trace":                {zipped(t, bugreport...), traces, "trace", "FS/data/misc/perfetto-traces/bugreport/systrace.pftrace"},
		"without its main entry":   {zipped(t, bugreport[2:]...), report, "the report", "bugreport-x-2026.txt"},
		"one file of any name":     {zipped(t, entry{"a/", ""}, entry{"a/capture", "text"}), traces, "text", "a/capture"},
		"a main entry that is not": {zipped(t, entry{"main_entry.txt", "../../etc/passwd"}, entry{"bugreport.txt", "the report"}), report, "the report", "bugreport.txt"},
	} {
		text, entry, err := open(c.data, c.want)
		if err != nil || text != c.text || entry != c.entry {
			t.Errorf("%s: %q of %q, %v; want %q of %q", name, text, entry, err, c.text, c.entry)
		}
	}
}

func TestOpenReportsWhyItFails(t *testing.T) {
	t.Parallel()
	whole := zipped(t, entry{"a.pftrace", strings.Repeat("text", 100)})
	many := make([]entry, archive.MaxEntries+1)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	encrypted := bytes.Clone(whole)
	encrypted[6] |= 1
	encrypted[bytes.Index(whole, []byte("PK\x01\x02"))+8] |= 1
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no recording":       {zipped(t, entry{"a", ""}, entry{"b", ""}), "no recording of that kind among its 2 files"},
		"two of them":        {zipped(t, entry{"a.pftrace", ""}, entry{"b.pftrace", ""}), "holds 2 recordings"},
		"cut":                {whole[:len(whole)-30], "may be incomplete"},
		"damaged":            {append(append(bytes.Clone(whole[:40]), 0xff, 0xff, 0xff), whole[43:]...), "unpack it"},
		"gzip, cut":          {gzipped(t, strings.Repeat("text", 100))[:20], "unpack it"},
		"gzip in name alone": {[]byte{0x1f, 0x8b, 9, 9}, "gzip"},
		"encrypted":          {encrypted, "encrypted"},
		"too many entries":   {zipped(t, many...), "50001 entries"},
		"a bomb":             {gzipped(t, strings.Repeat("\x00", 70<<20)), "more than 250 times its size"},
		"a ZIP bomb":         {zipped(t, entry{"a", strings.Repeat("\x00", 70<<20)}), "more than 250 times its size"},
	} {
		if text, _, err := open(c.data, traces); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v, want %q", name, len(text), err, c.want)
		}
	}
	if _, err := archive.Open(bytes.NewReader(whole), nil, traces); err == nil || !strings.Contains(err.Error(), "not from a pipe") {
		t.Errorf("from a pipe: %v", err)
	}
	if c, err := archive.Open(bytes.NewReader(gzipped(t, "text")), nil, traces); err != nil {
		t.Errorf("gzip from a pipe: %v", err)
	} else if text, err := io.ReadAll(c); string(text) != "text" || err != nil {
		t.Errorf("gzip from a pipe: %q, %v", text, err)
	}
}

// An archive's directory can state few entries and contain millions.
func TestOpenRejectsALargeDirectory(t *testing.T) {
	t.Parallel()
	var data bytes.Buffer
	head := make([]byte, 46)
	copy(head, "PK\x01\x02")
	data.WriteString("PK\x03\x04")
	for range 400_000 {
		data.Write(head)
	}
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	end[16] = 4 // where the directory begins
	data.Write(end)
	if _, _, err := open(data.Bytes(), traces); err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("%v, want it refused", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(gzipped(f, "text"))
	f.Add(zipped(f, entry{"main_entry.txt", "bugreport.txt"}, entry{"bugreport.txt", "text"}, entry{"a.pftrace", "trace"}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, want := range []archive.Want{report, traces} {
			_, _, _ = open(data, want)
		}
	})
}
