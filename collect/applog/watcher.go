package applog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/anrtraces"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

// Watcher keeps the evidence of a run: for each repetition the trace of what went wrong in it, or
// none.
type Watcher struct {
	Target   *target.Target
	Perfetto *recorders.Perfetto
	Keeper   evidence.Keeper
	App      string // its package
	// ByTimeline reports that frames are known only at the end: until then long ones are known from
	// the log.
	ByTimeline bool
	// All keeps the trace of each repetition, whatever happened in it, and Anomalies of those in
	// which something went wrong. The trace of the run's latest frame is kept in any case.
	All, Anomalies bool
	// Tasks requests the messages of the app's loopers, too.
	Tasks bool
	// TasksExpected reports that a repetition without tasks is worth a warning.
	TasksExpected bool
	// Kept are the files kept so far.
	Kept []run.Evidence

	took  durations // of the repetitions so far
	worst *worst    // nil while no frame was late
}

// asker is the name of evidence's requests to Perfetto.
const asker = "evidence"

// Prepare requests the recording of the packages. It reports whether the device can record it: a
// device that can't is measured without, with a warning.
func (w *Watcher) Prepare(ctx context.Context, packages []string) (bool, error) {
	if !recorders.HasPerfetto(w.Target.Facts) {
		w.Target.Journal.Warnf("no trace is kept, and what frames waited for is not known: there is no trace to keep before Android 10")
		return false, nil
	}
	w.Perfetto.Request(Request(packages, w.Target.Facts.API, w.Tasks))
	err := w.Perfetto.Ready(ctx)
	if errors.Is(err, recorders.ErrNoPerfetto) {
		w.Target.Journal.Warnf("no trace is kept, and what frames waited for is not known: %v", err)
		w.Perfetto.Withdraw(asker)
		return false, w.Perfetto.Ready(ctx)
	}
	return err == nil, err
}

// Request is what evidence needs from Perfetto on a version of Android, with or without tasks.
func Request(packages []string, api int, tasks bool) recorders.Request {
	of := sources(packages, api)
	if tasks && HasMessages(api) {
		return recorders.Request{Who: asker, Sources: func(known recorders.Capabilities) []recorders.Source {
			return append(of(known), messages(packages))
		}}
	}
	return recorders.Request{Who: asker, Sources: of}
}

// HasMessages reports whether a version of Android may have the messages of loopers in traces: 16,
// behind the flag perfetto_sdk_tracing_v2.
func HasMessages(api int) bool { return api >= 36 }

// messages is the data source of the messages of the packages' loopers. Those of the system's own
// processes would be many more.
func messages(packages []string) recorders.Source {
	const bufferKB = 6 << 10 // of its own: some 100 bytes for each of four events of a message
	one := recorders.Source{
		Name: "track_event", Config: "track_event_config", BufferKB: bufferKB,
		Texts: map[string][]string{"disabled_categories": {"*"}, "enabled_categories": {"mq"}},
	}
	for _, name := range packages {
		one.Producers = append(one.Producers, regexp.QuoteMeta(name)+"(:.*)?")
	}
	return one
}

// opensWaking is the first version of Android that allows sched_waking in traces of the shell.
const opensWaking = 31

