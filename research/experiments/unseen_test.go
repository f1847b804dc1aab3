package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// unseenRows are the rows of the table of testdata/unseen, by the prefix of a file's name.
var unseenRows = []struct{ begins, row string }{
	{"tap-", "unseen: once per tap"}, {"rep-", "unseen: once per repetition"}, {"frozen-", "unseen: frozen frame"},
	{"nth-", "unseen: every N-th frame"}, {"all-", "unseen: every N-th frame"}, {"two-", "unseen: two at once"},
}

// unseenCases returns the apps of testdata/unseen on two phones. They were written before the rules
// of diagnose/jankcause that they test, and these were not adapted to them. A file's comments say
// which kind of cause is right, which kind comes second, and the event; its lines marked "# cause"
// are what the base build lacks.
func unseenCases(t *testing.T) (out []slowCase) {
	files, err := filepath.Glob("testdata/unseen/*.simapp")
	if err != nil || len(files) < 24 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".simapp")
		c := slowCase{strength: name, app: string(text)}
		for line := range strings.Lines(c.app) {
			words := strings.Fields(line)
			if len(words) != 3 || words[0] != "#" {
				if !strings.HasSuffix(strings.TrimSpace(line), "# cause") {
					c.before += line
				}
				continue
			}
			switch words[1] {
			case "wants":
				if words[2] != "nothing" {
					c.wants = []string{"render." + words[2]}
				}
			case "also":
				c.also = "render." + words[2]
			case "explains":
				c.event = words[2]
			}
		}
		for _, r := range unseenRows {
			if strings.HasPrefix(name, r.begins) {
				c.row = r.row
			}
		}
		if (c.row == "") != (c.wants == nil) || c.event == "" {
			t.Fatalf("%s: %+v", file, c)
		}
		for _, phone := range []string{"pixel-5-android-11", "pixel-7-android-14"} {
			c.phone = phone
			out = append(out, c)
		}
	}
	return out
}

// Every file of testdata/unseen is an app that a simulated phone runs.
func TestUnseenAppsCanBeRead(t *testing.T) {
	for _, c := range unseenCases(t) {
		for _, text := range []string{c.app, c.before} {
			if _, err := simapp.Parse([]byte(text)); err != nil {
				t.Errorf("%s: %v", c.strength, err)
			}
		}
	}
}

// TestCausesInUnseenApps makes the second table of docs/evaluation/causes.md
// with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestCausesInUnseenApps -v
func TestCausesInUnseenApps(t *testing.T) {
	if os.Getenv("APKGATE_EVALUATION") != "full" {
		t.Skip("it makes a table of docs/evaluation/causes.md with APKGATE_EVALUATION=full alone")
	}
	o := trial{repetitions: 3, bases: 2, sessions: 6}
	o.all(t, unseenCases(t))
	o.hold(t, 0.9)
	o.documented(t)
}
