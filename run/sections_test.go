package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/metric"
)

// fullRun returns a run with every section that a record can have.
func fullRun() Run {
	r := traced()
	r.Energy = hungry().Energy
	digest := r.Evidence[0].Digest
	times := Spread{Count: 90, MeanMS: 2.5, QuantilesMS: []float64{1, 2, 7.5}}
	part := 0.75
	cpu := &FrameCPU{LittleShare: &part, LittleBusy: &part, BigBusy: new(0.0), FrequencyShare: &part, Saturated: 1}
	r.Frames = &Frames{
		Source: "frametimeline",
		Groups: []FrameGroup{
			{Event: "tap: open", Class: NormalFrames, Frames: 90, Stages: []FramePart{{Name: StageTraversal, Thread: "main", Spread: times}}},
			{
				Event: "tap: open", Class: SlowFrames, Frames: 6, Took: times, Waits: []FramePart{{Name: WaitBinder, Thread: "main", Spread: times}},
				Path: []FramePart{{Name: WaitBinder, Thread: "main", Stage: StageMeasure, What: "system_server IPackageManager::getInfo", Spread: times}}, CPU: cpu,
			},
		},
		Worst: []LateFrame{{
			Repetition: 1, Event: "tap: open", AtMS: 12_000.5, DurationMS: 820, DeadlineMS: 16.6, Token: 4711, Jank: "App Deadline Missed",
			Stages:   []FrameTime{{Name: StageMeasure, Thread: "main", MS: 700, CriticalMS: 690}},
			Waits:    []FrameTime{{Name: WaitIO, Thread: "main", MS: 300, CriticalMS: 300}},
			Evidence: digest, CPU: cpu,
			Path: []PathStep{
				{Thread: "main", Stage: StageMeasure, Kind: WaitRunning, What: "measure", Slice: "measure", FromMS: -0.5, ToMS: 10},
				{Thread: "binder:812_3", Process: "system_server", Stage: StageMeasure, Kind: WaitBinder, Does: WaitIO, What: "android.display", FromMS: 10, ToMS: 700},
			},
		}},
		LeftOut: 2,
		Usual:   []LateFrame{{Repetition: 1, Event: "tap: open", AtMS: 11_000, DurationMS: 8, Path: []PathStep{{Kind: WaitRunning, ToMS: 8}}}},
		Views: []Views{{Event: "tap: open", Count: 120, Depth: 14, Overdraw: 3.5, LeftOut: 1, Hidden: []HiddenView{
			{Class: "android.widget.FrameLayout", ID: "id/content", CoveredBy: "com.example.mail.ListView", AreaShare: 0.9},
		}}},
	}
	r.ANRs = []ANR{{
		Kind: ANRInput, Process: "com.example.mail", PID: 4321, Reason: "Input dispatching timed out", Repetition: 1, Event: "tap: open",
		AtMS: 13_000, WaitedMS: 5001, Cycle: true, Features: []string{"cpu: low"}, Signature: "00ff", Evidence: []string{digest},
		Threads: []ANRThread{
			{Name: "main", State: "Blocked", Kind: WaitLock, WaitsFor: "lock of Store", Stack: []string{"Store.read", "Inbox.open"}, Tells: 1},
			{Name: "sync", Process: "com.example.store", Kind: WaitBinder, Next: 1, Critical: true},
		},
	}}
	r.Tasks = &Tasks{
		Source: "perfetto", Tells: []string{TellsContexts}, Units: []TaskUnit{{Name: "AsyncTask", Kind: AsyncTask, Capacity: 1}},
		Groups: []TaskGroup{{
			Name: "LoadTask", Event: "tap: open", Unit: 0, Context: []string{"Inbox.load", "Inbox.open"}, Scheduled: 12, Started: 11, Done: 10, Cancelled: 1,
			Queued: Spread{Count: 11, MeanMS: 640, QuantilesMS: []float64{0, 500, 1650}}, Ran: times, QueueMean: 1.5, QueueMax: 3,
			WaitedFor:   []TasksAhead{{Group: 0, Tasks: 9, RanMS: 2.5}},
			Repetitions: []int{5, 7}, QueuedMaxMS: []float64{510, 1650}, RanMaxMS: []float64{3, 4}, Obsolete: 1, Superseded: 2,
			Late: &LateTasks{OverMS: 500, Tasks: 9, QueueMean: 2, AheadRanMS: 2.5, WaitedFor: []TasksAhead{{Group: 0, Tasks: 8, RanMS: 2.5}}},
			Longest: []SlowTask{{
				Repetition: 2, AtMS: 12_000, DelayMS: 10, QueuedMS: 1650, RanMS: 3, Sender: "main", Thread: "AsyncTask #1", EventMS: 11_900,
				Path:  []TaskStep{{Kind: WaitLock, Does: WaitIO, What: "db-writer at Store.write", Thread: "db-writer", Process: "com.example.db", FromMS: 13_660, ToMS: 13_663}},
				Ahead: []TaskRun{{Group: 0, FromMS: 12_000, ToMS: 13_000, Thread: "AsyncTask #1", Path: []TaskStep{{Kind: WaitRunning, FromMS: 12_000, ToMS: 12_500}}}, {Group: -1, FromMS: 13_000, ToMS: 13_650}},
			}},
		}},
		LeftOut: 1,
	}
	r.MethodTraces = &MethodTraces{
		Source: "art", Clock: WallClock,
		Windows: []TraceWindow{{Repetition: 1, Event: "tap: open", FromMS: 12_000, ToMS: 13_000, Why: "a frame took 820 ms", Calls: 900, Lost: 4, Evidence: digest}},
		List:    []TracedMethod{{Name: "Inbox.open", File: "Inbox.kt", Thread: "main", Event: "tap: open", Calls: 3, SelfMS: 12, TotalMS: 812, LongestMS: 700}},
		Chains:  []CallChain{{Repetition: 1, Event: "tap: open", Thread: "main", AtMS: 12_001, Methods: []string{"Inbox.open", "Store.read"}, MS: []float64{700, 690}}},
		LeftOut: 7,
		Tree: []TracedCall{
			{Parent: -1, Name: "Inbox.open", Thread: "main", Event: "tap: open", Repetitions: []int{3, 0}, RepetitionsMS: []float64{812, 0}},
			{Parent: 0, Name: "Store.read", Repetitions: []int{3}, RepetitionsMS: []float64{800}},
		},
		TreeLeftOutMS: 0.25,
	}
	return r
}