// sources returns the data sources that show why an app was slow: which thread ran when on each
// CPU, at which speed, and what it waited for; binder calls, and I/O; the sections that the app and
// the system write themselves; the counters of the app's work; and the frames' timeline (Android
// 12).
//
// Events that a kernel lacks, or the system's policy forbids, are skipped
// (src/traced/probes/ftrace/ftrace_config_muxer.cc). All of these are allowed since Android 10,
// where the first usable perfetto is (system/sepolicy/private/genfs_contexts, and
// frameworks/native/cmds/atrace/atrace.rc), except sched_waking: Android 12 allows it, and before
// that sched_wakeup replaces it, which is nearly the same. Switches and wakings are requested in
// the compact format, a ninth of the size: only since version 42 does perfetto use it by default.
// Whatever has to outlast the ring buffer, such as the names of processes, has a buffer of its own.
//
// Format: protos/perfetto/config/ftrace/ftrace_config.proto and
// process_stats/process_stats_config.proto.
func sources(packages []string, api int) func(recorders.Capabilities) []recorders.Source {
	const (
		ringKB  = 32 << 10 // some 15 s of a busy phone
		namesKB = 8 << 10
	)
	return func(known recorders.Capabilities) []recorders.Source {
		kernel := recorders.Source{
			Name: "linux.ftrace", Config: "ftrace_config", BufferKB: ringKB,
			Within: []string{"compact_sched"},
			Texts: map[string][]string{
				"ftrace_events": {
					"sched/sched_switch", "sched/sched_waking", "sched/sched_blocked_reason", "sched/sched_process_exit",
					"power/cpu_frequency", "power/cpu_idle", "power/suspend_resume", "task/task_newtask", "task/task_rename",
					"binder/binder_transaction", "binder/binder_transaction_received",
					"block/block_rq_issue", "block/block_rq_complete",
					"f2fs/f2fs_sync_file_enter", "f2fs/f2fs_sync_file_exit", "ext4/ext4_sync_file_enter", "ext4/ext4_sync_file_exit",
				},
				"atrace_categories": {"am", "wm", "gfx", "view", "input", "binder_driver", "aidl", "dalvik", "res"},
				"atrace_apps":       packages,
			},
		}
		events := kernel.Texts["ftrace_events"]
		if api < opensWaking {
			events = append(events, "sched/sched_wakeup")
		}
		for _, name := range work.Events() {
			if !slices.Contains(events, name) {
				events = append(events, name)
			}
		}
		kernel.Texts["ftrace_events"] = events
		if known.Symbols {
			kernel.On = []string{"symbolize_ksyms"}
		}
		return []recorders.Source{
			kernel,
			{Name: "linux.process_stats", Config: "process_stats_config", BufferKB: namesKB, On: []string{"scan_all_processes_on_start"}},
			{Name: "linux.system_info", BufferKB: namesKB}, // the maximum speed of each CPU: Android 11
			{Name: recorders.FrameTimeline, BufferKB: namesKB},
		}
	}
}

// Repetition is one repetition while it is watched.
type Repetition struct {
	w        *Watcher
	n        int
	stream   *Stream
	usual    map[string]time.Duration // durations of UI events in earlier repetitions
	follower *follower                // nil: the log is not followed
	policy   policy
	waiting  []Anomaly // detected, and not saved yet
	saved    []saved
	dumped   []Anomaly // at which the app wrote its threads' stacks
	calls    [][]byte  // unanswered at each of these; nil if the kernel doesn't report them
	// Dumps are the stacks kept of these, once the repetition has ended, and NoDump is why there is
	// none if one was requested.
	Dumps  []anrtraces.Dump
	NoDump string
	// Noticed counts the anomalies that were noticed while the workload ran, and All are all once it
	// has ended, by time.
	Noticed int
	All     []Anomaly
	seen    int  // frames that were looked at
	gaveUp  bool // on saving while recording
}

// saved is a trace that was saved during the repetition.
type saved struct {
	path      string        // on the device
	at        time.Duration // on CLOCK_MONOTONIC: it contains everything before
	anomalies []Anomaly
}

// takes assigns the trace those of all anomalies that it contains, and returns the others.
func (k *saved) takes(all []Anomaly) (left []Anomaly) {
	var in []Anomaly
	for _, a := range all {
		if a.From <= k.at || slices.ContainsFunc(k.anomalies, a.same) {
			in = append(in, a)
		} else {
			left = append(left, a)
		}
	}
	if len(in) > 0 {
		k.anomalies = in
	}
	return left
}

// Begin watches the n-th repetition, from 1, which Perfetto records already. If its log is not
// followed, its anomalies are detected at the end.
func (w *Watcher) Begin(log *Log, n int) *Repetition {
	r := &Repetition{w: w, n: n, stream: NewStream(), usual: w.took.usual()}
	if log.stream != nil {
		r.follower = follow(log.stream, w.App, r.usual, r.stream, w.ByTimeline)
	}
	return r
}

