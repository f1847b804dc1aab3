package queueing

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// quickened are findings that an event, and a task in it, got faster.
var quickened = []diagnose.Finding{{Event: "open", Metric: "app.shown_ms", Direction: gate.ToImprovement}, {Event: "open", Metric: waited, Direction: gate.ToImprovement}}

// Figures 11 and 12 of DiagDroid: how long tasks waited before and after a fix, drawn for what got
// worse and for what got better.
func TestDelaysBeforeAndAfterAFix(t *testing.T) {
	picture, sync := of("Picture", 0, 1_600, 200), of("Sync", 0, 0, 1_650)
	waits, ran := of("Picture", 0, 2, 200).Queued, flat(5, 1_650)
	serially := recordedRun("serially", 1_810, []run.TaskUnit{serial, wide}, late(picture, 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), sync, background())
	for name, c := range map[string]struct {
		slow, fast      run.Run
		kind            string
		title, sentence string
		of              string
		delay           diagnose.Delay // of what got worse
	}{
		"a queue of one": {
			slow: serially, fast: recordedRun("fast", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 1_650), background()),
			kind: SequentialKind, title: "How long Picture waits", of: "queuing time", sentence: "Picture waits up to 2.08ms (before: 1664ms in AsyncTask)",
			delay: diagnose.Delay{Name: "Picture", Base: run.Spread{Count: 5, MeanMS: 2.04, QuantilesMS: waits.QuantilesMS}, Head: picture.Queued, Direction: gate.ToRegression},
		},
		"a longer task ahead": {
			slow: serially, fast: recordedRun("fast", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 0, 0, 50), background()),
			kind: LongKind, title: "How long Sync runs", of: "running time", sentence: "Sync runs for up to 50ms (before: 1650ms)",
			delay: diagnose.Delay{Name: "Sync", Base: run.Spread{Count: 5, MeanMS: 50, QuantilesMS: []float64{50, 50, 50}}, Head: ran, Direction: gate.ToRegression},
		},
		"a longer task": {
			slow: recordedRun("slow", 1_810, []run.TaskUnit{serial, wide}, of("Picture", 1, 0, 1_800), background()),
			fast: recordedRun("fast", 210, []run.TaskUnit{serial, wide}, of("Picture", 1, 0, 200), background()),
			kind: LongKind, title: "How long Picture runs", of: "running time", sentence: "Picture runs for up to 200ms (before: 1800ms)",
			delay: diagnose.Delay{Name: "Picture", Base: run.Spread{Count: 5, MeanMS: 200, QuantilesMS: []float64{200, 200, 200}}, Head: flat(5, 1_800), Direction: gate.ToRegression},
		},
	} {
		t.Run(name, func(t *testing.T) {
			worse := only(t, Explain(c.slow, []run.Run{c.fast}, shown))
			want := diagnose.Picture{Kind: diagnose.DelaysPicture, Title: c.title, Label: c.title, Delays: &diagnose.Delays{Of: c.of, OverMS: 500, List: []diagnose.Delay{c.delay}}}
			if diff := cmp.Diff(&want, worse.FurtherPicture); diff != "" {
				t.Errorf("of what got worse (-want +got):\n%s", diff)
			}
			better := only(t, Explain(c.fast, []run.Run{c.slow}, quickened))
			if better.Kind != c.kind || better.Direction != gate.ToImprovement || better.Run != "fast" || better.Event != "open" || better.Metric != "app.shown_ms" || better.Scenario != "open" || *better.Explains.Value > -150 {
				t.Errorf("what got better is %+v", better)
			}
			if said(better.Sentence) != c.sentence {
				t.Errorf("%q, want %q", said(better.Sentence), c.sentence)
			}
			want.Delays.List[0].Base, want.Delays.List[0].Head, want.Delays.List[0].Direction = c.delay.Head, c.delay.Base, gate.ToImprovement
			if diff := cmp.Diff(&want, better.Picture); diff != "" {
				t.Errorf("of what got better (-want +got):\n%s", diff)
			}
			if both := only(t, Explain(c.slow, []run.Run{c.fast}, slices.Concat(quickened, shown))); both.Direction != gate.ToRegression {
				t.Errorf("beside a regression %s is named", said(both.Sentence))
			}
			again := c.slow
			again.ID = "again"
			for name, got := range map[string][]diagnose.Cause{
				"nothing changed": Explain(again, []run.Run{c.slow}, quickened), "no earlier run": Explain(c.fast, nil, quickened), "a metric that no queue explains": Explain(c.fast, []run.Run{c.slow}, []diagnose.Finding{{Event: "open", Metric: "cpu.time_ms", Direction: gate.ToImprovement}}),
			} {
				if len(got) != 0 {
					t.Errorf("%s: %s", name, said(got[0].Sentence))
				}
			}
		})
	}
}

// The times of several runs before are put together.
func TestDelaysOfSeveralRunsBefore(t *testing.T) {
	slow := recordedRun("slow", 1_810, []run.TaskUnit{serial, wide}, late(of("Picture", 0, 1_600, 200), 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), of("Sync", 0, 0, 1_650), background())
	var base []run.Run
	for _, waits := range []float64{100, 10} {
		base = append(base, recordedRun("fast", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, waits, 200), of("Sync", 1, 0, 1_650), background()))
	}
	got := only(t, Explain(slow, base, shown)).FurtherPicture.Delays.List[0].Base
	if got.Count != 10 || !slices.Equal(got.QuantilesMS, []float64{10, 10.2, 10.4, 100, 102, 104}) {
		t.Errorf("%+v", got)
	}
}
