// Package replay records what a command measures (Recorder), and measures it again from a recording
// (Replay).
//
// It owns the folder's files except the exchanges: the configuration, the files that it names, and
// the runs; and how two records of a run are compared. Exchanges with a device belong to package
// recording, and making runs to package measurement.
package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// RunsFile has the runs of a recording as a replay gives them, ConfigFile what was measured, and
// BuildsFolder the files that it names.
const (
	RunsFile     = "runs.jsonl"
	ConfigFile   = config.FileName
	BuildsFolder = "builds"
)

// environment are the variables with the source of a build, which a recording lacks.
var environment = []string{"GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF"}

// Unsourced returns the console of a command whose builds have no commit.
func Unsourced(c terminal.Console) terminal.Console {
	getenv := c.Getenv
	c.Getenv = func(name string) string {
		if slices.Contains(environment, name) {
			return ""
		}
		return getenv(name)
	}
	return c
}

// key identifies the run of a job within a recording.
func key(j collect.Job) string {
	if j.Network == "" {
		return j.Scenario.Name
	}
	return j.Scenario.Name + " over " + j.Network
}

// Packages returns the packages of what a configuration measures.
func Packages(cfg *config.Config) []string {
	out := []string{cfg.App.Package}
	for _, s := range cfg.Scenarios {
		if i := s.Workload.Instrumentation; i != nil && !slices.Contains(out, i.TestPackage) {
			out = append(out, i.TestPackage)
		}
	}
	return out
}

// Recorder records the runs of one device.
type Recorder struct {
	*recording.Recorder
	Black *recording.Blackout

	now     func() time.Time
	started time.Time // of the current run
	learn   sync.Once
	learned error
}

// Record starts a recording in a folder that is empty or absent.
func Record(c terminal.Console, dir string, cfg *config.Config, head recording.Head, black *recording.Blackout) (*Recorder, error) {
	head.MadeBy, head.Started, head.Packages = version.Tool(), c.Now().UTC(), Packages(cfg)
	r, err := recording.New(dir, head, black)
	if err != nil {
		return nil, exit.Usage(err, "name a new folder")
	}
	return &Recorder{Recorder: r, Black: black, now: c.Now, started: head.Started}, nil
}

// Bind records a job that is bound to its device. The device is not marked with its user, since the
// recording would contain that.
func (r *Recorder) Bind(j *collect.Job) {
	if j.Clock == nil {
		j.Clock = target.HostClock()
	}
	r.started = r.now().UTC().Truncate(time.Millisecond)
	open := j.Open
	learning := func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		if err != nil {
			return nil, err
		}
		r.learn.Do(func() { r.learned = r.Black.LearnFrom(ctx, d) })
		if r.learned != nil {
			return nil, errors.Join(r.learned, d.Close())
		}
		return d, nil
	}
	s := r.Begin(key(*j), r.started, j.Clock)
	if j.Wall == nil {
		j.Wall = target.HostClock()
	}
	j.Open, j.Clock, j.Wall = s.Opened(learning), s.Clock(), s.Wall(j.Wall)
	j.Owner, j.Claim, j.Console = nil, nil, 0
}

// Now returns the date of the current run.
func (r *Recorder) Now() time.Time { return r.started }

// Ended leaves the result as it is.
func (r *Recorder) Ended(_ collect.Job, result collect.Result) collect.Result { return result }

// Replay makes runs again from a recording.
type Replay struct {
	*recording.Recording
	// recorded are the recorded runs, by their dates in milliseconds; empty if the recording has
	// none.
	recorded map[int64]run.Run

	mu      sync.Mutex
	next    map[string]int // how often a run was made
	players map[string]*recording.Player
	runs    map[string]run.Run
	started time.Time

	temporary string   // the folder of the replay's files
	own       bool     // the recording's own configuration is measured
	differ    []string // whose records differ
}

// inWords describes what is recorded.
var inWords = map[recording.Of]string{
	recording.OfDevice: "a device", recording.OfSimulated: "a SIMULATED phone",
	recording.OfCaptures: "CAPTURES of several devices that were put together",
}

// InWords describes what is recorded.
func InWords(of recording.Of) string { return inWords[of] }

