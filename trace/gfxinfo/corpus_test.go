package gfxinfo_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

// corpus returns the path of a file of real dumps outside the repository.
func corpus(t testing.TB, name string) string {
	t.Helper()
	return corpustest.Path(t, "gfxinfo", name)
}

// stated computes the totals with regular expressions alone: the first total below each head of a
// process, or of a package.
func stated(text string, head *regexp.Regexp) (total, janky int, percentiles map[string]float64, blocks int) {
	totalRE := regexp.MustCompile(`Total frames rendered: (\d+)`)
	jankyRE := regexp.MustCompile(`Janky frames: (\d+)`)
	percentileRE := regexp.MustCompile(`(\d+)th percentile: (\d+)ms`)
	type counts struct{ total, janky int }
	last := map[string]counts{} // a process dumped twice with the same start counts once
	starts := head.FindAllStringIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		part := text[at[0]:end]
		m := totalRE.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		var c counts
		c.total, _ = strconv.Atoi(m[1])
		c.janky, _ = strconv.Atoi(jankyRE.FindStringSubmatch(part)[1])
		key := part[:strings.Index(part, "\nTotal frames")]
		last[key] = c
		if c.total > 0 {
			blocks++
			percentiles = map[string]float64{}
			for _, p := range percentileRE.FindAllStringSubmatch(part, 4) {
				if _, seen := percentiles[p[1]]; !seen {
					percentiles[p[1]], _ = strconv.ParseFloat(p[2], 64)
				}
			}
		}
	}
	for _, c := range last {
		total += c.total
		janky += c.janky
	}
	return total, janky, percentiles, blocks
}

func plainText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(data, []byte{0xFF, 0xFE}) {
		units := make([]uint16, 0, len(data)/2)
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
		}
		data = []byte(string(utf16.Decode(units)))
	}
	return strings.ReplaceAll(string(data), "\r", "")
}