func TestSectionsSurviveTheCodec(t *testing.T) {
	data, err := Encode(fullRun())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullRun(), got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

// Sections only explain: a summary is the same without them.
func TestSummariesIgnoreSections(t *testing.T) {
	with, without := fullRun(), fullRun()
	without.Frames, without.ANRs, without.Tasks, without.MethodTraces, without.Evidence, without.Energy = nil, nil, nil, nil, nil, nil
	if diff := cmp.Diff(Summarize(without, Median, metric.Default()).Cells.Map(), Summarize(with, Median, metric.Default()).Cells.Map()); diff != "" {
		t.Errorf("(-without +with)\n%s", diff)
	}
}

// The record was encoded when energy was the only section. Its id is the beginning of its digest,
// which is that of the line without the id.
func TestOldRecordKeepsItsDigest(t *testing.T) {
	line, err := os.ReadFile("testdata/simulated-phone.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if r.Energy == nil || r.Energy.Methods == nil || len(r.Iterations) != 2 || len(r.Iterations[1].Events) == 0 {
		t.Errorf("read: energy %v, %d iterations", r.Energy, len(r.Iterations))
	}
	sum := sha256.Sum256(bytes.Replace(line, []byte(`"id":"`+r.ID+`",`), nil, 1))
	want := hex.EncodeToString(sum[:])
	if got, err := r.Digest(); got != want || !strings.HasPrefix(want, r.ID) {
		t.Errorf("digest %s, %v; want %s, which begins with the id %s", got, err, want, r.ID)
	}
	if again, err := Encode(r); err != nil || !bytes.Equal(again, line) {
		t.Errorf("written again it is another text: %v\n%s", err, again)
	}
}

// Fields added to this section are left out where they are empty.
func TestOldFramesKeepTheirText(t *testing.T) {
	line := `{"format":"apkgate.run/1","app":{"package":"com.example.mail"},"scenario":"open","context":{"sdk":"17"},"status":"complete","warnings":[],` +
		`"iterations":[{"metrics":{"frames.count":100}}],"frames":{"source":"frametimeline",` +
		`"groups":[{"class":"slow","frames":1,"stages":[{"name":"draw","thread":"main","count":1,"mean_ms":9,"quantiles_ms":[9]}]}],` +
		`"worst":[{"repetition":1,"at_ms":5,"duration_ms":20,"waits":[{"name":"io","ms":3,"critical_ms":2}]}],"left_out":1}}` + "\n"
	r, err := Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Encode(r); err != nil || string(again) != line {
		t.Errorf("written again it is another text: %v\n%s", err, again)
	}
}

// A later apkgate may add sections, fields, and words that this one does not know.
func TestLaterRecordOpens(t *testing.T) {
	data, err := os.ReadFile("testdata/later-sections.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if r.Iterations[0].Metrics["frames.count"] != 100 || r.Frames.Groups[0].Stages[0].MeanMS != 2.5 || r.ANRs[0].Kind != "voice" || r.Evidence[0].Bytes != 3 {
		t.Errorf("read %+v", r)
	}
	if _, err := Encode(r); err != nil {
		t.Errorf("written again: %v", err)
	}
}

func TestInvalidSections(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		want   string
	}{
		"frames of nowhere":    {func(r *Run) { r.Frames.Source = "" }, `frames.source is ""`},
		"a class with a blank": {func(r *Run) { r.Frames.Groups[1].Class = "very slow" }, `frames.groups[1].class is "very slow"`},
		"fewer than no frames": {func(r *Run) { r.Frames.Groups[0].Frames = -1 }, "frames.groups[0].frames is -1"},
		"falling quantiles":    {func(r *Run) { r.Frames.Groups[0].Stages[0].QuantilesMS = []float64{2, 1} }, "quantiles_ms falls from 2 to 1"},
		"endless quantile":     {func(r *Run) { r.Frames.Groups[0].Stages[0].QuantilesMS = []float64{math.NaN()} }, "quantiles_ms has the amount NaN"},
		"many stages":          {func(r *Run) { r.Frames.Groups[0].Stages = make([]FramePart, 25) }, "stages has 25 entries, at most 24"},
		"frame of nothing":     {func(r *Run) { r.Frames.Worst[0].Repetition = 0 }, "frames.worst[0].repetition is 0"},
		"negative stage":       {func(r *Run) { r.Frames.Worst[0].Stages[0].MS = -1 }, "frames.worst[0].stages or waits: ms or critical_ms has the amount -1"},
		"a stage of a blank":   {func(r *Run) { r.Frames.Groups[1].Path[0].Stage = "big pass" }, `frames.groups[1].stages, waits or path: stage is "big pass"`},
		"many parts of a path": {func(r *Run) { r.Frames.Groups[1].Path = make([]FramePart, 65) }, "frames.groups[1].path has 65 entries, at most 64"},
		"many parts of paths": {func(r *Run) {
			r.Frames.Groups = slices.Repeat([]FrameGroup{{Class: SlowFrames, Path: slices.Repeat(r.Frames.Groups[1].Path, 64)}}, 47)
		}, "frames.path of all groups has 3008 entries, at most 3000"},
		"endless repetitions":  {func(r *Run) { r.Frames.Groups[1].Repetitions = make([]int, 17) }, "frames.groups[1].repetitions has 17 entries, at most 16"},
		"a repetition of less": {func(r *Run) { r.Frames.Groups[1].Repetitions = []int{1, -1} }, "frames.groups[1].repetitions is -1"},
		"times of no repetition": {func(r *Run) {
			r.Frames.Groups[1].Repetitions, r.Frames.Groups[1].Path[0].RepetitionsMS = []int{1}, []float64{1, 2}
		}, "repetitions_ms has 2 entries, at most 1"},
		"a repetition of no number": {func(r *Run) {
			r.Frames.Groups[1].Repetitions, r.Frames.Groups[1].Path[0].RepetitionsMS = []int{1}, []float64{math.NaN()}
		}, "repetitions_ms has the amount NaN"},
		"negative times":        {func(r *Run) { r.Frames.Groups[1].Took.MeanMS = -1 }, "frames.groups[1].took: mean_ms or quantiles_ms has the amount -1"},
		"more than all":         {func(r *Run) { r.Frames.Groups[1].CPU.LittleShare = new(1.5) }, "frames.groups[1].cpu.little_share is 1.5, want 0 to 1"},
		"a share of no number":  {func(r *Run) { r.Frames.Worst[0].CPU = &FrameCPU{FrequencyShare: new(math.NaN())} }, "frames.worst[0].cpu.frequency_share is NaN"},
		"fewer than none":       {func(r *Run) { r.Frames.Worst[0].CPU = &FrameCPU{Saturated: -1} }, "frames.worst[0].cpu.saturated is -1"},
		"a step of no kind":     {func(r *Run) { r.Frames.Worst[0].Path[0].Kind = "" }, `frames.worst[0].path[0].kind is ""`},
		"a step that does much": {func(r *Run) { r.Frames.Worst[0].Path[1].Does = "Much" }, `frames.worst[0].path[1].does or stage is "Much"`},
		"a step backwards":      {func(r *Run) { r.Frames.Worst[0].Path[0].ToMS = -1 }, "frames.worst[0].path[0].from_ms is -0.5 and to_ms -1"},
		"a step of no number":   {func(r *Run) { r.Frames.Worst[0].Path[0].FromMS = math.NaN() }, "frames.worst[0].path[0].from_ms is NaN"},
		"a step's bytes":        {func(r *Run) { r.Frames.Worst[0].Path[0].Slice = "\xff" }, "frames.worst[0].path[0].thread, process, what or slice is not valid UTF-8"},
		"many steps":            {func(r *Run) { r.Frames.Usual[0].Path = make([]PathStep, 201) }, "frames.usual[0].path has 201 entries, at most 200"},
		"many steps of frames": {func(r *Run) {
			r.Frames.Worst = slices.Repeat([]LateFrame{{Repetition: 1, Path: slices.Repeat(r.Frames.Worst[0].Path, 100)}}, 51)
		}, "frames.path of all frames has 10201 entries, at most 10000"},
		"many usual frames":      {func(r *Run) { r.Frames.Usual = make([]LateFrame, 101) }, "frames.usual has 101 entries, at most 100"},
		"many screens":           {func(r *Run) { r.Frames.Views = make([]Views, 51) }, "frames.views has 51 entries, at most 50"},
		"fewer than no views":    {func(r *Run) { r.Frames.Views[0].Depth = -1 }, "frames.views[0].count, depth or left_out is -1"},
		"drawn less than never":  {func(r *Run) { r.Frames.Views[0].Overdraw = -1 }, "frames.views[0].overdraw has the amount -1"},
		"many hidden views":      {func(r *Run) { r.Frames.Views[0].Hidden = make([]HiddenView, 51) }, "frames.views[0].hidden has 51 entries, at most 50"},
		"larger than the window": {func(r *Run) { r.Frames.Views[0].Hidden[0].AreaShare = 2 }, "frames.views[0].hidden[0].area_share is 2, want 0 to 1"},
		"no digest":              {func(r *Run) { r.Frames.Worst[0].Evidence = "../trace" }, `frames.worst[0].evidence is "../trace"`},
		"ANR of no kind":         {func(r *Run) { r.ANRs[0].Kind = "" }, `anrs[0].kind is ""`},
		"many ANRs":              {func(r *Run) { r.ANRs = make([]ANR, MaxANRs+1) }, "anrs has 101 entries, at most 100"},
		"a deep stack":           {func(r *Run) { r.ANRs[0].Threads[0].Stack = make([]string, MaxStack+1) }, "anrs[0].threads[0].stack has 129 entries"},
		"a wait of two words":    {func(r *Run) { r.ANRs[0].Threads[0].Kind = "a lock" }, `anrs[0].threads[0].kind is "a lock"`},
		"a wait for no thread":   {func(r *Run) { r.ANRs[0].Threads[1].Next = 3 }, `anrs[0].threads[1].next is 3, want 1 to 2`},
		"a line of no stack":     {func(r *Run) { r.ANRs[0].Threads[0].Tells = 3 }, `anrs[0].threads[0].tells is 3, want 1 to 2`},
		"a line before a stack":  {func(r *Run) { r.ANRs[0].Threads[0].Tells = -1 }, `anrs[0].threads[0].tells is -1`},
		"a wait for before":      {func(r *Run) { r.ANRs[0].Threads[1].Next = -1 }, `anrs[0].threads[1].next is -1`},
		"a signature of words":   {func(r *Run) { r.ANRs[0].Signature = "abc xyz" }, `anrs[0].signature is "abc xyz"`},
		"no digest of an ANR":    {func(r *Run) { r.ANRs[0].Evidence = []string{"x"} }, `anrs[0].evidence is "x"`},
		"no such unit":           {func(r *Run) { r.Tasks.Groups[0].Unit = 1 }, "tasks.groups[0].unit is 1, want the place of one of 1 units"},
		"no such group":          {func(r *Run) { r.Tasks.Groups[0].WaitedFor[0].Group = -1 }, "tasks.groups[0].waited_for[0].group is -1"},
		"negative queue":         {func(r *Run) { r.Tasks.Groups[0].Queued.MeanMS = -1 }, "tasks.groups[0].queued.mean_ms or quantiles_ms has the amount -1"},
		"what a source tells":    {func(r *Run) { r.Tasks.Tells = []string{"Stacks!"} }, "tasks.tells is \"Stacks!\""},
		"task of no repetition":  {func(r *Run) { r.Tasks.Groups[0].Repetitions = []int{5} }, "tasks.groups[0].queued_max_ms has 2 entries, at most 1"},
		"obsolete, less than 0":  {func(r *Run) { r.Tasks.Groups[0].Obsolete = -1 }, "tasks.groups[0].obsolete or superseded is -1"},
		"late for no group":      {func(r *Run) { r.Tasks.Groups[0].Late.WaitedFor[0].Group = 1 }, "tasks.groups[0].late.waited_for[0].group is 1"},
		"late without end":       {func(r *Run) { r.Tasks.Groups[0].Late.QueueMean = math.Inf(1) }, "tasks.groups[0].late.over_ms, queue_mean or ahead_ran_ms has the amount +Inf"},
		"a task before time":     {func(r *Run) { r.Tasks.Groups[0].Longest[0].AtMS = -1 }, "tasks.groups[0].longest[0].at_ms, delay_ms, queued_ms, ran_ms or event_ms has the amount -1"},
		"ahead of no group":      {func(r *Run) { r.Tasks.Groups[0].Longest[0].Ahead[1].Group = -2 }, "tasks.groups[0].longest[0].ahead[1].group is -2, want the place of one of 1 groups, or -1"},
		"too many ahead":         {func(r *Run) { r.Tasks.Groups[0].Longest[0].Ahead = make([]TaskRun, 51) }, "tasks.groups[0].longest[0].ahead has 51 entries, at most 50"},
		"too many parts":         {func(r *Run) { r.Tasks.Groups[0].Longest[0].Path = make([]TaskStep, 9) }, "tasks.groups[0].longest[0].path has 9 entries, at most 8"},
		"a part backwards":       {func(r *Run) { r.Tasks.Groups[0].Longest[0].Ahead[0].Path[0].ToMS = 11_999 }, "tasks.groups[0].longest[0].ahead[0].path[0] is from 12000 to 11999 ms"},
		"a part of no kind":      {func(r *Run) { r.Tasks.Groups[0].Longest[0].Path[0].Kind = "" }, "tasks.groups[0].longest[0].path[0].kind"},
		"less than no task":      {func(r *Run) { r.Tasks.Groups[0].Started = -1 }, "tasks.groups[0].scheduled, started, done, cancelled or queue_max is -1"},
		"no clock":               {func(r *Run) { r.MethodTraces.Clock = "" }, `method_traces.clock is ""`},
		"a window backwards":     {func(r *Run) { r.MethodTraces.Windows[0].ToMS = 1 }, "method_traces.windows[0].to_ms is 1, before from_ms, 12000"},
		"a call before itself":   {func(r *Run) { r.MethodTraces.Tree[1].Parent = 1 }, "method_traces.tree[1].parent is 1, want -1 or the place of an earlier call"},
		"calls below none":       {func(r *Run) { r.MethodTraces.Tree[0].Repetitions[1] = -1 }, "method_traces.tree[0].repetitions is -1, want 0 or more"},
		"17 repetitions":         {func(r *Run) { r.MethodTraces.Tree[0].RepetitionsMS = make([]float64, 17) }, "method_traces.tree[0].repetitions_ms has 17 entries, at most 16 are allowed"},
		"times without names":    {func(r *Run) { r.MethodTraces.Chains[0].MS = []float64{1} }, "method_traces.chains[0].ms has 1 times for 2 methods"},
		"a method's bytes":       {func(r *Run) { r.MethodTraces.List[0].Name = "\xff" }, "method_traces.list[0].name, file, thread or event is not valid UTF-8"},
	} {
		r := fullRun()
		c.change(&r)
		if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, c.want)
		}
	}
}

