package performance_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/research/performance"
)

const document = `# Title

| claim | what | command | figures | when |
|:--|:--|:--|--:|:--|
| sum | adds | ` + "`echo 1 \\| cat`" + ` | 0.17 s CPU, 1,024 kB | quick |
| read | reads | ` + "`go test ./x -bench Read`" + ` | 251 MB/s | nightly |

| sum | of another table | x | y | z |
`

func TestClaimsOfADocument(t *testing.T) {
	claims, err := performance.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if len(claims) != 2 || claims[0].Command != "echo 1 | cat" || claims[0].When != performance.Quick || claims[1].When != performance.Nightly {
		t.Fatalf("claims are %+v", claims)
	}
	want := []performance.Figure{{Value: 0.17, Unit: performance.CPU}, {Value: 1024, Unit: performance.Size}}
	if !slices.Equal(claims[0].Figures, want) {
		t.Errorf("figures are %v, want %v", claims[0].Figures, want)
	}
}

func TestRowsThatAreNoClaims(t *testing.T) {
	const good = "| sum | adds | `echo 1` | 1 kB | quick |"
	for wrong, want := range map[string]string{
		"| sum | adds | `echo 1` | 1 kB |":            "line 5: 4 cells",
		"| sum | adds | `echo 1` | 1 kB | daily |":    `when is "daily"`,
		"| sum | adds | `echo 1` | fast | quick |":    `figure "fast": want a number and a unit`,
		"| sum | adds | `echo 1` | 1 lines | quick |": `the unit is "lines"`,
		"| a b | adds | `echo 1` | 1 kB | quick |":    "without spaces",
		good + "\n" + good:                            "line 6: claim sum is there twice",
	} {
		_, err := performance.Parse(strings.NewReader("text\n\n| claim | what | command | figures | when |\n|--|--|--|--|--|\n" + wrong + "\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", wrong, err, want)
		}
	}
}

func TestWhatIsBeyondAFigure(t *testing.T) {
	for _, c := range []struct {
		figure          string
		measured, speed float64 // of the machine, for processor time and time alike
		want            bool
	}{
		{"2 s CPU", 3, 1, false},
		{"2 s CPU", 3.1, 1, true},
		{"2 s CPU", 3.1, 1.2, false},   // a slower machine
		{"0.01 s CPU", 0.04, 1, false}, // what starting a process takes
		{"100 MB peak", 149, 1, false},
		{"100 MB peak", 151, 3, true}, // memory is no other on a slower machine
		{"120 MB/s", 80, 1, false},
		{"120 MB/s", 79, 1, true},
		{"120 MB/s", 41, 2, false},
		{"0.05 slope (CPU)", 0.19, 1, false},
		{"0.05 slope (CPU)", 0.21, 1, true},
	} {
		f, err := performance.ParseFigure(c.figure)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Beyond(c.measured, performance.Speed{CPU: c.speed, Wall: c.speed}); got != c.want {
			t.Errorf("%s, measured %g at speed %g: beyond is %v", c.figure, c.measured, c.speed, got)
		}
	}
}

// A machine that waits for others does not change the processor time of a command.
func TestSpeedOfProcessorTimeAndOfTime(t *testing.T) {
	speed := performance.SpeedOf(performance.Work{CPU: 800 * time.Millisecond, Wall: 2400 * time.Millisecond}, 400*time.Millisecond)
	for figure, want := range map[string]struct {
		measured       float64
		beyond, judged bool
	}{
		"1 s CPU":   {3.1, true, true},   // 2 × 1.5
		"1 ms/op":   {8.9, false, false}, // 6 × 1.5, and above MaxSpeed
		"1.3 ns/op": {11.8, true, false}, // 6 × 1.3 × 1.5
		"100 MB/s":  {11, true, false},
		"1 MB peak": {1.4, false, true},
	} {
		f, err := performance.ParseFigure(figure)
		if err != nil {
			t.Fatal(err)
		}
		if beyond, judged := f.Beyond(want.measured, speed), f.Judged(speed); beyond != want.beyond || judged != want.judged {
			t.Errorf("%s, measured %g: beyond %v, judged %v, want %v and %v", figure, want.measured, beyond, judged, want.beyond, want.judged)
		}
	}
	if fast := performance.SpeedOf(performance.Work{CPU: time.Millisecond, Wall: time.Millisecond}, time.Second); fast != (performance.Speed{CPU: 1, Wall: 1}) {
		t.Errorf("a fast machine's speed is %v, want 1: it has to hold what the document says", fast)
	}
}