// TestCorpusAgreesWithStatedTotals compares the totals of every real dump with those that the dump
// states.
func TestCorpusAgreesWithStatedTotals(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(corpus(t, "")), "gfxinfo", "*.txt"))
	if len(files) < 20 {
		t.Fatalf("only %d dumps in the corpus", len(files))
	}
	checked := 0
	for _, path := range files {
		text := plainText(t, path)
		total, janky, percentiles, blocks := stated(text, regexp.MustCompile(`Graphics info for pid \d+`))
		if blocks == 0 {
			total, janky, percentiles, blocks = stated(text, regexp.MustCompile(`\nPackage: `))
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := gfxinfo.Inspect(f)
		_ = f.Close()
		name := filepath.Base(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if blocks == 0 {
			continue // the dump states nothing; see TestCorpusRows
		}
		checked++
		if got.Metrics["frames.count"] != float64(total) || got.Metrics["frames.janky"] != float64(janky) {
			t.Errorf("%s: %g frames, %g janky; the dump states %d and %d", name,
				got.Metrics["frames.count"], got.Metrics["frames.janky"], total, janky)
		}
		if want := 1 - float64(janky)/float64(total); math.Abs(got.Metrics["frames.smooth_ratio"]-want) > 1e-12 {
			t.Errorf("%s: smooth ratio %g, want %g", name, got.Metrics["frames.smooth_ratio"], want)
		}
		if blocks > 1 {
			continue
		}
		for rank, want := range percentiles {
			if got := got.Metrics["frames.duration_ms.p"+rank]; got != want {
				t.Errorf("%s: p%s %g, the dump states %g", name, rank, got, want)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d dumps state their totals", checked)
	}
}

// TestCorpusRows compares frames with numbers computed by awk from the files, for rows with
// plausible times. No file was skipped.
func TestCorpusRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file                     string
		count, slow, janky, mean float64
	}{
		// awk '/Draw\tProcess/{f=1;next} f&&NF==3&&$1+0>0{n++; s+=$1+$2+$3} END{print n,s/n}'
		{"alexoro_sample.txt", 128, 0, 0, 3.58195},
		// 336.310483, 56.117129 and 265.946519 ms; the last is a window's first, which Android 6
		// does not count as late.
		{"androidviewclient_14col_framestats.txt", 3, 3, 2, 219.458044},
		// $3 is IntendedVsync, $10 FrameDeadline, $17 FrameCompleted; the last file is converted by
		// iconv -f UTF-16 -t UTF-8: awk -F, '$1=="0"&&NF>20&&$17>$3{d=($17-$3)/1e6; n++; s+=d;
		// slow+=(d>1000/60); late+=($17>=$10)}
		//   END{printf "%d %d %d %.6f",n,slow,late,s/n}'
		{"choi890_framestats.txt", 120, 10, 10, 14.914837},
		{"choi890_framestats_stay.txt", 120, 15, 15, 18.129085},
		// One of the 120 rows has a stale FrameCompleted, 4 s before.
		{"linkadb_frame_data_utf16.txt", 119, 23, 14, 21.979569},
	} {
		f, err := os.Open(corpus(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		d, err := gfxinfo.Read(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := gfxinfo.Metrics(d.Rows(), jank.Display{})
		if got["frames.count"] != c.count || got["frames.slow"] != c.slow || got["frames.janky"] != c.janky ||
			math.Abs(got["frames.duration_ms"]-c.mean) > 1e-5 {
			t.Errorf("%s: %v, want %+v", c.file, got, c)
		}
	}
}

// TestWindowsCountAsAndroidStates compares our count and janky frames of every real window that
// states its own with the table in docs/collection/frames.md. They must be equal where all of the
// window's frames are listed.
func TestWindowsCountAsAndroidStates(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(corpus(t, "")), "gfxinfo", "*.txt"))
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "collection", "frames.md"))
	if err != nil {
		t.Fatal(err)
	}
	whole, equal := 0, 0
	for _, path := range files {
		d := corpustest.Read(t, path, gfxinfo.Read)
		for _, p := range d.Processes {
			for _, w := range p.Windows {
				if w.Stats == nil || w.Stats.Total == 0 || len(w.Frames) == 0 {
					continue
				}
				if filepath.Base(path) == "anavmode_gfxinfo.txt" {
					checkIntervals(t, w, 16666667)
				}
				c := compare(w)
				if !c.gone {
					whole++
					if c.same {
						equal++
					}
				}
				row := fmt.Sprintf("| `%s` %s | %d | %d | %d | %g | %g | %s |", filepath.Base(path), prose.Clip(w.Name[strings.LastIndex(w.Name, ".")+1:], 60),
					w.Stats.Total, w.Stats.Janky, len(w.Frames), c.count, c.janky, c.reason)
				if !strings.Contains(string(doc), row+"\n") {
					t.Errorf("docs/collection/frames.md has no row\n%s", row)
				}
			}
		}
	}
	if whole < 9 || equal < whole-1 {
		t.Errorf("of %d windows that list all of their frames, %d count as Android states", whole, equal)
	}
}

// checkIntervals compares the rows of a window with the period of its display, in ns.
func checkIntervals(t *testing.T, w gfxinfo.Window, period int64) {
	t.Helper()
	for _, f := range w.Frames {
		if f.Usable() && f.Interval != period {
			t.Errorf("line %d: interval %d ns, want %d", f.Line, f.Interval, period)
		}
	}
}

// ringRows is the number of a window's frames that Android keeps.
const ringRows = 120

// compared is what the rows of a window add up to, and why that differs from Android's totals: gone
// is set if Android no longer has the rows of some frames.
type compared struct {
	count, janky float64
	same, gone   bool
	reason       string
}

func compare(w gfxinfo.Window) compared {
	m := gfxinfo.Metrics(w.Frames, jank.Display{})
	c := compared{count: m["frames.count"], janky: m["frames.janky"]}
	c.same = int64(c.count) == w.Stats.Total && int64(c.janky) == w.Stats.Janky
	c.gone = w.Stats.Total > int64(len(w.Frames))
	unfinished := 0
	for _, f := range w.Frames {
		if f.Flags&gfxinfo.FlagSkipped == 0 && !f.Usable() {
			unfinished++
		}
	}
	switch {
	case c.same:
		c.reason = "the same"
	case len(w.Frames) == ringRows:
		c.reason = "only the last 120 are listed"
	case unfinished > 0:
		c.reason = "one of the two rows is unfinished; a frame counts whose row is gone, as after a reset"
	}
	return c
}
