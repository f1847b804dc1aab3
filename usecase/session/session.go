// Package session saves what a command has measured while it measures, so that another process can
// resume it (--resume), and so that several processes can share the work (--shard) for another to
// gather (--merge).
//
// It owns the session file (docs/format/session.md), which runs of which plan are taken from one,
// and what is reported of it. Making runs, and which runs a plan has, belongs to package
// measurement; storing them in the history belongs to the store.
//
// A unit, one run to be made, is complete or it is measured again. What is taken from a file was
// measured by the same plan, of the same build and commit, and each unit counts once; if that is
// uncertain nothing is taken, and the reason is reported.
package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command is a command that is about to measure.
type Command struct {
	terminal.Console
	// Path is the command's name, such as "apkgate run", and GoOn the command line that resumes it.
	// File is its configuration's file, "" for the default one.
	Path   string
	Resume func() string
	Config *config.Config
	File   string
	// Name is the session's name unless the user names it.
	Name string
	// Output is the file for a share of the runs, "" for none.
	Output string
}

// Session is what a command measures and has measured.
type Session struct {
	Command
	header Header
	log    *log   // nil if nothing is written
	older  []kept // to be removed once this one is finished
	// taken are the results that were there before, and whole counts the units that ended well,
	// including these; own is how many there are to measure.
	taken      map[string]collect.Result
	whole, own int
}

// Begin starts the session of a command: the flags then know what is measured already, and what is
// measured from now on is saved.
func Begin(c Command, flags Flags, f *measurement.CollectFlags) (*Session, error) {
	shard, err := flags.check(c)
	if err != nil {
		return nil, err
	}
	units := measurement.Units(c.Config)
	origin := measurement.OriginOf(c.Console, *f)
	header, err := headerOf(c, units, origin.Source.Commit)
	if err != nil {
		return nil, err
	}
	s := &Session{Command: c, header: header, own: len(units)}
	switch {
	case len(flags.Merge) > 0:
		err = s.merge(flags.Merge, f)
	case shard != nil:
		err = s.beginPart(*shard, units, flags.Resume, f)
	default:
		s.beginHere(flags.Resume, f)
	}
	if err != nil {
		return nil, err
	}
	f.Known = func(u measurement.Unit) (collect.Result, bool) { r, known := s.taken[u.Key()]; return r, known }
	if s.log != nil {
		f.Ended = s.ended
	}
	return s, nil
}

// headerOf describes what the command is about to measure.
func headerOf(c Command, units []measurement.Unit, commit string) (Header, error) {
	plan, err := planOf(c.Config, c.Getenv(simulated.Session))
	if err != nil {
		return Header{}, err
	}
	build, err := buildOf(c.Config.App)
	if err != nil {
		return Header{}, err
	}
	h := Header{Format: Format, Command: c.Path, Plan: plan, Build: build, Commit: commit, Started: c.Now().UTC()}
	for _, u := range units {
		h.Units = append(h.Units, u.Key())
	}
	return h, nil
}

// beginHere saves the session next to the configuration, and resumes an existing one if requested.
// If nothing can be written there is none.
func (s *Session) beginHere(resume bool, f *measurement.CollectFlags) {
	s.header.Session = f.Session
	asked := s.header
	at := folder(filepath.Join(filepath.Dir(s.File), atomicfile.OwnFolder, "sessions"))
	if resume {
		s.resume(at)
	} else {
		s.mention(at)
	}
	if s.log == nil {
		s.header.Session = cmp.Or(f.Session, s.Name)
		log, err := at.create(s.header)
		if err != nil {
			s.warn("an interrupted measurement could not be resumed: " + err.Error())
		}
		s.log = log
	}
	f.Session = s.header.Session
	at.prune(s.log)
	s.older = slices.DeleteFunc(at.fits(asked), func(k kept) bool { return s.log != nil && k.path == s.log.path })
}

// resume takes over the newest session that can be resumed.
func (s *Session) resume(at folder) {
	log, found, err := at.takeNewest(s.header)
	switch {
	case err != nil:
		s.warn("no session is resumed: " + err.Error())
	case log == nil:
		fmt.Fprintln(s.Stderr, "no unfinished session of this plan and build is here: measuring all of it")
	default:
		s.takeOver(log, found)
	}
}

// takeOver continues with the contents of a session's file.
func (s *Session) takeOver(log *log, found Contents) {
	s.log, s.header = log, found.Header
	s.take(found)
	fmt.Fprintf(s.Stderr, "resuming the session of %s: %s of %s measured already\n",
		found.Header.Started.UTC().Format(time.DateTime+" UTC"), prose.Thousands(s.whole), prose.Count(s.own, "run is", "runs are"))
	if found.Torn {
		s.warn("the session's last line is torn: its run is made again")
	}
}

// take takes the complete units.
func (s *Session) take(found Contents) {
	s.taken = found.whole()
	s.whole = len(s.taken)
}

// mention reports that there is something to resume.
func (s *Session) mention(at folder) {
	if found, is := at.newest(s.header); is {
		fmt.Fprintf(s.Stderr, "an unfinished session of this plan and build has %d of %s: --resume continues it\n",
			len(found.whole()), prose.Count(len(found.Header.Units), "run", "runs"))
	}
}

// ended saves the result of a unit. A failure to save it is an error for a part, which is the
// purpose of its command, and a warning otherwise.
func (s *Session) ended(u measurement.Unit, r collect.Result) error {
	e := entryOf(u.Key(), r)
	if e.interrupted(r) {
		return nil // it is missing, which is already reported
	}
	if e.whole() {
		s.whole++
	}
	s.compareDevices(u, r)
	if s.log == nil {
		return nil
	}
	err := s.log.append(e)
	switch {
	case err == nil:
		return nil
	case s.header.Shard != nil:
		return exit.Infrastructure(err)
	}
	s.warn("the rest of an interrupted measurement could not be resumed: " + err.Error())
	s.log.close()
	s.log = nil
	return nil
}

// compareDevices warns if a plan that names no device has measured on two.
func (s *Session) compareDevices(u measurement.Unit, r collect.Result) {
	if len(s.Config.Devices) > 0 || u.Profile != "" {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.taken)) {
		if other := s.taken[key].Device; other != "" && other != r.Device {
			s.warn(fmt.Sprintf("%s was measured on %s before, and %s on %s now", key, other, u.Key(), r.Device))
			return
		}
	}
}

// End ends the session. If its units are all complete, the file next to the configuration is
// removed; so is a file without any. If some are left, it prints how to resume.
func (s *Session) End(ctx context.Context) {
	if s.log == nil {
		return
	}
	through := s.whole == s.own && ctx.Err() == nil
	switch {
	case !through && s.whole > 0:
		fmt.Fprintf(s.Stderr, "%s of %s complete; to resume: %s\n", prose.Thousands(s.whole), prose.Count(s.own, "run is", "runs are"), terminal.Plain(s.Resume()))
		s.log.close()
	case s.header.Shard != nil:
		s.log.close()
	default:
		if err := s.log.remove(); err != nil {
			s.warn(err.Error())
		}
		if through { // everything that the older ones started is measured
			remove(s.older)
		}
	}
}

func (s *Session) warn(text string) {
	fmt.Fprintf(s.Stderr, "warning: %s\n", terminal.Plain(text))
}
