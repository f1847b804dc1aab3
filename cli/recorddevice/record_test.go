package recorddevice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/replay"
)

// labOf is a lab with one simulated phone, and no history.
func labOf(t *testing.T, phone string) clitest.Lab {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	phones := clitest.Text("  - simulated: " + phone + "\n")
	l.ConfigurePhones("demo-good", phones, "wifi")
	return l
}

// recorded records the lab's run in a folder next to it.
func recorded(t *testing.T, l clitest.Lab, flags ...string) (dir, said string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "recording")
	got := clitest.Run(t, nil, append([]string{"record-device", dir, "--config", l.Path("apkgate.yml")}, flags...)...)
	if got.Status != exit.StatusPass {
		t.Fatalf("record: %+v", got)
	}
	return dir, got.Stdout
}

// rewrite changes a file of a recording.
func rewrite(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("change %q in %s: %v", from, path, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A replayed run equals the recorded run, in a folder that needs nothing else: the record, byte for
// byte, and the verdict on it.
func TestRecordedRunIsReplayed(t *testing.T) {
	t.Parallel()
	l := labOf(t, "pixel-7-android-14")
	dir, said := recorded(t, l, "--black-out", "readsMail", "--note", "a simulated phone")
	for _, want := range []string{"1 run, ", "serial numbers: ", "words that were named: 1 word in ", "it replays: ", "docs/recording.md"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	for _, name := range []string{recording.ExchangesFile, replay.ConfigFile, replay.RunsFile} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(text), "readsMail") {
			t.Errorf("%s tells of what was to be blacked out, %v", name, err)
		}
	}
	dir, said = recorded(t, l)
	if !strings.Contains(said, "it replays: exactly\n") {
		t.Errorf("it says %q", said)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(l.Dir); err != nil { // neither the configuration nor the builds are needed
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(moved, replay.RunsFile))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := clitest.Run(t, nil, "collect", "--replay", moved)
		if got.Status != exit.StatusPass || got.Stdout != string(want) {
			t.Errorf("the replay ended with %d and gives %.200q, want %.200q; it says %s", got.Status, got.Stdout, want, got.Stderr)
		}
		if !strings.Contains(got.Stderr, "the record is the one that was recorded, byte for byte") {
			t.Errorf("it says %q", got.Stderr)
		}
	}
	got := clitest.Run(t, nil, "run", "--replay", moved, "--format", "json")
	var verdict struct{ Verdict string }
	if err := json.Unmarshal([]byte(got.Stdout), &verdict); err != nil || got.Status != exit.StatusPass || verdict.Verdict != "inconclusive" {
		t.Errorf("run --replay ends with %d: %.300s %v", got.Status, got.Stdout, err)
	}
	entries, err := os.ReadDir(moved)
	if err != nil || len(entries) != 6 {
		t.Errorf("the replay has left %v in the recording, %v", entries, err)
	}
}

// A changed number in an answer is found in the record, and the exit status is 3.
func TestReplayFindsAChangedNumber(t *testing.T) {
	t.Parallel()
	dir, _ := recorded(t, labOf(t, "pixel-7-android-14"))
	path := filepath.Join(dir, recording.ExchangesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rss := regexp.MustCompile(`VmHWM:[^0-9"]*(\d+) kB`).FindAllSubmatch(text, -1)
	if rss == nil {
		t.Fatal("nobody reads what the app had in RAM")
	}
	last := string(rss[len(rss)-1][0])
	changed := strings.Replace(last, string(rss[len(rss)-1][1]), "777777", 1)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), last, changed)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, nil, "collect", "--replay", dir)
	if got.Status != exit.StatusInfrastructure || !regexp.MustCompile(`the record differs: iterations\[\d\]\.metrics\.memory\.peak_rss_kb was \d+ and is 777777`).MatchString(got.Stderr) {
		t.Errorf("status %d: %s", got.Status, got.Stderr)
	}
	if strings.Count(got.Stderr, "error: ") != 1 || !strings.Contains(got.Stderr, "error: the replay is not what was recorded: the record differs of read-mail over wifi") {
		t.Errorf("it says %s", got.Stderr)
	}
}

// A killed recorder leaves a partial recording, and its replay reports that and where it ends.
func TestReplayOfATruncatedRecording(t *testing.T) {
	t.Parallel()
	dir, _ := recorded(t, labOf(t, "pixel-5-android-11"))
	path := filepath.Join(dir, recording.ExchangesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, recording.HeadFile), `"whole": true`, `"whole": false`)
	if err := os.Remove(filepath.Join(dir, replay.RunsFile)); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, nil, "run", "--replay", dir)
	if got.Status != exit.StatusInfrastructure {
		t.Errorf("status %d", got.Status)
	}
	for _, want := range []string{"warning: the recording was cut off before its run ended", "it ended after ", "it was cut off before its run ended"} {
		if !strings.Contains(got.Stderr, want) {
			t.Errorf("it says %s\nand nothing of %q", got.Stderr, want)
		}
	}
}