// A machine that is too busy to judge a claim reports that, and does not fail.
func TestMeasureOnABusyMachine(t *testing.T) {
	b := performance.Bench{Dir: t.TempDir(), Env: os.Environ(), Speed: performance.Speed{CPU: 1, Wall: 5}, Log: io.Discard}
	m := b.Measure(context.Background(), claim(t, "bench", `echo "BenchmarkRead-2 5 9000000 ns/op 4100000 B/op"`, "1 ms/op", "4.1 MB/op"))
	if m.Failed() || !strings.Contains(m.Row(), "not judged") {
		t.Errorf("failed is %v, and the row %s", m.Failed(), m.Row())
	}
}

func measured(t *testing.T, claims ...performance.Claim) []performance.Measured {
	t.Helper()
	b := performance.Bench{Dir: t.TempDir(), Env: os.Environ(), Speed: performance.Speed{CPU: 1, Wall: 1}, Log: io.Discard}
	var all []performance.Measured
	for _, c := range claims {
		all = append(all, b.Measure(context.Background(), c))
	}
	return all
}

func claim(t *testing.T, name, command string, figures ...string) performance.Claim {
	t.Helper()
	c := performance.Claim{Name: name, Command: command}
	for _, s := range figures {
		f, err := performance.ParseFigure(s)
		if err != nil {
			t.Fatal(err)
		}
		c.Figures = append(c.Figures, f)
	}
	return c
}

func TestWhatACommandTakes(t *testing.T) {
	busy := `i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done`
	all := measured(t,
		claim(t, "busy", busy, "60 s CPU", "1000 MB peak"),
		claim(t, "size", "echo 2500", "2.5 kB"),
		claim(t, "large", "echo 2500", "1 kB"),
		claim(t, "regression", "exit 1", "1 s CPU"), // apkgate check of a worse build
		claim(t, "broken", "echo no room >&2; exit 3", "1 s CPU"),
		claim(t, "silent", "true", "1 MB/s"),
		claim(t, "bench", `echo "BenchmarkRead-2  5  2000000 ns/op  150.5 MB/s  4100000 B/op  45 allocs/op"`, "2 ms/op", "150 MB/s", "4.1 MB/op"),
		claim(t, "fast", `echo "BenchmarkEntry-2  500  1.25 ns/op"`, "1.2 ns/op"),
		claim(t, "several", `printf 'BenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\n'`, "2 ms/op"),
		claim(t, "growth", "slope busy size 10", "0.5 slope (CPU)"),
		claim(t, "unknown", "slope busy nothing 10", "0.5 slope (CPU)"),
	)
	for i, want := range []bool{false, false, true, false, true, true, false, false, true, false, true} {
		if all[i].Failed() != want {
			t.Errorf("%s: failed is %v, want %v: %v, %v", all[i].Claim.Name, all[i].Failed(), want, all[i].Values, all[i].Err)
		}
	}
	if row := all[2].Row(); row != "| large | 2.5 kB | 1 kB | **beyond** |" {
		t.Errorf("the row is %q", row)
	}
	if err := all[4].Err; err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a command that fails: %v", err)
	}
}

// What the document claims can be read, and each claim of a Go benchmark is of a folder.
func TestTheDocumentsClaims(t *testing.T) {
	raw, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := performance.Parse(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if reference, err := performance.ReferenceOf(raw); err != nil || reference < 100*time.Millisecond || reference > time.Second {
		t.Errorf("the reference work took %v: %v", reference, err)
	}
	quick := 0
	for _, c := range claims {
		if c.When == performance.Quick {
			quick++
		}
		for word := range strings.FieldsSeq(c.Command) {
			if folder, ok := strings.CutPrefix(word, "./"); ok {
				if _, err := os.Stat("../../" + folder); errors.Is(err, os.ErrNotExist) {
					t.Errorf("claim %s: there is no %s", c.Name, folder)
				}
			}
		}
	}
	if quick == 0 || quick == len(claims) {
		t.Errorf("%d of %d claims are quick, want some of both", quick, len(claims))
	}
}
