package openstore

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// RepairHint is what to do about a damaged history.
const RepairHint = "apkgate baseline repair makes a sound history of what can be read, and keeps the damaged one next to it"

// ShownDamage is how many damaged runs are named one by one.
const ShownDamage = 20

// Damage prints what was skipped in a history, and returns an error about it: the work is done, but
// the exit status reports that something is missing. nil is no history of a store.
func Damage(c terminal.Console, s *runstore.Sound) error {
	if s == nil {
		return nil
	}
	found, total := s.Damage()
	if total == 0 {
		return nil
	}
	for _, d := range found[:min(len(found), ShownDamage)] {
		fmt.Fprintf(c.Stderr, "warning: %s\n", terminal.Plain(d.String()))
	}
	if more := total - ShownDamage; more > 0 {
		fmt.Fprintf(c.Stderr, "warning: and %d more\n", more)
	}
	return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("the history is damaged: %d %s passed over", total, prose.Plural(total, "part of it was", "parts of it were")), RepairHint)
}

// warnedDamage is how many damaged runs a verdict names.
const warnedDamage = 5

// DamageWarnings returns a verdict's warnings on a damaged history.
func DamageWarnings(s *runstore.Sound) []run.Warning {
	if s == nil {
		return nil
	}
	found, total := s.Damage()
	var out []run.Warning
	for _, d := range found[:min(len(found), warnedDamage)] {
		what := strings.Replace(d.String(), runstore.ErrDamaged.Error()+": ", "", 1) // said once is enough
		out = append(out, run.Warning{Text: "the history is damaged, and the verdict is made from what is sound: " + what})
	}
	if more := total - warnedDamage; more > 0 {
		out = append(out, run.Warning{Text: fmt.Sprintf("the history is damaged in %d more %s", more, prose.Plural(more, "place", "places"))})
	}
	return out
}
