package replay

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Flags name a recording to measure from.
type Flags struct{ Replay string }

// Asked reports whether there is a recording.
func (f Flags) Asked() bool { return f.Replay != "" }

// refused are flags that don't apply to a recording.
var refused = []string{"apk", "base", "base-commit", "keep", "merge", "parallel", "resume", "shard", "why"}

// Begin makes the command measure from the recording, if one is named: it changes the command's
// console, configuration and flags. given reports which flags were given. Without a recording it
// returns nil.
func (f Flags) Begin(c *terminal.Console, given func(flag string) bool, file *string, measured *measurement.CollectFlags) (*Replay, error) {
	if f.Replay == "" {
		return nil, nil
	}
	for _, name := range refused {
		if given(name) {
			return nil, exit.Usage(fmt.Errorf("--replay and --%s: a recording can be measured in only one way", name), "leave one of them out")
		}
	}
	r, err := Open(f.Replay)
	if err != nil {
		return nil, err
	}
	if r.Of == recording.OfCaptures {
		return nil, exit.Usage(fmt.Errorf("replay %s: it has captures of single commands, which no run asked for", terminal.Plain(f.Replay)), "apkgate record-device compare compares a simulated phone with them")
	}
	*c = Unsourced(*c)
	if r.own = *file == ""; r.own {
		*file = r.Config()
	}
	if err := r.Take(measured); err != nil {
		return nil, err
	}
	r.introduce(*c)
	return r, nil
}

// Take makes the flags measure from the recording.
func (r *Replay) Take(measured *measurement.CollectFlags) (err error) {
	if r.temporary, err = os.MkdirTemp("", "apkgate-replay-"); err != nil {
		return exit.Infrastructure(fmt.Errorf("make a folder for what the replay keeps: %w", err))
	}
	measured.Tape, measured.Session = r, cmp.Or(measured.Session, r.Session)
	measured.Profiles = filepath.Join(r.temporary, "energy")
	measured.Evidence.Folder = evidence.At(filepath.Join(r.temporary, "evidence"), evidence.Default)
	return nil
}

// introduce prints what is replayed.
func (r *Replay) introduce(c terminal.Console) {
	fmt.Fprintf(c.Stderr, "replaying %s, a recording of %s\n", terminal.Plain(r.Dir), inWords[r.Of])
	if !r.Whole {
		fmt.Fprintf(c.Stderr, "warning: the recording was cut off before its run ended\n")
	}
}

// Own reports whether the recording's own configuration is measured.
func (r *Replay) Own() bool { return r.own }

// Store returns a history for runs that are to be stored in none.
func (r *Replay) Store() string { return filepath.Join(r.temporary, "history.db") }

// End prints how the replay went, and removes its files; the error reports records that differ from
// the recorded ones.
func (r *Replay) End(c terminal.Console) error {
	if r == nil {
		return nil
	}
	for _, line := range r.Summary() {
		fmt.Fprintln(c.Stderr, line)
	}
	if err := os.RemoveAll(r.temporary); err != nil {
		fmt.Fprintf(c.Stderr, "warning: remove what the replay kept: %s\n", terminal.Plain(err.Error()))
	}
	if r.own && len(r.differ) > 0 {
		return exit.Infrastructure(errors.New("the replay is not what was recorded: the record differs of " + terminal.Plain(strings.Join(r.differ, ", "))))
	}
	return nil
}