// A replay with another build than the recorded one is refused.
func TestReplayRejectsAnotherBuild(t *testing.T) {
	t.Parallel()
	dir, _ := recorded(t, labOf(t, "pixel-5-android-11"))
	rewrite(t, filepath.Join(dir, replay.BuildsFolder, "demo-good.apk"), "think 800us", "think 900us")
	got := clitest.Run(t, nil, "run", "--replay", dir)
	if got.Status != exit.StatusInfrastructure || !regexp.MustCompile(`error: .*no answer to installing "demo-good.apk" \(\d+ bytes, SHA-256 [0-9a-f]{12}\); the nearest that it has is installing "demo-good.apk" \(\d+ bytes`).MatchString(got.Stderr) {
		t.Errorf("status %d: %s", got.Status, got.Stderr)
	}
}

// What can't be recorded or replayed is refused before any device is touched.
func TestRecordDeviceRefuses(t *testing.T) {
	t.Parallel()
	l := labOf(t, "pixel-5-android-11")
	full := t.TempDir()
	clitest.WriteFile(t, filepath.Join(full, "file"), "")
	clitest.Refuses(t, clitest.Run(t, nil, "record-device", full, "--config", l.Path("apkgate.yml")), "is not empty", "name a new folder")
	clitest.Refuses(t, clitest.Run(t, nil, "record-device"), "takes DIR, but got 0 arguments")
	clitest.Refuses(t, clitest.Run(t, nil, "run", "--replay", full), "recording.json", "apkgate record-device makes one")
	clitest.Refuses(t, clitest.Run(t, nil, "run", "--replay", full, "--base", "a.apk"), "--replay and --base")
	clitest.Refuses(t, clitest.Run(t, nil, "record-device", "compare", full), "recording.json")
	l.Configure("demo-good", "wifi")
	clitest.Refuses(t, clitest.Run(t, nil, "record-device", filepath.Join(full, "new"), "--config", l.Path("apkgate.yml")), "3 devices are named, and one is recorded", "--device")
}

// A recording of a simulated phone is like another of the same phone, and the comparison lists the
// differences to another version.
func TestCompareWithASimulatedPhone(t *testing.T) {
	t.Parallel()
	dir, _ := recorded(t, labOf(t, "pixel-7-android-14"))
	type held struct {
		Exact     int
		Shape     int `json:"by_shape"`
		Unlike    int
		Questions []struct{ Asked, Like, Why string }
	}
	against := func(args ...string) (out held) {
		t.Helper()
		got := clitest.Run(t, nil, append([]string{"record-device", "compare", dir, "--format", "json"}, args...)...)
		if err := json.Unmarshal([]byte(got.Stdout), &out); err != nil || got.Status != exit.StatusPass {
			t.Fatalf("compare: %+v, %v", got, err)
		}
		return out
	}
	if own := against(); own.Unlike != 0 || own.Exact < 40 || own.Shape < 5 {
		t.Errorf("held against its own phone: %d exact, %d by shape, %d different", own.Exact, own.Shape, own.Unlike)
	}
	older := against("--simulated", "pixel-5-android-11")
	unlike := map[string]string{}
	for _, q := range older.Questions {
		if q.Like == "unlike" {
			unlike[q.Asked] = q.Why
		}
	}
	if why := unlike["dumpsys gfxinfo com.android.systemui"]; !strings.Contains(why, `not there: "Janky frames (legacy): # (#%)"`) { // which came with Android 12
		t.Errorf("unlike Android 11: %v", unlike)
	}
	got := clitest.Run(t, nil, "record-device", "compare", dir)
	if !regexp.MustCompile(`\d+ questions of a recording of a SIMULATED phone, compared with the simulated pixel-7-android-14: \d+ exact, \d+ by shape, 0 different\n$`).MatchString(got.Stdout) {
		t.Errorf("it says %s", got.Stdout)
	}
}

// Every recording in the folder that APKGATE_RECORDINGS names, such as a volunteer's, gives the
// recorded record.
func TestReplayOfGivenRecordings(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("APKGATE_RECORDINGS")
	if folder == "" {
		t.Skip("no folder of recordings is named (APKGATE_RECORDINGS)")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d recordings in %s, %v", len(entries), folder, err)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			if got := clitest.Run(t, nil, "collect", "--replay", filepath.Join(folder, entry.Name())); got.Status != exit.StatusPass {
				t.Errorf("status %d: %s", got.Status, got.Stderr)
			}
		})
	}
}
