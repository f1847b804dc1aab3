package farms

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/record"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// The properties of the context that identify the farm and its device, by the farm's own names.
const (
	farmProperty    = "farm"
	modelProperty   = "farm_model"
	versionProperty = "farm_version"
)

// take adds the runs of a round that both builds have.
func (m *measuring) take(scenario, number int, outcomes [2][]farm.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for device := range m.devices {
		t := target{scenario, device}
		found, err := m.roundOf(t, number, [2]farm.Outcome{outcomes[0][device], outcomes[1][device]})
		if err != nil {
			reason := lostRound(number, err)
			m.lost[t] = append(m.lost[t], reason)
			m.say("warning: %s on %v is incomplete: %s", m.config.Scenarios[scenario].Name, m.devices[device], reason)
		}
		for p, r := range found {
			m.whole[p] = append(m.whole[p], r)
		}
		if len(found) > 0 {
			for side := range outcomes {
				m.lies(where{m.config.Scenarios[scenario].Name, m.devices[device]}, side, firsts(outcomes[side][device].Traces))
			}
		}
	}
}

// roundOf returns the scenarios of a round on one device that both builds have.
func (m *measuring) roundOf(t target, number int, outcomes [2]farm.Outcome) (map[place]round, error) {
	var runs [2]map[string]run.Run
	var errs []error
	for side, o := range outcomes {
		var err error
		if runs[side], err = m.runs(t, o); err != nil {
			errs = append(errs, fmt.Errorf("the %s build: %w", sides[side], err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	found := map[place]round{}
	for name, base := range runs[0] {
		head, has := runs[1][name]
		if !has {
			errs = append(errs, fmt.Errorf("%s has results of only the base build", prose.Short(name)))
			continue
		}
		if like := devctx.Key(base.Context); like != devctx.Key(head.Context) {
			errs = append(errs, fmt.Errorf("%s: the builds were measured on different phones", prose.Short(name)))
		} else {
			found[place{t, name, like}] = round{number, [2]run.Run{base, head}}
		}
	}
	return found, errors.Join(errs...)
}

// runs returns the runs of a matrix on one device, by the names of their scenarios.
func (m *measuring) runs(t target, o farm.Outcome) (map[string]run.Run, error) {
	if o.Problem != "" {
		return nil, errors.New(o.Problem)
	}
	out := map[string]run.Run{}
	for _, file := range o.Results {
		read, err := importer.Read(file.Name, file.Data, importer.Options{
			Package: m.config.App.Package, Scenario: m.config.Scenarios[t.scenario].Name, Started: m.console.Now(),
			Context: map[string]string{farmProperty: m.farm.Title(), modelProperty: o.Device.Model, versionProperty: o.Device.Version},
		})
		if err != nil {
			return nil, err
		}
		for _, r := range read.Runs {
			switch _, twice := out[r.Scenario]; {
			case twice:
				return nil, fmt.Errorf("%s is in two files of results", prose.Short(r.Scenario))
			case r.Status != run.Complete || len(r.Iterations) == 0:
				return nil, fmt.Errorf("the results of %s are incomplete: %s", prose.Short(r.Scenario), reasons(r.Warnings))
			}
			out[r.Scenario] = r
		}
	}
	return out, nil
}

func reasons(warnings []run.Warning) string {
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.Text)
	}
	return prose.Few(texts, 2)
}

// pair builds runs from the rounds.
func (m *measuring) pair() (Pair, error) {
	p := Pair{site: m.site, Notes: []string{m.note(), m.cost()}}
	where := slices.SortedFunc(maps.Keys(m.whole), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.scenario, b.scenario), cmp.Compare(a.device, b.device), strings.Compare(a.name, b.name), strings.Compare(a.context, b.context))
	})
	for _, at := range where {
		rounds := m.whole[at]
		slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(a.number, b.number) })
		for side, to := range []*[]run.Run{&p.Base, &p.Head} {
			r, err := m.run(at, rounds, side)
			if err != nil {
				return Pair{}, exit.Infrastructure(fmt.Errorf("put the rounds of %s together: %w", prose.Short(at.name), err))
			}
			*to = append(*to, r)
		}
	}
	p.Loss, p.Warnings = m.missing(where), m.leftOut()
	if len(where) == 0 {
		return Pair{}, p.Loss
	}
	return p, nil
}

// run returns a build's run at one place, with an iteration for each round.
func (m *measuring) run(at place, rounds []round, side int) (run.Run, error) {
	r := rounds[0].sides[side]
	r.ID, r.Iterations, r.Declared, r.Turn = "", nil, nil, 0
	r.Session = m.builds.Session + " " + m.devices[at.device].String()
	r.Source = [2]run.Source{m.builds.BaseFrom, m.builds.From}[side]
	r.App.Version, r.App.Build = m.config.App.Version, strings.TrimSpace(m.config.App.Build+" "+sides[side])
	warnings := []run.Warning{{Text: m.note()}}
	for _, reason := range m.lost[at.target] {
		warnings = append(warnings, run.Warning{Text: "left out of both builds: " + reason})
	}
	for _, one := range rounds {
		its := one.sides[side]
		r.Iterations = append(r.Iterations, record.Median(its.Iterations))
		for _, d := range its.Declared {
			if !slices.ContainsFunc(r.Declared, func(known run.Declared) bool { return known.Name == d.Name }) {
				r.Declared = append(r.Declared, d)
			}
		}
		for _, w := range its.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	r.Warnings = warnings
	if err := r.Validate(); err != nil {
		return r, err
	}
	return r.Named()
}

// note returns the report's note on what a farm does not report.
func (m *measuring) note() string {
	text := fmt.Sprintf("Measured on %s: each round's two builds ran at about the same time on two phones of a model, not alternately on one. Which phones, how warm and how full they were, and what else they ran is unknown, so only differences over all rounds count.", m.farm.Title())
	if limited, is := m.farm.(farm.Limited); is {
		text += " " + limited.Missing()
	}
	return text
}

// leftOut returns warnings of the incomplete rounds of each device and scenario.
func (m *measuring) leftOut() (out []run.Warning) {
	for scenario, s := range m.config.Scenarios {
		for device := range m.devices {
			if reasons := m.lost[target{scenario, device}]; len(reasons) > 0 {
				const listed = 5
				text := fmt.Sprintf("scenario %s on %v: %s left out of both builds: %s", prose.Short(s.Name), m.devices[device], prose.Count(len(reasons), "round is", "rounds are"), prose.Few(reasons, listed))
				out = append(out, run.Warning{Text: text})
			}
		}
	}
	return out
}

// missing returns the error of the targets without a complete round, or nil.
func (m *measuring) missing(where []place) error {
	var errs []error
	for scenario := range m.config.Scenarios {
		for device := range m.devices {
			t := target{scenario, device}
			if slices.ContainsFunc(where, func(p place) bool { return p.target == t }) {
				continue
			}
			why := "no round was started"
			if reasons := m.lost[t]; len(reasons) > 0 {
				why = prose.Few(reasons, 2)
			}
			errs = append(errs, fmt.Errorf("%v, scenario %s: no round is complete: %s", m.devices[device], prose.Short(m.config.Scenarios[scenario].Name), why))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return exit.WithStatus(exit.StatusInfrastructure, errors.Join(errs...), exit.HintOf(m.ended))
}
