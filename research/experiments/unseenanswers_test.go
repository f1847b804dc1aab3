package experiments

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// taskRepetitions is how often a build is measured in a session, as a configuration has it by default.
const taskRepetitions = 5

// taskScore is a row of the table on one phone. What is missed is the source's if it tells no task of
// the unit in which they wait.
type taskScore struct{ builds, first, possible, nothing, source, wrong, wrongClear, both, second int }

// answered counts the causes of an app on a phone.
func (s *taskScore) answered(t *testing.T, a taskApp, p taskPhone, causes []diagnose.Cause) {
	t.Helper()
	s.builds++
	if len(a.wants) == 0 {
		s.nothingWanted(t, a, p, causes)
		return
	}
	first := foremost(causes, a.wants)
	switch {
	case first == nil && p.misses(t, a):
		s.source++
	case first == nil:
		s.nothing++
		t.Logf("%s on %s: nothing is named, want %v", a.name, p.profile, a.wants)
	case slices.ContainsFunc(a.wants, func(d taskDefect) bool { return p.right(t, a, d, *first) }):
		s.first++
		if first.Explains.Sure == diagnose.Possible {
			s.possible++
		}
	default:
		s.wrong++
		if first.Explains.Sure == diagnose.Clear {
			s.wrongClear++
		}
		t.Logf("%s on %s: %s, %s (%s) is named first, want %v", a.name, p.profile, first.Kind, first.Subject.Name, first.Explains.Sure, a.wants)
	}
	if len(a.wants) < 2 {
		return
	}
	s.both++
	if !slices.ContainsFunc(a.wants, func(d taskDefect) bool { return !p.named(t, a, d, causes) }) {
		s.second++
	} else {
		t.Logf("%s on %s: %s; want both of %v", a.name, p.profile, listed(causes), a.wants)
	}
}

func (s *taskScore) nothingWanted(t *testing.T, a taskApp, p taskPhone, causes []diagnose.Cause) {
	t.Helper()
	if len(causes) == 0 {
		s.first++
		return
	}
	s.wrong++
	if slices.ContainsFunc(causes, func(c diagnose.Cause) bool { return c.Explains.Sure == diagnose.Clear }) {
		s.wrongClear++
	}
	t.Logf("%s on %s: %s, want nothing", a.name, p.profile, listed(causes))
}

func listed(causes []diagnose.Cause) string {
	var out []string
	for _, c := range causes {
		out = append(out, fmt.Sprintf("%s of %s (%s, %s)", c.Kind, c.Event, c.Subject.Name, c.Explains.Sure))
	}
	return strings.Join(out, "; ")
}

// foremost returns the cause that explains most of the events with defects, of whatever family.
func foremost(causes []diagnose.Cause, wants []taskDefect) *diagnose.Cause {
	var of []diagnose.Cause
	for _, c := range causes {
		own, _, _ := strings.Cut(c.Event, "#")
		if slices.ContainsFunc(wants, func(d taskDefect) bool { return d.event == own }) {
			of = append(of, c)
		}
	}
	if len(of) == 0 {
		return nil
	}
	diagnose.Order(of)
	return &of[0]
}

// named reports whether a defect is among the causes of its event.
func (p taskPhone) named(t *testing.T, a taskApp, d taskDefect, causes []diagnose.Cause) bool {
	t.Helper()
	return slices.ContainsFunc(causes, func(c diagnose.Cause) bool {
		own, _, _ := strings.Cut(c.Event, "#")
		return own == d.event && p.right(t, a, d, c)
	})
}

// right reports whether a cause is a defect. A method trace does not tell how large a pool is, so
// that a pool and a queue of one are queues there.
func (p taskPhone) right(t *testing.T, a taskApp, d taskDefect, c diagnose.Cause) bool {
	t.Helper()
	for _, one := range d.answers {
		if c.Kind == one.kind && strings.Contains(c.Subject.Name, one.subject) {
			return true
		}
		pool := one.kind == queueing.PoolKind || one.kind == queueing.SequentialKind && slices.Contains([]simapp.UnitKind{simapp.ThreadPool, simapp.Coroutines}, a.unit(t, d).Kind)
		if p.methods && pool && c.Kind == queueing.QueueKind && (strings.Contains(c.Subject.Name, one.subject) || strings.Contains(c.Subject.Name, d.unit)) {
			return true
		}
	}
	return false
}

// unit returns the unit of the head in which the tasks of a defect wait.
func (a taskApp) unit(t *testing.T, d taskDefect) simapp.Unit {
	t.Helper()
	app, err := simapp.Parse([]byte(a.head))
	if err != nil {
		t.Fatal(err)
	}
	u, _ := app.Unit(d.unit)
	return u
}

