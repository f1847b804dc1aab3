package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// beginPart measures a share of the units, which are saved in the part's file.
func (s *Session) beginPart(shard Shard, units []measurement.Unit, resume bool, f *measurement.CollectFlags) error {
	s.header.Shard, s.header.Session = &shard, cmp.Or(f.Session, s.Name)
	s.header.Own = append([]int{}, measurement.Partition(units, shard.N)[shard.K-1]...)
	f.Only, s.own = s.header.Own, len(s.header.Own)
	if resume {
		if done, err := s.resumePart(f); done || err != nil {
			return err
		}
	}
	log, err := create(s.Output, s.header)
	if err != nil {
		return exit.Infrastructure(err)
	}
	s.log = log
	f.Session = s.header.Session
	fmt.Fprintf(s.Stderr, "shard %v: %s of %s\n", shard, prose.Thousands(s.own), prose.Count(len(units), "run", "runs"))
	return nil
}

// resumePart resumes the part's file, if it is of the same share of the same plan, build and
// commit.
func (s *Session) resumePart(f *measurement.CollectFlags) (done bool, err error) {
	if info, err := os.Stat(s.Output); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		fmt.Fprintf(s.Stderr, "%s is not there yet: measuring all of shard %v\n", terminal.Plain(s.Output), s.header.Shard)
		return false, nil
	}
	log, found, err := reopen(s.Output)
	if err != nil {
		return false, exit.Usage(atomicfile.Error("resume", s.Output, err), "leave --resume out to measure all of it again")
	}
	if !found.Header.alike(s.header) || f.Session != "" && found.Header.Session != f.Session || !slices.Equal(found.Header.own(), s.header.own()) {
		log.close()
		return false, exit.Usage(fmt.Errorf("resume %s: it is of another plan, build, commit or share", terminal.Plain(s.Output)), "leave --resume out to measure all of it again")
	}
	s.takeOver(log, found)
	f.Session = s.header.Session
	return true, nil
}

// part is a file that a shard has left.
type part struct {
	path string
	Contents
}

// merge uses the runs that shards have measured instead of measuring.
func (s *Session) merge(paths []string, f *measurement.CollectFlags) error {
	parts, err := readParts(paths)
	if err != nil {
		return err
	}
	if err := s.fitting(parts); err != nil {
		return err
	}
	f.Merged, s.taken = true, map[string]collect.Result{}
	from, units := map[string]string{}, map[string]measurement.Unit{}
	for _, u := range measurement.Units(s.Config) {
		units[u.Key()] = u
	}
	for _, p := range parts {
		if p.Torn {
			s.warn(fmt.Sprintf("%s: the last line is torn, as of a process that was killed", p.path))
		}
		for key, e := range p.Entries {
			if other, twice := from[key]; twice {
				return exit.Usage(fmt.Errorf("merge %s: %s is in %s too", terminal.Plain(p.path), prose.Quote(key, 80), terminal.Plain(other)), "each run counts once: leave one of the files out")
			}
			if err := s.belongs(units[key], p.Header, e); err != nil {
				return exit.Usage(fmt.Errorf("merge %s: %s: %w", terminal.Plain(p.path), prose.Quote(key, 80), err), "measure this shard again")
			}
			from[key], s.taken[key] = p.path, e.result()
		}
		if len(p.Entries) > 0 {
			f.Evidence.Sources = append(f.Evidence.Sources, openstore.Kept(p.path))
		}
	}
	s.adopt(parts, f)
	s.reportMissing(parts)
	return nil
}

// belongs rejects an entry that is not of its unit: a part may come from a job that ran an
// untrusted change.
func (s *Session) belongs(u measurement.Unit, h Header, e Entry) error {
	r := e.Run
	switch {
	case r == nil && e.Scenario != u.Scenario:
		return fmt.Errorf("it is of the scenario %s", prose.Quote(e.Scenario, 80))
	case r == nil:
		return nil
	case r.Scenario != u.Scenario:
		return fmt.Errorf("its run is of the scenario %s", prose.Quote(r.Scenario, 80))
	case r.App.Package != s.Config.App.Package:
		return fmt.Errorf("its run is of the app %s", prose.Quote(r.App.Package, 80))
	case r.Source.Commit != h.Commit:
		return fmt.Errorf("its run is of the commit %s, and line 1 says %s", commitName(r.Source.Commit), commitName(h.Commit))
	}
	return nil
}

// adopt gives the runs the source and the session's name of the merging command.
func (s *Session) adopt(parts []part, f *measurement.CollectFlags) {
	session := parts[0].Header.Session
	for _, p := range parts {
		if p.Header.Session != session {
			session = ""
		}
	}
	f.Session = cmp.Or(f.Session, session, s.Name)
	source := measurement.OriginOf(s.Console, *f).Source
	for key, r := range s.taken {
		r.Run.Session = f.Session
		if source.Commit != "" {
			r.Run.Source = source
		}
		s.taken[key] = r
	}
}

