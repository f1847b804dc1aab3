package farms

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
)

// eachBuild is the number of traces of each build that are read to explain a regression: four of
// each show a cause in more than one repetition, and distinguish it from chance (see package
// explanation).
const eachBuild = 4

// Explained adds to a verdict the causes from the traces that its Macrobenchmarks have left on the
// farm, within the time limit; 0 fetches none. It only changes causes and notes. A nil Lab adds
// nothing.
func (l *Lab) Explained(ctx context.Context, in layout.Input, within time.Duration) layout.Input {
	if l == nil {
		return in
	}
	causes, notes := l.explain(ctx, judging.RegressedIn(in), within)
	in.Causes, in.Notes = judging.Replaced(in.Causes, causes), slices.Concat(in.Notes, notes)
	return in
}

// Explained does the same for a comparison.
func (p Pair) Explained(ctx context.Context, in layout.ComparisonInput, within time.Duration) layout.ComparisonInput {
	causes, notes := p.site.explain(ctx, judging.RegressedBuild(in, p.Head), within)
	in.Causes, in.Notes = judging.Replaced(in.Causes, causes), slices.Concat(in.Notes, notes)
	return in
}

// explain reads traces for regressions of frames that are not explained yet.
func (s *site) explain(ctx context.Context, all []judging.Regressed, within time.Duration) (causes []diagnose.Cause, notes []string) {
	if within <= 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for _, r := range all {
		if !r.Frames {
			continue
		}
		found, note := s.one(ctx, r)
		causes, notes = append(causes, found...), append(notes, note)
	}
	return causes, notes
}

// one explains one scenario on one kind of phone.
func (s *site) one(ctx context.Context, r judging.Regressed) ([]diagnose.Cause, string) {
	scenario, _, _ := strings.Cut(r.Scenario, "/")
	if slices.ContainsFunc(s.config.Scenarios, func(known config.Scenario) bool { return known.Name == r.Scenario }) {
		scenario = r.Scenario
	}
	on := farm.Device{Model: r.Context[modelProperty], Version: r.Context[versionProperty]}
	sides := s.lying(where{scenario, on})
	if len(sides[1]) == 0 {
		return nil, fmt.Sprintf("Nothing explains what got worse in %s on %v: the Macrobenchmark has left no traces on %s.", prose.Short(r.Scenario), on, s.farm.Title())
	}
	s.say("fetching traces of %s on %v to explain what got worse; they judge nothing", r.Scenario, on)
	var read [2]readTraces
	left := 0
	for side := range read {
		traces := ofClass(sides[side], r.Scenario)
		left += len(traces)
		s.readSome(ctx, &read[side], traces, r)
		left -= read[side].got
	}
	why := cmp.Or(read[0].why, read[1].why)
	if why != nil {
		s.say("warning: not all traces of %s on %v could be fetched: %v", r.Scenario, on, why)
	}
	found := causesOf(r, s.config.App.Package, &read)
	return found, s.noted(r, on, &read, len(found), left, why)
}

// lying returns the traces of the base and of the head, only the head's if there were no rounds.
func (s *site) lying(at where) (sides [2][]farm.Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := s.traces[at]
	if there == nil {
		return sides
	}
	if sides[0], sides[1] = there.sides[0], there.sides[1]; len(sides[1]) == 0 {
		sides[1] = there.sides[inRun]
	}
	return sides
}

// readSome reads as many traces of a build as needed to explain it, each of a different matrix if
// possible.
func (s *site) readSome(ctx context.Context, into *readTraces, traces []farm.Trace, r judging.Regressed) {
	var events []run.Bucket
	for _, f := range r.Found {
		if f.Event != "" && !slices.ContainsFunc(events, func(b run.Bucket) bool { return b.Name == f.Event }) {
			events = append(events, run.Bucket{Name: f.Event})
		}
	}
	for _, t := range traces {
		if into.got == eachBuild || into.why != nil {
			return
		}
		into.why = s.fetch(ctx, t, func(file *os.File) error {
			return into.add(file, s.config.App.Package, into.got+1, "", eventOf(t, events))
		})
	}
}

// causesOf returns the causes of regressions from the traces of both builds, or from the head's
// alone if there are none of the base's.
func causesOf(r judging.Regressed, app string, read *[2]readTraces) []diagnose.Cause {
	var sides [2]run.Run
	for side := range sides {
		sides[side] = run.Run{App: run.App{Package: app}, Scenario: r.Scenario, Session: "rounds", Context: r.Context, Frames: read[side].frames.Frames()}
	}
	sides[1].ID = r.Run
	var base []run.Run
	if sides[0].Frames != nil {
		base = append(base, sides[0])
	}
	return jankcause.Explain(sides[1], base, r.Found)
}

// noted returns the report's note on the traces.
func (s *site) noted(r judging.Regressed, on farm.Device, read *[2]readTraces, causes, left int, why error) string {
	text := fmt.Sprintf("%s of the base build and %d of the head, which the Macrobenchmark of %s recorded on %v,", prose.Count(read[0].got, "trace", "traces"), read[1].got, prose.Short(r.Scenario), on)
	switch {
	case read[1].got == 0:
		text = fmt.Sprintf("No trace of %s on %v was available to explain it.", prose.Short(r.Scenario), on)
	case causes == 0:
		text += " show no clear cause."
	default:
		text += " show the causes that are given; they judge nothing."
	}
	if left > 0 {
		text += fmt.Sprintf(" %s still on %s.", prose.Count(left, "that was not fetched lies", "that were not fetched lie"), s.farm.Title())
	}
	if why != nil {
		const most = 300 // characters
		text += " Fetching ended with: " + prose.Clip(prose.OneLine(why.Error()), most) + "."
	}
	return text
}
