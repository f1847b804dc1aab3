package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// Entry is a line of a session file: the result of a unit. The last line of a unit counts, and a
// complete run is always the last.
type Entry struct {
	// Unit is its key, and Device the name of the device that it was measured on.
	Unit   string `json:"unit"`
	Device string `json:"device,omitempty"`
	// Scenario is the unit's, if there is no run that names it.
	Scenario string `json:"scenario,omitempty"`
	// Run is the record; nil if nothing of it was measured.
	Run *run.Run `json:"-"`
	// Lost is why the run is incomplete; nil if it is complete.
	Lost *Lost `json:"lost,omitempty"`
}

// Lost is why a run is incomplete.
type Lost struct {
	// Cause is whose failure it was: "workload", "configuration" or "infrastructure".
	Cause string `json:"cause"`
	Why   string `json:"why"`
	Hint  string `json:"hint,omitempty"`
	// Repetition is the one in which it was lost, from 1; 0 for none.
	Repetition int `json:"repetition,omitempty"`
}

// entryOf returns what is saved of a result. The run is saved without its id, which follows from
// its content.
func entryOf(key string, r collect.Result) Entry {
	e := Entry{Unit: key, Device: prose.Clip(r.Device, maxText)}
	if r.Run.Status != run.Failed || loss.IsWorkload(r.Err) {
		e.Run = &r.Run
	} else {
		e.Scenario = r.Run.Scenario
	}
	if r.Err == nil {
		return e
	}
	e.Lost = &Lost{Cause: loss.Infrastructure.String(), Why: journal.Line(r.Err.Error()), Hint: journal.Line(exit.HintOf(r.Err))}
	if errors.Is(r.Err, context.Canceled) {
		e.Lost.Why = "it was interrupted"
	}
	if lost := loss.As(r.Err); lost != nil {
		e.Lost.Cause, e.Lost.Repetition = lost.Cause.String(), lost.Repetition
	}
	return e
}

// whole reports whether the unit need not be measured again: the run is complete, or its app or
// test ended it, which the verdict on it reports.
func (e Entry) whole() bool {
	return e.Run != nil && (e.Lost == nil || e.Lost.Cause == loss.Workload.String())
}

// interrupted reports whether the unit was never started, or was given up with the command.
func (e Entry) interrupted(r collect.Result) bool {
	return e.Run == nil && errors.Is(r.Err, context.Canceled)
}

// result returns the unit's result, as when it was measured.
func (e Entry) result() collect.Result {
	r := collect.Result{Device: e.Device, Run: run.Run{Scenario: e.Scenario, Status: run.Failed}}
	if e.Run != nil {
		r.Run = *e.Run
	}
	if e.Lost != nil {
		r.Err = &loss.Error{
			Cause: causeNamed(e.Lost.Cause), Device: e.Device, Phase: journal.Measure, Repetition: e.Lost.Repetition,
			Err: errors.New(e.Lost.Why), Advice: e.Lost.Hint,
		}
	}
	return r
}

func causeNamed(name string) loss.Cause {
	for _, c := range []loss.Cause{loss.Workload, loss.Configuration} {
		if c.String() == name {
			return c
		}
	}
	return loss.Infrastructure
}

// line returns the entry's line, with a newline.
func (e Entry) line() ([]byte, error) {
	line := struct {
		Entry
		Run json.RawMessage `json:"run,omitempty"`
	}{Entry: e}
	if e.Run != nil {
		nameless := *e.Run
		nameless.ID = ""
		record, err := run.Encode(nameless)
		if err != nil {
			return nil, err
		}
		line.Run = record
	}
	data, err := json.Marshal(line)
	if err == nil && len(data) >= maxLine {
		err = fmt.Errorf("it is larger than %d MiB", maxLine>>20)
	}
	return append(data, '\n'), err
}

// decodeEntry parses a line. An error names the field and what is allowed there.
func decodeEntry(data []byte) (Entry, error) {
	var line struct {
		Entry
		Run json.RawMessage `json:"run"`
	}
	if err := json.Unmarshal(data, &line); err != nil {
		return Entry{}, err
	}
	e := line.Entry
	for name, text := range map[string]string{"unit": e.Unit, "device": e.Device, "scenario": e.Scenario} {
		if err := checkText(name, text); err != nil {
			return e, err
		}
	}
	if line.Run != nil {
		record, err := run.Decode(line.Run)
		if err != nil {
			return e, fmt.Errorf("run: %w", err)
		}
		record.ID = ""
		e.Run = &record
	}
	return e, e.check()
}

// check returns what makes the entry unusable.
func (e Entry) check() error {
	if e.Lost == nil {
		if e.Run == nil || e.Run.Status != run.Complete {
			return fmt.Errorf("unit %s has neither a complete run nor why it was lost", prose.Quote(e.Unit, 80))
		}
		return nil
	}
	switch e.Lost.Cause {
	case loss.Workload.String(), loss.Configuration.String(), loss.Infrastructure.String():
	default:
		return fmt.Errorf("lost.cause is %s, want workload, configuration or infrastructure", prose.Quote(e.Lost.Cause, 80))
	}
	if e.Lost.Repetition < 0 || e.Lost.Repetition > run.MaxIterations {
		return fmt.Errorf("lost.repetition is %d, want 0 to %d", e.Lost.Repetition, run.MaxIterations)
	}
	for name, text := range map[string]string{"lost.why": e.Lost.Why, "lost.hint": e.Lost.Hint} {
		if err := checkText(name, text); err != nil {
			return err
		}
	}
	return nil
}
