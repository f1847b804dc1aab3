package recorddevice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/device/recording/fidelity"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// captures are published answers of real devices, put together: the command of each is known from
// how it was captured. They are in the corpus, not in the repository.
var captures = map[string]struct {
	profile, note string
	answers       [][2]string // the command, and the file of the corpus
}{
	"Android 9, an emulator": {"pixel-3-android-9", "six dumps of an emulator sdk_gphone_x86 (jeanboydev's bug report)", [][2]string{
		{"dumpsys battery", "batterystats/jeanboydev_emulator_9_battery.txt"},
		{"dumpsys batterystats", "batterystats/jeanboydev_emulator_9_batterystats.txt"},
		{"dumpsys batterystats -c", "batterystats/jeanboydev_emulator_9_batterystats_checkin.txt"},
		{"dumpsys gfxinfo", "gfxinfo/jeanboydev_emulator_9_gfxinfo_allpids.txt"},
		{"dumpsys graphicsstats", "gfxinfo/jeanboydev_emulator_9_graphicsstats.txt"},
		{"logcat -d -b events -v threadtime -v uid", "logcat/jeanboydev_emulator_9_eventlog.txt"},
	}},
	"Android 8.1, two phones": {"pixel-2-android-8.1.0", "a Pixel and a Smartron t.phone (bug reports of drivermiles and liuqi)", [][2]string{
		{"dumpsys gfxinfo", "gfxinfo/drivermiles_sailfish_8.1_gfxinfo_allpids.txt"},
		{"dumpsys graphicsstats", "gfxinfo/drivermiles_sailfish_8.1_graphicsstats.txt"},
		{"dumpsys gfxinfo", "gfxinfo/liuqi_smartron_8.1_gfxinfo_allpids.txt"},
		{"dumpsys graphicsstats", "gfxinfo/liuqi_smartron_8.1_graphicsstats.txt"},
	}},
	"Android 7, an emulator": {"moto-g5-android-7.0", "an emulator (acesgdl's bug report)", [][2]string{
		{"dumpsys gfxinfo", "gfxinfo/acesgdl_emulator_7.0_gfxinfo_allpids.txt"},
		{"dumpsys graphicsstats", "gfxinfo/acesgdl_emulator_7.0_graphicsstats.txt"},
	}},
}

// captured answers each command with its captures, in turn.
type captured struct {
	device.Device
	answers [][]byte
}

func (c *captured) Serial() string { return "captures" }

func (c *captured) Exec(context.Context, string) (device.Output, error) {
	out := device.Output{Stdout: c.answers[0]}
	c.answers = c.answers[1:]
	return out, nil
}

// still is a clock that stands still.
type still struct{}

func (still) Now() time.Duration                         { return time.Second }
func (still) Sleep(context.Context, time.Duration) error { return nil }

// plain is a dump without the lines that bug reports add before and after it.
func plain(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("DUMP OF SERVICE")) && !bytes.HasPrefix(line, []byte("------ ")) && !bytes.Contains(line, []byte("was the duration of dumpsys")) {
			out = append(out, line...)
		}
	}
	return out
}

// putTogether makes a recording of captures.
func putTogether(t *testing.T, dir, name string) {
	t.Helper()
	c := captures[name]
	d := &captured{}
	for _, answer := range c.answers {
		text, err := os.ReadFile(corpustest.Path(t, strings.Split(answer[1], "/")...))
		if err != nil {
			t.Fatal(err)
		}
		d.answers = append(d.answers, plain(text))
	}
	head := recording.Head{Of: recording.OfCaptures, Profile: c.profile, Note: c.note, Packages: []string{"com.example.captured"}, Started: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)}
	r, err := recording.New(dir, head, recording.NewBlackout())
	if err != nil {
		t.Fatal(err)
	}
	s := r.Begin(name, head.Started, still{})
	connected, err := s.Opened(func(context.Context) (device.Device, error) { return d, nil })(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range c.answers {
		if _, err := connected.Exec(t.Context(), answer[0]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Finish(true); err != nil {
		t.Fatal(err)
	}
}

// The simulated phone is compared with captures of real devices, as in the table of
// docs/recording.md: how many forms of their lines it prints, and how many that they lack.
func TestCompareCapturesWithSimulatedPhones(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range captures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "captures")
			putTogether(t, dir, name)
			got := clitest.Run(t, nil, "record-device", "compare", dir, "--format", "json")
			var held struct {
				Of        string `json:"recording_of"`
				Questions []struct {
					Asked, Like, Why string
					Forms            fidelity.Forms
				}
			}
			if err := json.Unmarshal([]byte(got.Stdout), &held); err != nil || got.Status != exit.StatusPass || held.Of != "captures" {
				t.Fatalf("compare: %+v, %v", got, err)
			}
			clitest.Refuses(t, clitest.Run(t, nil, "run", "--replay", dir), "captures of single commands", "record-device compare")
			for _, q := range held.Questions {
				row := fmt.Sprintf("| %s | `%s` | %d of %d | %d |", name, q.Asked, q.Forms.Common, q.Forms.Of, q.Forms.Alone)
				if !strings.Contains(string(document), row) {
					t.Errorf("docs/recording.md has no row %s\n%s: %s", row, q.Like, strings.Join(q.Forms.More, "\n"))
				}
			}
		})
	}
}
