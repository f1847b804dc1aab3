package baselinecmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// listedSession is what was measured together, as list prints it in JSON (docs/format/history.md).
// A run without a session is one of its own.
type listedSession struct {
	Session  string         `json:"session,omitempty"`
	Started  time.Time      `json:"started,omitzero"` // of the first run
	App      string         `json:"app"`
	Sources  []run.Source   `json:"sources"`
	Builds   []string       `json:"builds"`
	Devices  []string       `json:"devices"`
	InRounds bool           `json:"in_rounds"`
	Outcome  string         `json:"outcome,omitempty"` // the gravest; "" if no run was judged
	States   map[string]int `json:"states"`
	Retired  int            `json:"retired"` // accepted runs from before the level
	Runs     []string       `json:"runs"`
	models   []string       // of the devices, which are less specific
}

// sessions groups the runs of a history, in the order of the newest run of each.
func sessions(ctx context.Context, s runstore.Store, filter runstore.Filter) ([]*listedSession, error) {
	var out []*listedSession
	of := map[[2]string]*listedSession{}
	for e, err := range s.List(ctx, filter) {
		if err != nil {
			return out, openstore.Error(err)
		}
		key := [2]string{e.Run.App.Package, e.Run.Session}
		l := of[key]
		if l == nil || e.Run.Session == "" {
			l = &listedSession{Session: e.Run.Session, App: e.Run.App.Package, States: map[string]int{}}
			out, of[key] = append(out, l), l
		}
		l.add(e)
	}
	return out, nil
}

func (l *listedSession) add(e runstore.Entry) {
	l.Runs = append(l.Runs, e.Run.ID)
	if l.Started.IsZero() || !e.Run.Started.IsZero() && e.Run.Started.Before(l.Started) {
		l.Started = e.Run.Started.UTC()
	}
	l.Sources = addOnce(l.Sources, e.Run.Source)
	l.Builds = addOnce(l.Builds, cmp.Or(e.Run.App.Version, e.Run.App.Build))
	l.Devices = addOnce(l.Devices, deviceOf(e))
	l.models = addOnce(l.models, cmp.Or(e.Run.Context["model"], deviceOf(e)))
	l.InRounds = l.InRounds || interleaved.MeasuredInTurns(e.Run)
	l.States[cmp.Or(string(e.Mark.State), "unmarked")]++
	if e.Retired && e.Mark.State.Reference() {
		l.Retired++
	}
	if j := e.Run.Judged; j != nil && (l.Outcome == "" || gate.Outcome(j.Outcome).Gravity() > gate.Outcome(l.Outcome).Gravity()) {
		l.Outcome = j.Outcome
	}
}

func addOnce[T comparable](list []T, v T) []T {
	var none T
	if v == none || slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// listSessions prints a line for each session, newest first.
func listSessions(ctx context.Context, c terminal.Console, s runstore.Store, filter runstore.Filter, format output.Format) error {
	limit := filter.Limit
	filter.Limit = 0
	found, err := sessions(ctx, s, filter)
	if err != nil {
		return err
	}
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	out := bufio.NewWriter(c.Stdout)
	if format == output.FormatJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for _, l := range found {
			if err := enc.Encode(l); err != nil {
				return exit.Infrastructure(fmt.Errorf("print the list: %w", err))
			}
		}
		return exit.InfrastructureIf(out.Flush())
	}
	if len(found) == 0 {
		fmt.Fprintln(c.Stdout, "no run matches")
		return nil
	}
	table := terminal.Columns{Out: out, Rows: sessionTable(found, cmp.Or(c.Width, lineWidth))}
	return exit.InfrastructureIf(table.Flush())
}

// lineWidth is how many columns a session's line may take where there is no terminal.
const lineWidth = 80

// sessionTable returns the lines of the sessions, each of at most width columns. Truncated values are
// complete in JSON.
func sessionTable(found []*listedSession, width int) [][]string {
	header := []string{"when", "app", "commit", "ref", "build", "devices", "outcome", "state"}
	flexible := []int{1, 3, 4, 5}
	rows := [][]string{header}
	apps := map[string]bool{}
	for _, l := range found {
		apps[l.App] = true
		rows = append(rows, l.cells())
	}
	if len(apps) == 1 {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 1, 2)
		}
		flexible = []int{2, 3, 4}
	}
	terminal.Narrow(rows, flexible, width)
	return rows
}

// shortCommit is the length of an abbreviated commit, as git shows it.
const shortCommit = 7

func (l *listedSession) cells() []string {
	when := ""
	if !l.Started.IsZero() {
		when = l.Started.Format("2006-01-02 15:04")
	}
	var commits, refs []string
	for _, s := range l.Sources {
		commits = addOnce(commits, fmt.Sprintf("%.*s", shortCommit, s.Commit))
		refs = addOnce(refs, branchOf(s.Ref))
	}
	outcome := cmp.Or(l.Outcome, notJudged)
	if l.InRounds {
		outcome = rounds
	}
	app := l.App[strings.LastIndexByte(l.App, '.')+1:] // the last part of a package is the app's own
	out := []string{when, app, firstOf(commits), firstOf(refs), firstOf(l.Builds), l.devices(), outcome, l.state()}
	for i := range out {
		out[i] = terminal.Plain(out[i])
	}
	return out
}

// branchOf returns the ref as people name it: "main", "pull/12".
func branchOf(ref string) string {
	ref = strings.TrimPrefix(ref, "refs/")
	if pull, ok := strings.CutPrefix(ref, "pull/"); ok {
		number, _, _ := strings.Cut(pull, "/")
		return "pull/" + number
	}
	return strings.TrimPrefix(strings.TrimPrefix(ref, "heads/"), "tags/")
}

// firstOf returns the first of a list, and how many more there are.
func firstOf(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%s +%d", list[0], len(list)-1)
}

func (l *listedSession) devices() string {
	if len(l.Devices) == 1 && !strings.HasPrefix(l.models[0], "map[") {
		return l.models[0]
	}
	return fmt.Sprintf("%d %s", len(l.Devices), prose.Plural(len(l.Devices), "device", "devices"))
}

// state returns what was decided about the runs: about all, or about how many of them.
func (l *listedSession) state() string {
	for _, state := range []string{"rebaselined", "accepted", "rejected", "unmarked"} {
		n := l.States[state]
		if n == 0 {
			continue
		}
		if l.Retired == n && runstore.State(state).Reference() {
			state = "old level"
		}
		if n < len(l.Runs) {
			return fmt.Sprintf("%d/%d %s", n, len(l.Runs), state)
		}
		return state
	}
	return ""
}
