package runstore_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// sealedLine returns a record with its checksum, computed by hash/crc32.
func sealedLine(record string) string {
	record = strings.TrimSuffix(record, "\n")
	sum := crc32.Checksum([]byte(record), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`%s,"crc32c":"%08x"}`+"\n", strings.TrimSuffix(record, "}"), sum)
}

// readChecked reads a file of runs.
func readChecked(text string) (runs []run.Run, unchecked int, failed error) {
	for r, err := range runstore.ReadCheckedJSONL(strings.NewReader(text), &unchecked) {
		if err != nil {
			return runs, unchecked, err
		}
		runs = append(runs, r)
	}
	return runs, unchecked, nil
}

func TestEachLineBearsItsChecksum(t *testing.T) {
	var out bytes.Buffer
	if _, err := runstore.WriteJSONL(&out, runstore.ReadJSONL(strings.NewReader(line("a")+line("b")))); err != nil {
		t.Fatal(err)
	}
	if want := sealedLine(line("a")) + sealedLine(line("b")); out.String() != want {
		t.Errorf("written was\n%swant\n%s", out.String(), want)
	}
}

// Lines may be selected, combined, re-encoded and written by an older apkgate: they are read, and
// those without a checksum are counted. A line whose content does not match its checksum is
// rejected.
func TestWhatIsReadOfCheckedLines(t *testing.T) {
	a, b := sealedLine(line("a")), sealedLine(line("b"))
	changed := strings.Replace(a, `"scenario":"`, `"scenario":"x`, 1)
	for name, c := range map[string]struct {
		text      string
		runs      int
		unchecked int
		says      string
	}{
		"whole":              {a + b, 2, 0, ""},
		"in another order":   {b + a, 2, 0, ""},
		"some of them":       {b, 1, 0, ""},
		"without a newline":  {a + strings.TrimSuffix(b, "\n"), 2, 0, ""},
		"an older apkgate's": {line("a") + line("b"), 2, 2, ""},
		"of both":            {a + line("b"), 2, 1, ""},
		"laid out anew":      {strings.ReplaceAll(strings.ReplaceAll(a, `":`, `": `), `,"`, `, "`), 1, 0, ""},
		"a changed record":   {b + changed, 1, 0, `line 2: the record's checksum ("crc32c") is not that of its content`},
		"a changed sum":      {strings.Replace(a, `"crc32c":"`, `"crc32c":"0`, 1), 0, 0, `line 1: the record's checksum`},
		"no text":            {strings.Replace(a, `"crc32c":"`, `"crc32c":1,"x":"`, 1), 0, 0, `line 1: the record's checksum`},
		"a property's name":  {strings.Replace(line("a"), `"context":{`, `"context":{"crc32c":"00000000",`, 1), 1, 1, ""},
	} {
		runs, unchecked, err := readChecked(c.text)
		if len(runs) != c.runs || unchecked != c.unchecked || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d runs, %d of them unchecked, %v; want %d, %d, %q", name, len(runs), unchecked, err, c.runs, c.unchecked, c.says)
		}
	}
}