// fitting rejects parts of another plan, build or commit than requested, or of different matrices.
func (s *Session) fitting(parts []part) error {
	first, own := parts[0], s.header
	commits := []string{own.Commit, s.Getenv("GITHUB_SHA")}
	shards := map[Shard]string{}
	for _, p := range parts {
		h := p.Header
		refuse := func(why, hint string) error {
			return exit.Usage(fmt.Errorf("merge %s: %s", terminal.Plain(p.path), why), hint)
		}
		switch other, twice := shards[h.shard()]; {
		case h.Shard == nil:
			return refuse("it is no part of a measurement", "apkgate collect --shard k/n --output FILE leaves one")
		case h.Plan != own.Plan || !slices.Equal(h.Units, own.Units):
			return refuse("it was measured with another configuration or other flags", "merge with the configuration and the flags of the shards")
		case own.Build != "" && h.Build != own.Build:
			return refuse("it is of another build than the files that are named here", "measure all shards with the build that is judged")
		case h.Build != first.Header.Build:
			return refuse("it is of another build than "+terminal.Plain(first.path), "measure all shards with one build")
		case h.Commit != first.Header.Commit:
			return refuse(fmt.Sprintf("it is of the commit %s, and %s of %s", commitName(h.Commit), terminal.Plain(first.path), commitName(first.Header.Commit)), "measure all shards of one commit")
		case own.Commit != "" && h.Commit != "" && !slices.Contains(commits, h.Commit):
			return refuse(fmt.Sprintf("it is of the commit %s, and %s is asked for", commitName(h.Commit), commitName(own.Commit)), "--commit names the one that was measured")
		case h.Shard.N != first.Header.Shard.N:
			return refuse(fmt.Sprintf("it is shard %v, and %s is shard %v", h.Shard, terminal.Plain(first.path), first.Header.Shard), "merge the parts of one matrix")
		case twice:
			return refuse(fmt.Sprintf("it is shard %v, as %s is", h.Shard, terminal.Plain(other)), "each shard counts once: leave one of the files out")
		}
		shards[h.shard()] = p.path
	}
	return nil
}

func commitName(commit string) string {
	if commit == "" {
		return "nobody named"
	}
	return prose.Short(commit)
}

// listed limits how many missing units are listed.
const listed = 10

// reportMissing gives each unit that no part has a reason, and lists them.
func (s *Session) reportMissing(parts []part) {
	lost := map[string]string{} // the reason, by the unit's key
	var shards []string
	n := parts[0].Header.Shard.N
	for k := range n {
		of := Shard{k + 1, n}
		if !slices.ContainsFunc(parts, func(p part) bool { return p.Header.shard() == of }) {
			shards = append(shards, of.String())
		}
	}
	for _, p := range parts {
		for _, key := range p.Header.own() {
			lost[key] = fmt.Sprintf("shard %v did not come to it", p.Header.Shard)
		}
	}
	var missing []string
	for _, u := range measurement.Units(s.Config) {
		key := u.Key()
		if _, is := s.taken[key]; is {
			continue
		}
		missing = append(missing, key)
		s.taken[key] = notMeasured(u, cmp.Or(lost[key], "no part has it, and shard "+prose.Few(shards, listed)+" is missing"))
	}
	if len(shards) > 0 {
		s.warn(fmt.Sprintf("%d of %s missing: %s", len(shards), prose.Count(n, "shard is", "shards are"), prose.Few(shards, listed)))
	}
	if len(missing) > 0 {
		s.warn(fmt.Sprintf("%s missing: %s", prose.Count(len(missing), "run is", "runs are"), prose.Few(missing, listed)))
	}
}

// notMeasured returns the result of a unit that was not measured.
func notMeasured(u measurement.Unit, why string) collect.Result {
	return collect.Result{
		Device: u.Profile, Run: run.Run{Scenario: u.Scenario, Status: run.Failed},
		Err: &loss.Error{
			Cause: loss.Infrastructure, Device: u.Profile, Phase: journal.SetUp, Err: errors.New(why), Final: true,
			Advice: "measure the missing shards again, and merge all parts",
		},
	}
}

// readParts reads the files, and those of folders.
func readParts(paths []string) ([]part, error) {
	var all []string
	for _, path := range paths {
		found, err := partsAt(path)
		if err != nil {
			return nil, exit.Usage(atomicfile.Error("merge", path, err), "name the files that apkgate collect --shard has left, or the folder that they are in")
		}
		all = append(all, found...)
	}
	var parts []part
	for i, path := range all {
		if slices.ContainsFunc(all[:i], func(other string) bool { return atomicfile.Same(path, other) }) {
			return nil, exit.Usage(fmt.Errorf("merge %s: it is named twice", terminal.Plain(path)), "name each part once")
		}
		p, err := readPart(path)
		if err != nil {
			return nil, exit.Usage(atomicfile.Error("merge", path, err), "")
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func readPart(path string) (part, error) {
	file, err := os.Open(path)
	if err != nil {
		return part{}, err
	}
	defer file.Close()
	found, err := Read(file)
	return part{path, found}, err
}

// partsAt returns the files that a path names: itself, or everything below it that is named like a
// part.
func partsAt(path string) (found []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasSuffix(e.Name(), ".evidence"):
			return filepath.SkipDir
		case e.Type().IsRegular() && filepath.Ext(at) == extension:
			found = append(found, at)
		}
		if len(found) > maxShards {
			return fmt.Errorf("it has more than %d files named *%s", maxShards, extension)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("it has no file named *%s", extension)
	}
	return found, err
}