// misses reports whether the phone tells no task of the unit of an app's first defect.
func (p taskPhone) misses(t *testing.T, a taskApp) bool {
	t.Helper()
	u := a.unit(t, a.wants[0])
	return !p.methods && !u.Wrapped && (p.source == "sections" || !u.Kind.Looper())
}

// TestUnseenTasksOnPhones makes the tables of the unseen sets in docs/evaluation/tasks.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestUnseenTasksOnPhones/second -v -timeout 4h
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestUnseenTasksOnPhones/third -v -timeout 4h
//
// Without it, three apps of the second are tried on one phone.
func TestUnseenTasksOnPhones(t *testing.T) {
	t.Parallel()
	for _, set := range unseenSets {
		t.Run(set.name, set.run)
	}
}

func (s unseenSet) run(t *testing.T) {
	apps, phones := s.apps(t), taskPhones
	if !everything() {
		if len(s.sample) == 0 {
			t.Skip("the set is run as a whole, with APKGATE_EVALUATION=full")
		}
		apps = slices.DeleteFunc(apps, func(a taskApp) bool { return !slices.Contains(s.sample, a.name) })
		phones = taskPhones[2:]
	}
	table := scoreTable{label: s.label, rows: map[string]*taskScore{}}
	t.Run("apps", func(t *testing.T) {
		for k, p := range phones {
			for i, a := range apps {
				t.Run(a.name+" on "+p.profile, func(t *testing.T) {
					t.Parallel()
					head, unchanged := p.answers(t, a, uint64(10_000*k+100*i+1))
					table.add(t, a, p, head, unchanged)
				})
			}
		}
	})
	rows := table.lines()
	t.Log("\n" + strings.Join(rows, "\n"))
	if everything() {
		documentedTasks(t, rows)
	} else if all := table.total; all.first < all.builds || table.quiet < table.compared {
		t.Errorf("%d of %d are right, and nothing is named of %d of %d unchanged builds", all.first, all.builds, table.quiet, table.compared)
	}
}

// scoreTable collects the scores.
type scoreTable struct {
	sync.Mutex
	label           string                // before the names of rows
	rows            map[string]*taskScore // by the beginning of a row
	total           taskScore
	quiet, compared int // of a build with itself
}

func (s *scoreTable) add(t *testing.T, a taskApp, p taskPhone, head []diagnose.Cause, unchanged [][]diagnose.Cause) {
	t.Helper()
	s.Lock()
	defer s.Unlock()
	var one taskScore
	one.answered(t, a, p, head)
	s.total.add(one)
	for _, row := range []string{"| " + s.label + a.row + " | " + p.source + " |", "| " + s.label + "all | " + p.source + " |"} {
		if s.rows[row] == nil {
			s.rows[row] = &taskScore{}
		}
		s.rows[row].add(one)
	}
	for _, causes := range unchanged {
		if s.compared++; len(causes) == 0 {
			s.quiet++
		} else {
			t.Logf("%s on %s, unchanged: %s", a.name, p.profile, listed(causes))
		}
	}
}

// lines returns the rows.
func (s *scoreTable) lines() []string {
	out := []string{"| " + s.label + "all | all |" + s.total.String(), fmt.Sprintf("%snothing is named of %d of %d unchanged builds", s.label, s.quiet, s.compared)}
	for _, row := range slices.Sorted(maps.Keys(s.rows)) {
		out = append(out, row+s.rows[row].String())
	}
	return out
}

func (s *taskScore) add(o taskScore) {
	s.builds, s.first, s.possible = s.builds+o.builds, s.first+o.first, s.possible+o.possible
	s.nothing, s.source, s.wrong, s.wrongClear = s.nothing+o.nothing, s.source+o.source, s.wrong+o.wrong, s.wrongClear+o.wrongClear
	s.both, s.second = s.both+o.both, s.second+o.second
}

// String returns the cells of a row.
func (s *taskScore) String() string {
	second := "–"
	if s.both > 0 {
		second = fmt.Sprintf("%d of %d", s.second, s.both)
	}
	return fmt.Sprintf(" %d | %d | %d | %s | %d | %d | %d | %d |", s.builds, s.first, s.possible, second, s.source, s.nothing, s.wrong, s.wrongClear)
}

// documentedTasks fails the test unless docs/evaluation/tasks.md has the rows: phones differ a
// little from computer to computer, so that a build or two may be in another column.
func documentedTasks(t *testing.T, rows []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "evaluation", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, row := range rows {
		if !slices.ContainsFunc(lines, func(line string) bool { return alike(line, row, 2) }) {
			t.Errorf("docs/evaluation/tasks.md lacks the row %s", row)
		}
	}
}
