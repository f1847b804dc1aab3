package experimentsexperiments

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

// How often a build is measured: rounds of both builds in turns, as many as apkgate compare takes;
// the repetitions of each session where a load is beside the last of four; and how many comparisons
// of a build with itself there are.
const (
	taskRounds    = 14
	taskSessions  = 5
	taskUnchanged = 200
)

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
	first := foremost(causes, a.wants[0].event)
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

// foremost returns the cause that explains most of an event's findings, of whatever family.
func foremost(causes []diagnose.Cause, event string) *diagnose.Cause {
	var of []diagnose.Cause
	for _, c := range causes {
		if own, _, _ := strings.Cut(c.Event, "#"); own == event {
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
		pool := one.kind == queueing.PoolKind || one.kind == queueing.SequentialKind && a.unit(t, d).Kind == simapp.ThreadPool
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
	switch p.source {
	case "messages of loopers":
		return !u.Kind.Looper()
	case "sections":
		return !u.Wrapped
	}
	return u.Kind == simapp.Coroutines
}

// TestUnseenTasksOnPhones makes the tables of the second unseen set in docs/evaluation/tasks.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestUnseenTasksOnPhones -v -timeout 4h
//
// Without it, three apps are tried.
func TestUnseenTasksOnPhones(t *testing.T) {
	t.Parallel()
	apps, phones, unchanged := taskApps(t), taskPhones, taskUnchanged
	if !everything() {
		apps = slices.DeleteFunc(apps, func(a taskApp) bool {
			return !slices.Contains([]string{"tap-filter", "load-cpu-executor", "seq-work-executor"}, a.name)
		})
		phones, unchanged = taskPhones[2:], 2
	}
	var mu sync.Mutex
	scores, quiet, compared := map[string]*taskScore{}, 0, 0
	t.Run("apps", func(t *testing.T) {
		for k, p := range phones {
			for i, a := range apps {
				seed := uint64(10_000*k + 100*i + 1)
				t.Run(a.name+" on "+p.profile, func(t *testing.T) {
					t.Parallel()
					var causes []diagnose.Cause
					if a.load != nil {
						causes = p.besideLoad(t, a.base, a.load, seed, taskSessions)
					} else {
						causes = p.inTurns(t, a.base, a.head, seed, taskRounds)
					}
					mu.Lock()
					defer mu.Unlock()
					for _, row := range []string{"| " + a.row + " | " + p.profile + " |", "| all | " + p.profile + " |", "| all | all |"} {
						if scores[row] == nil {
							scores[row] = &taskScore{}
						}
					}
					scores["| "+a.row+" | "+p.profile+" |"].answered(t, a, p, causes)
				})
			}
		}
		for n := range unchanged {
			a, p := apps[n%len(apps)], phones[n/len(apps)%len(phones)]
			t.Run(fmt.Sprintf("unchanged %d, %s on %s", n, a.name, p.profile), func(t *testing.T) {
				t.Parallel()
				causes := p.inTurns(t, a.base, a.base, uint64(1_000_000+100*n), taskRounds)
				mu.Lock()
				defer mu.Unlock()
				if compared++; len(causes) == 0 {
					quiet++
				} else {
					t.Logf("%s on %s, unchanged: %s", a.name, p.profile, listed(causes))
				}
			})
		}
	})
	total := taskScore{}
	for row, s := range maps.All(scores) {
		if !strings.HasPrefix(row, "| all ") {
			scores["| all |"+strings.SplitN(row, "|", 3)[2]].add(*s)
			total.add(*s)
		}
	}
	scores["| all | all |"].add(total)
	said := fmt.Sprintf("| unchanged | | %d of %d |", quiet, compared)
	rows := []string{said}
	for _, row := range slices.Sorted(maps.Keys(scores)) {
		rows = append(rows, row+scores[row].String())
	}
	t.Log("\n" + strings.Join(rows, "\n"))
	if total.wrongClear > 0 || float64(quiet) < 0.98*float64(compared) {
		t.Errorf("%d wrong and clear, want none; nothing named of %d of %d unchanged", total.wrongClear, quiet, compared)
	}
	if everything() {
		documentedTasks(t, rows)
	} else if total.first < total.builds {
		t.Errorf("%d of %d are right", total.first, total.builds)
	}
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

// documentedTasks fails the test unless docs/evaluation/tasks.md has the rows.
func documentedTasks(t *testing.T, rows []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "evaluation", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/evaluation/tasks.md lacks the row %s", row)
		}
	}
}