// Stop stops watching the log. It may be called twice.
func (r *Repetition) Stop() {
	if r.follower != nil {
		r.follower.stop()
	}
}

// Look handles the anomalies detected so far and the frames read so far, at a time on
// CLOCK_MONOTONIC; it saves the recording of them if one is due.
func (r *Repetition) Look(ctx context.Context, now time.Duration, seen []jank.Frame) error {
	for _, f := range seen[r.seen:] {
		if a, ok := ofFrame(f); ok {
			r.stream.Notice(a)
		}
	}
	r.seen = len(seen)
	if r.follower == nil {
		return nil
	}
	r.follower.lasts(now)
	urgent := false
	for a, ok := r.stream.Next(); ok; a, ok = r.stream.Next() {
		r.waiting = append(r.waiting, a)
		r.Noticed++
		if a.Kind == NotResponding { // the stacks are there now
			urgent = true
			if err := r.dumpThreads(ctx, a); err != nil {
				return err
			}
		}
	}
	over := len(r.waiting) > 0 && r.waiting[0].From < r.follower.since()
	if r.gaveUp || !r.w.Anomalies || !urgent && !over || !r.policy.allows(r.w.Target.Clock.Now()) {
		return nil
	}
	path, err := r.w.Perfetto.Keep(ctx, len(r.saved)+1)
	if err != nil || path == "" { // the recording is there at the end
		r.gaveUp = true
		return err
	}
	r.policy.kept(r.w.Target.Clock.Now())
	r.saved = append(r.saved, saved{path, now, r.waiting})
	r.waiting = nil
	return nil
}

// Seen is everything known of a repetition at its end.
type Seen struct {
	Frames    []jank.Frame
	Anomalies []Anomaly      // by the log
	Events    []logcat.Event // UI events, sorted by time
	// From and To are the repetition's, on CLOCK_MONOTONIC; 0 if unknown.
	From, To time.Duration
	Alive    time.Duration // when the workload was last known to run
	// Lost is why the repetition is lost, nil if it is not.
	Lost error
	// Late is its latest frame, nil if the trace has none.
	Late *Late
}

// all returns the anomalies of the repetition, each with its event, sorted by time.
func (s Seen) all(usual map[string]time.Duration) []Anomaly {
	out := slices.Clone(s.Anomalies)
	for _, f := range s.Frames {
		if a, ok := ofFrame(f); ok {
			out = append(out, a)
		}
	}
	for name, span := range s.spans() {
		if a, ok := ofDuration(name, span[0], span[1], usual[name]); ok {
			out = append(out, a)
		}
	}
	for i := range out {
		out[i].Event = s.EventOf(out[i])
	}
	slices.SortStableFunc(out, func(a, b Anomaly) int { return cmp.Compare(a.From, b.From) })
	return out
}

// EventOf returns the UI event in which an anomaly began.
func (s Seen) EventOf(a Anomaly) string { return s.eventAt(s.Since(a)) }

// Since returns when an anomaly began. An ANR is detected seconds after the app stopped responding:
// Android reports how long it had waited, and a frozen frame shows since when nothing was drawn.
func (s Seen) Since(a Anomaly) time.Duration {
	at := max(a.From-a.Waited, 0)
	for _, f := range s.Frames {
		if frozen, ok := ofFrame(f); ok && a.Kind == NotResponding && frozen.From <= a.From && a.From <= frozen.To {
			at = min(at, frozen.From)
		}
	}
	return at
}

// eventAt returns the name of the bucket of a time.
func (s Seen) eventAt(at time.Duration) string {
	name := run.Start
	for _, e := range s.Events {
		if e.Time <= at {
			name = e.Name
		}
	}
	return name
}

