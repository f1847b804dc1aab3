package experiments

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// unseenSet is a folder of testdata with apps that were written before any of them was run.
type unseenSet struct {
	name, folder string
	label        string   // before the names of its rows in docs/evaluation/tasks.md
	sample       []string // the apps that are tried on one phone when not everything is; none to skip it
}

// unseenSets are those that simulated phones run. No app of the third is in the sample, so that
// nothing is known of it before it is run as a whole.
var unseenSets = []unseenSet{
	{name: "second", folder: "unseen-phones", sample: []string{"seq-asynctask", "pool-thumbnails", "seq-work-executor"}},
	{name: "third", folder: "unseen-third", label: "third set, "},
}

// taskApp is a file of an unseenSet: the two builds of an app, and what is right to say of the head.
type taskApp struct {
	name, row  string
	head, base string
	wants      []taskDefect // in the order of the file; none where nothing is to be named
	load       *config.BackgroundLoad
	event      string // the first that gets slower
}

// taskDefect is a defect of the head.
type taskDefect struct {
	answers []taskAnswer // the wanted one, and those that are right too
	unit    string       // of the head
	event   string
}

// taskAnswer is a kind of cause, and what is in the name of its subject.
type taskAnswer struct{ kind, subject string }

// taskRows are the rows of the table, by the prefix of a file's name.
var taskRows = []struct{ begins, row string }{
	{"seq-", "sequential"}, {"obs-", "obsolete"}, {"pool-", "pool"}, {"handler-", "handler"}, {"lib-", "library"},
	{"long-", "longer task"}, {"tap-", "once per tap"}, {"two-", "two defects"}, {"load-", "load, no defect"},
}

// apps returns the apps of the set. The meaning of their comments is in testdata/unseen-phones.
func (s unseenSet) apps(t *testing.T) (out []taskApp) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", s.folder, "*.simapp"))
	if err != nil || len(files) != 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := taskApp{name: strings.TrimSuffix(filepath.Base(file), ".simapp")}
		for line := range strings.Lines(string(text)) {
			a.line(t, line)
		}
		for _, r := range taskRows {
			if strings.HasPrefix(a.name, r.begins) {
				a.row = r.row
			}
		}
		if a.row == "" || a.event == "" || (a.load != nil) != (len(a.wants) == 0) {
			t.Fatalf("%s: %+v", file, a)
		}
		out = append(out, a)
	}
	return out
}

func (a *taskApp) line(t *testing.T, line string) {
	t.Helper()
	w := strings.Fields(line)
	if len(w) < 3 || w[0] != "#" {
		if !strings.HasSuffix(strings.TrimSpace(line), "# cause") {
			a.base += line
		}
		if !strings.HasSuffix(strings.TrimSpace(line), "# before") {
			a.head += line
		}
		return
	}
	last := func() *taskDefect { return &a.wants[len(a.wants)-1] }
	switch {
	case len(w) == 4 && (w[1] == "wants" || w[1] == "also"):
		d := taskDefect{answers: []taskAnswer{{"tasks." + w[2], w[3]}}}
		if w[1] == "also" {
			d.unit = last().unit
		}
		a.wants = append(a.wants, d)
	case len(w) == 4 && w[1] == "accepts":
		last().answers = append(last().answers, taskAnswer{"tasks." + w[2], w[3]})
	case len(w) == 3 && w[1] == "on":
		last().unit = w[2]
	case len(w) == 3 && w[1] == "explains":
		if a.event = w[2]; len(a.wants) > 0 {
			last().event = w[2]
		}
	case len(w) == 3 && w[1] == "alsoexplains":
		last().event = w[2]
	case len(w) == 4 && w[1] == "load":
		a.loaded(t, w[2], w[3])
	}
}

func (a *taskApp) loaded(t *testing.T, part, much string) {
	t.Helper()
	if a.load == nil {
		a.load = &config.BackgroundLoad{}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(much, "%"))
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	switch part {
	case "cpu":
		a.load.CPU = config.Fraction(float64(n) / 100)
	case "memory":
		a.load.Memory = config.Fraction(float64(n) / 100)
	case "storage":
		a.load.Storage = n
	case "downloads":
		a.load.Downloads, a.load.From = n, "http://10.0.2.2/file"
	}
}

// Every file of the unseen sets is two apps that a simulated phone runs.
func TestUnseenTaskAppsCanBeRead(t *testing.T) {
	t.Parallel()
	for _, set := range unseenSets {
		t.Run(set.name, func(t *testing.T) {
			rows := map[string]int{}
			for _, a := range set.apps(t) {
				rows[a.row]++
				for _, text := range []string{a.head, a.base} {
					if _, err := simapp.Parse([]byte(text)); err != nil {
						t.Errorf("%s: %v", a.name, err)
					}
				}
				if (a.head != a.base) != (len(a.wants) > 0) {
					t.Errorf("%s: the builds differ: %v; it has %d defects", a.name, a.head != a.base, len(a.wants))
				}
				a.complete(t)
			}
			if rows["once per tap"] != 10 || rows["load, no defect"] != 10 || rows["two defects"] != 5 {
				t.Errorf("the rows have %v", rows)
			}
		})
	}
}

// complete fails the test unless each defect of an app is in a unit of its head, and slows an event.
func (a taskApp) complete(t *testing.T) {
	t.Helper()
	for _, d := range a.wants {
		if u := a.unit(t, d); u.Name == "" || d.event == "" {
			t.Errorf("%s: %v is in the unit %q and slows the event %q", a.name, d.answers, d.unit, d.event)
		}
	}
}
