package gitbranch

import (
	"strings"
	"testing"
)

// FuzzMarks: a mark that can be read can be written and read again unchanged; everything else is an
// error of one line.
func FuzzMarks(f *testing.F) {
	digest := strings.Repeat("0a", 32)
	f.Add([]byte(`{"format":"apkgate.mark/1","run":"a","digest":"` + digest + `","state":"accepted","at":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"format":"apkgate.mark/1","run":"b","digest":"` + digest + `","state":"rebaselined","at":"2026-01-01T00:00:00.5+01:00","since":"2025-01-01T00:00:00Z","note":"why"}`))
	f.Add([]byte(`{"format":"apkgate.mark/9"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseMark(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		again, err := l.encode()
		if err != nil {
			return // a year that JSON can't say
		}
		if m, err := parseMark(again); err != nil || m != l {
			t.Errorf("%+v comes back as %+v, %v", l, m, err)
		}
	})
}

// FuzzSegment: no file on the branch makes its readers panic.
func FuzzSegment(f *testing.F) {
	p := packing{folder: runsFolder}
	p.add([]byte("{}\n"))
	f.Add(p.flush()[0].data)
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, err := range runsOf(data) {
			if err != nil {
				break
			}
		}
		_, _ = marksOf(data)
	})
}