// End keeps the recording of the repetition's anomalies, now that Perfetto has ended, and drops the
// rest. What can't be kept is a warning.
func (r *Repetition) End(ctx context.Context, s Seen) {
	w, all := r.w, r.w.learn(s, r.usual)
	r.All = slices.Clone(all)
	r.keepThreads(ctx, s)
	if !w.Anomalies {
		all, r.saved = nil, nil
	}
	left, digest := all, ""
	fetch := func(read func(io.ReadSeeker) error) error { return w.Perfetto.Fetch(ctx, read) }
	for _, k := range r.saved {
		left = k.takes(left)
		saved := r.keep(ctx, s, k.anomalies, func(read func(io.ReadSeeker) error) error {
			return w.Perfetto.FetchKept(ctx, k.path, read)
		})
		if s.Late != nil && s.Late.At+s.Late.Took <= k.at {
			digest = saved
		}
	}
	switch allowed := r.policy.allows(w.Target.Clock.Now()); {
	case w.All || len(left) > 0 && allowed:
		digest = r.keep(ctx, s, left, fetch)
	case len(left) > 0:
		w.Target.Journal.Warnf("repetition %d: no trace was kept of %s: at most %d are kept of one repetition, %v apart", r.n, inWords(left), maxKept, keptApart)
	}
	if err := w.offer(r.n, s, digest, fetch); err != nil {
		w.Target.Journal.Warnf("repetition %d: its trace could not be held back: %v", r.n, err)
	}
	if missed := r.stream.Missed(); missed > 0 {
		w.Target.Journal.Warnf("repetition %d: so much went wrong at once that %d anomalies were not reacted to when they were noticed", r.n, missed)
	}
}

var errEmpty = errors.New("it is empty")

// maxTrace limits a kept trace, in bytes.
const maxTrace = 128 << 20

// keep keeps one trace for the anomalies, without any if all traces are kept, and returns its
// digest, "" if it could not be kept.
func (r *Repetition) keep(ctx context.Context, s Seen, anomalies []Anomaly, fetch func(read func(io.ReadSeeker) error) error) string {
	w := r.w
	e := run.Evidence{Kind: run.PerfettoTrace, Name: w.fileName(r.n), Repetition: r.n}
	from, to := s.From, s.To
	if len(anomalies) > 0 {
		e.Event, e.Why = anomalies[gravest(anomalies)].Event, inWords(anomalies)
		from, to = anomalies[0].From, anomalies[0].To
		for _, a := range anomalies {
			from, to = min(from, a.From), max(to, a.To)
		}
	}
	e.FromMS, e.ToMS = milliseconds(from), milliseconds(to)
	e.Why = journal.Line(e.Why)
	if s.Lost != nil { // it is no iteration: the repetition is repeated
		e.Repetition = 0
		e.Why = strings.TrimSuffix(fmt.Sprintf("of repetition %d, which was lost: %s", r.n, e.Why), ": ")
	}
	err := fetch(func(trace io.ReadSeeker) (err error) {
		e.Digest, e.Bytes, err = w.Keeper.Keep(ctx, trace, maxTrace)
		if err == nil && e.Bytes == 0 {
			err = errEmpty
		}
		return err
	})
	if err != nil {
		w.Target.Journal.Warnf("repetition %d: its trace could not be kept: %v", r.n, err)
		return ""
	}
	w.Kept = append(w.Kept, e)
	return e.Digest
}

// fileName returns the name of the next trace of the n-th repetition.
func (w *Watcher) fileName(n int) string {
	prefix, kept := fmt.Sprintf("repetition-%d", n), 0
	for _, e := range w.Kept {
		if e.Kind == run.PerfettoTrace && (e.Name == prefix+".pftrace" || strings.HasPrefix(e.Name, prefix+"-")) {
			kept++
		}
	}
	if kept > 0 {
		return fmt.Sprintf("%s-%d.pftrace", prefix, kept+1)
	}
	return prefix + ".pftrace"
}

// inWords describes what went wrong: the gravest of several, and how many more.
func inWords(anomalies []Anomaly) string {
	const most = 300 // bytes
	first := prose.Fit(anomalies[gravest(anomalies)].Detail, most)
	if n := len(anomalies) - 1; n > 0 {
		return fmt.Sprintf("%s; and %d more", first, n)
	}
	return first
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