// Open opens a recording.
func Open(dir string) (*Replay, error) {
	r, err := recording.Read(dir)
	if err != nil {
		return nil, exit.Usage(err, "apkgate record-device makes one")
	}
	p := &Replay{Recording: r, recorded: map[int64]run.Run{}, next: map[string]int{}, players: map[string]*recording.Player{}, runs: map[string]run.Run{}}
	p.started = r.Runs[0].Unit.Started
	return p, p.readRuns()
}

// Config returns the file of what was measured.
func (r *Replay) Config() string { return filepath.Join(r.Dir, ConfigFile) }

// Bind gives a job the recorded device.
func (r *Replay) Bind(j *collect.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := key(*j)
	j.Owner, j.Claim, j.Console = nil, nil, 0
	if p := r.players[name]; p != nil && p.Err() != nil { // it would end in the same way
		j.Open = func(context.Context) (device.Device, error) { return nil, lossOf(*j, errors.New(p.Err().Error())) }
		return
	}
	nth := r.next[name]
	r.next[name]++
	var its recording.Run
	for _, made := range r.Runs {
		if made.Unit.Unit != name {
			continue
		}
		if its = made; nth == 0 {
			break
		}
		nth--
	}
	p := r.Play(its)
	r.players[name] = p
	if !its.Unit.Started.IsZero() {
		r.started = its.Unit.Started
	}
	j.Open, j.Clock, j.Wall, j.Died = p.Open, p.Clock(), p.Wall(), p.Died()
	j.Why = func() string { return "the recording has ended" }
}

// Now returns the date of the recorded run that is made.
func (r *Replay) Now() time.Time { return r.started }

// Ended returns the result of a finished job, with the reason if its replay ended early.
func (r *Replay) Ended(j collect.Job, result collect.Result) collect.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := key(j)
	r.runs[name] = result.Run
	if p := r.players[name]; p != nil && p.Err() != nil {
		result.Err = lossOf(j, p.Err())
	}
	return result
}

// Summary returns lines on how the replay of each run went.
func (r *Replay) Summary() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := map[string]bool{}
	for _, made := range r.Runs {
		name := made.Unit.Unit
		p := r.players[name]
		if p == nil || done[name] {
			continue
		}
		done[name] = true
		lines = append(lines, r.describe(name, p)...)
	}
	return lines
}

// describe returns lines on how the replay of one run went.
func (r *Replay) describe(name string, p *recording.Player) []string {
	now := r.runs[name]
	was := r.recorded[now.Started.UnixMilli()]
	lines := []string{howAsked(name, p)}
	for _, path := range p.Account().Pushed {
		lines = append(lines, fmt.Sprintf("warning: replay of %s: another %s is pushed than was recorded, and what follows from it is of the old one", terminal.Plain(name), terminal.Plain(path)))
	}
	if p.Err() != nil || was.Scenario == "" {
		return lines
	}
	differences, more, err := Differences(was, now)
	switch {
	case err != nil:
		lines = append(lines, fmt.Sprintf("warning: replay of %s: %s", terminal.Plain(name), terminal.Plain(err.Error())))
	case len(differences) == 0:
		lines = append(lines, fmt.Sprintf("replay of %s: the record is the one that was recorded, byte for byte", terminal.Plain(name)))
	default:
		r.differ = append(r.differ, name)
		for _, d := range differences {
			lines = append(lines, fmt.Sprintf("warning: replay of %s: the record differs: %s", terminal.Plain(name), terminal.Plain(d)))
		}
		if more > 0 {
			lines = append(lines, fmt.Sprintf("warning: replay of %s: and in %d places more", terminal.Plain(name), more))
		}
	}
	return lines
}

func howAsked(name string, p *recording.Player) string {
	switch a := p.Account(); {
	case p.Err() != nil:
		return fmt.Sprintf("warning: replay of %s: it ended after %d of %d calls: %s", terminal.Plain(name), a.Asked, a.Recorded, terminal.Plain(p.Err().Error()))
	case a.Exact():
		return fmt.Sprintf("replay of %s: all %d calls came as recorded", terminal.Plain(name), a.Recorded)
	default:
		return fmt.Sprintf("warning: replay of %s: apkgate asks for other things than when it was recorded: %d of its %d calls came as recorded, of %d", terminal.Plain(name), a.InOrder, a.Asked, a.Recorded)
	}
}