// Quantiles may be a part of a longer list, whose other numbers stay as they are.
func TestValidatingChangesNothing(t *testing.T) {
	numbers := []float64{1, 2, 3}
	r := fullRun()
	r.Frames.Groups[0].Stages[0].Spread = Spread{Count: 2, MeanMS: 1.5, QuantilesMS: numbers[:2]}
	if _, err := Encode(r); err != nil {
		t.Fatal(err)
	}
	if numbers[2] != 3 {
		t.Errorf("the number behind the quantiles became %g", numbers[2])
	}
}

func TestNullInSectionIsRejected(t *testing.T) {
	for name, c := range map[string][2]string{
		"frames":        {`"duration_ms":820`, `"duration_ms":null`},
		"anrs":          {`"pid":4321`, `"pid":null`},
		"tasks":         {`"capacity":1`, `"capacity":null`},
		"method_traces": {`"self_ms":12`, `"self_ms":null`},
	} {
		data, err := Encode(fullRun())
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte(c[0]), []byte(c[1]), 1)
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), name+" has a null") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A short text may take much memory when decoded: it is counted first, however its name is encoded.
func TestSectionsAreLimitedBeforeDecoding(t *testing.T) {
	many := strings.Repeat(`{},`, 3_000_000) + `{}`
	for member, want := range map[string]string{
		`"iterations":[` + many + `]`:             "iterations has more than 10000 entries",
		`"evidence":[` + many + `]`:               "evidence has more than 200 entries",
		`"Evidence":[` + many + `]`:               "evidence has more than 200 entries",
		`"\u0065vidence":[` + many + `]`:          "evidence has more than 200 entries",
		`"anrs":[{"threads":[` + many + `]}]`:     "anrs has more than 750000 values",
		`"tasks" : {"groups":[` + many + `]}`:     "tasks has more than 750000 values",
		`"frames":{"worst":[` + many + `]}`:       "frames has more than 750000 values",
		`"method_traces":{"list":[` + many + `]}`: "method_traces has more than 750000 values",
	} {
		text := []byte(`{"format":"apkgate.run/1","a \"text\": {,":[1,{},","],` + member + `}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(text)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %q", member, err, want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%.30s: refusing it took %d bytes of memory", member, took)
		}
	}
}

// Each section is limited and checked for nulls.
func TestEachSectionIsGuarded(t *testing.T) {
	raw := reflect.TypeFor[rawSections]()
	record := reflect.TypeFor[Run]()
	for i := range record.NumField() {
		field := record.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := field.Type.Kind()
		if name == "declared" || name == "warnings" || name == "iterations" || kind != reflect.Pointer && kind != reflect.Slice {
			continue
		}
		if boundOf([]byte(`"`+name+`"`)).values == 0 {
			t.Errorf("section %s has no bound in outline.go", name)
		}
		if f, ok := raw.FieldByName(field.Name); !ok || f.Tag.Get("json") != name {
			t.Errorf("nulls in section %s are not looked for", name)
		}
	}
}

// The contents of an unknown section are not limited here.
func TestUnknownSectionsAreNotCounted(t *testing.T) {
	text := strings.Replace(example, `"status"`, `"later":[`+strings.Repeat(`{},`, 600_000)+`{}],"status"`, 1)
	if _, err := Decode([]byte(text)); err != nil {
		t.Error(err)
	}
}

// An import reads as many runs at a time as fit into memory: what a section contains counts.
func TestNumbersCountSections(t *testing.T) {
	for name, c := range map[string]struct {
		run  Run
		want int
	}{
		"nothing":    {Run{}, 0},
		"two totals": {Run{Iterations: []Iteration{{Metrics: map[string]float64{"a": 1, "b": 2}}}}, 2},
		"two frames in a bucket of one number": {Run{Iterations: []Iteration{
			{Frames: make([]Frame, 2), Events: []Bucket{{Name: "tap", Metrics: map[string]float64{"a": 1}}}},
		}}, 4},
		"energy without methods": {Run{Energy: &Energy{}}, 0},
		"three methods, a call":  {Run{Energy: &Energy{Methods: &Methods{List: make([]Method, 3), Calls: make([]Call, 1)}}}, 4},
		"late frames":            {Run{Frames: &Frames{Worst: []LateFrame{{Stages: make([]FrameTime, 2), Waits: make([]FrameTime, 1)}, {}}}}, 5},
		"a path, and a screen":   {Run{Frames: &Frames{Usual: []LateFrame{{Path: make([]PathStep, 3)}}, Views: []Views{{Hidden: make([]HiddenView, 2)}}}}, 7},
		"what paths are made of": {Run{Frames: &Frames{Groups: []FrameGroup{{Path: make([]FramePart, 2)}}}}, 1 + 2*MaxQuantiles},
		"frames alike":           {Run{Frames: &Frames{Groups: []FrameGroup{{Stages: make([]FramePart, 1), Waits: make([]FramePart, 1)}}}}, 1 + 2*MaxQuantiles},
		"tasks alike":            {Run{Tasks: &Tasks{Groups: []TaskGroup{{Context: make([]string, 3)}}}}, 1 + 3 + 2*MaxQuantiles},
		"traced methods":         {Run{MethodTraces: &MethodTraces{List: make([]TracedMethod, 4), Windows: make([]TraceWindow, 1)}}, 5},
		"a tree of calls":        {Run{MethodTraces: &MethodTraces{Tree: []TracedCall{{}, {Repetitions: make([]int, 2), RepetitionsMS: make([]float64, 3)}}}}, 7},
		"what did not respond":   {Run{ANRs: []ANR{{Features: make([]string, 2), Threads: make([]ANRThread, 1)}}}, 3 + MaxStack},
	} {
		if got := c.run.Numbers(); got != c.want {
			t.Errorf("%s: %d numbers, want %d", name, got, c.want)
		}
	}
}

// A record that is short as text and long in memory is rejected before it is decoded.
func TestRecordOutlineIsLimited(t *testing.T) {
	zeros := func(n int) string { return strings.TrimSuffix(strings.Repeat("0,", n), ",") }
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"as many files as may be":     {`{"evidence":[` + zeros(MaxEvidence) + `]}`, true},
		"one more":                    {`{"evidence":[` + zeros(MaxEvidence+1) + `]}`, false},
		"many values of few files":    {`{"evidence":[{"a":[` + zeros(MaxEvidence+1) + `]},0]}`, true},
		"another list before":         {`{"declared":[` + zeros(MaxEvidence) + `],"evidence":[0,0]}`, true},
		"commas and names in a text":  {`{"evidence":["` + zeros(MaxEvidence+1) + `:\"{,"]}`, true},
		"more values than a section":  {`{"frames":{"a":[` + zeros(maxSectionValues+1) + `]}}`, false},
		"as many of what is no part":  {`{"x":{"a":[` + zeros(maxSectionValues+1) + `]}}`, true},
		"as many in two sections":     {`{"frames":[` + zeros(maxSectionValues/2) + `],"tasks":[` + zeros(maxSectionValues*3/4) + `]}`, true},
		"a list as deep as it may be": {`[[[[0]]]]`, true},
		"one that is deeper":          {`[[[[[0]]]]]`, false},
	} {
		if err := checkOutline([]byte(c.text), 4); (err == nil) != c.ok {
			t.Errorf("%s: %v, want it taken: %t", name, err, c.ok)
		}
	}
}

// Small objects after one with many names cost no more than before it: a large set is dropped
// instead of cleared for each of them.
func TestNamesOfLargeObjectAreDropped(t *testing.T) {
	var many strings.Builder
	n := newNames(1)
	n.begin(1)
	for i := range mostCleared + 1 {
		n.has(1, fmt.Appendf(nil, `"%d"`, i))
		fmt.Fprintf(&many, `"%d":1,`, i)
	}
	if n.begin(1); n.seen[1] != nil {
		t.Errorf("the set of an object with %d names is cleared and used again", mostCleared+1)
	}
	for tail, ok := range map[string]bool{`{"0":1}`: true, `{"0":1},{"0":2}`: true, `{"0":1,"0":2}`: false} {
		text := `{"x":[{` + many.String() + `"last":1},` + tail + `]}`
		if err := checkOutline([]byte(text), 4); (err == nil) != ok {
			t.Errorf("behind a large object %s: %v, want it taken: %t", tail, err, ok)
		}
	}
}
