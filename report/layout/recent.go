package layout

import (
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/run"
)

// MostRecent is how many accepted runs are drawn next to a run that is worse.
const MostRecent = 30

// Recent are the newest accepted runs of a device before a run of it that is worse.
type Recent struct {
	Run      string   // its id
	Cell     run.Cell // the number that got worst
	Accepted []RecentRun
}

// RecentRun is the number of an accepted run.
type RecentRun struct {
	Started time.Time
	Value   float64
}

// Worst returns the number that got worst, with a run that shows it; false where nothing is worse.
func Worst(v gate.Verdict, catalogue *metric.Catalogue) (id string, cell run.Cell, ok bool) {
	for _, r := range v.Runs {
		ok = ok || len(r.Deviations) > 0
	}
	if !ok {
		return "", cell, false
	}
	all := findings(v, catalogue)
	if len(all) == 0 || all[0].Direction != gate.ToRegression {
		return "", cell, false
	}
	f := all[0]
	return f.Hits[0].Run.ID, run.Cell{Event: f.Event, Metric: f.MetricName}, true
}

// recentSection draws the worst number of a run after the accepted ones of its device.
func recentSection(in Input, all []finding) document.Section {
	g := &document.Gallery{Noun: document.Noun{One: "picture", Many: "pictures"}}
	section := document.Section{ID: "recent", Title: document.Everywhere("The last accepted runs"), Body: g}
	if in.Recent == nil || len(in.Recent.Accepted) == 0 {
		return section
	}
	for _, f := range all {
		for _, h := range f.Hits {
			if h.Run.ID != in.Recent.Run || f.Event != in.Recent.Cell.Event || f.MetricName != in.Recent.Cell.Metric {
				continue
			}
			row, nights := figure.CourseRow{}, []time.Time{}
			for i, r := range in.Recent.Accepted {
				row.Points = append(row.Points, figure.CoursePoint{At: i, Value: r.Value})
				nights = append(nights, r.Started)
			}
			row.Marks = []figure.CourseMark{{At: len(nights), Value: h.Comparison.Value, Tone: causes.ToneOf(f.Direction), Label: "this run"}}
			nights = append(nights, in.started(h.Run.ID))
			g.Figures = []document.Figure{{
				ID: "recent0", Caption: f.what() + " on " + device(*h.Run),
				Detail:  "The last " + prose.Count(len(row.Points), "accepted run", "accepted runs") + " of this device, each a dot, and this run.",
				Picture: figure.Course{Title: f.what(), Metric: f.Metric, Nights: nights, Rows: []figure.CourseRow{row}, Each: document.Noun{One: "accepted run", Many: "accepted runs"}},
			}}
			return section
		}
	}
	return section
}

// started returns when a run began, the zero time where that is unknown.
func (in Input) started(id string) time.Time {
	for _, r := range in.Runs {
		if r.ID == id {
			return r.Started
		}
	}
	return time.Time{}
}
