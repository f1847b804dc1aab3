package interleaved_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// shelf is a folder of kept files with a history, of the builds in dir.
type shelf struct {
	t      *testing.T
	dir    string
	cfg    *config.Config
	folder *evidence.Folder
	store  *memory.Store
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	dir := clitest.SimulatedBuilds(t, "pixel-7-android-14")
	cfg, err := settings.LoadConfig(filepath.Join(dir, "apkgate.yml"), false)
	if err != nil {
		t.Fatal(err)
	}
	return shelf{t, dir, cfg, evidence.At(filepath.Join(dir, "kept"), evidence.Default), memory.New(nil)}
}

// file keeps a build's file, as evidence of that kind.
func (s shelf) file(apk string, kind run.EvidenceKind) run.Evidence {
	s.t.Helper()
	in, err := os.Open(filepath.Join(s.dir, apk+".apk"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	digest, size, err := s.folder.Keep(s.t.Context(), in, 1<<30)
	if err != nil {
		s.t.Fatal(err)
	}
	return run.Evidence{Digest: digest, Kind: kind, Name: apk + ".apk", Bytes: size}
}

// accept adds an accepted run of the commit with these files.
func (s shelf) accept(commit string, hours int, files ...run.Evidence) {
	s.t.Helper()
	r := interleaved.InRounds(commit, "night", 1, interleaved.Later(hours))
	r.ID, r.App.Package, r.Evidence = "run-"+commit, s.cfg.App.Package, files
	_, err := s.store.Add(s.t.Context(), r)
	if err == nil {
		err = s.store.Mark(s.t.Context(), []string{r.ID}, runstore.Mark{State: runstore.Accepted})
	}
	if err == nil {
		_, err = s.folder.Attach(s.t.Context(), r)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// base returns the kept build for its commit, and what is printed about it.
func (s shelf) base(store runstore.Store) (b interleaved.Base, said string) {
	s.t.Helper()
	say := &strings.Builder{}
	c := terminal.Console{Stdout: io.Discard, Stderr: say}
	b = interleaved.Kept(s.t.Context(), c, s.cfg, store, s.folder, nil)
	s.t.Cleanup(func() { b.Close(c) })
	return b, say.String()
}

// A kept build is of the newest accepted run that has one: damaged or missing ones are skipped, and
// other files of a run are not builds.
func TestKept(t *testing.T) {
	s := newShelf(t)
	s.accept("old", 0, s.file("demo-good", run.Build))
	s.accept("new", 1, s.file("demo-test", run.PerfettoTrace), s.file("demo-worse", run.Build))
	for name, c := range map[string]struct {
		store  runstore.Store
		commit string
		said   string
	}{
		"the newest":                  {s.store, "new", ""},
		"after a damaged entry":       {interleaved.Failing{Store: s.store, ListError: runstore.ErrDamaged}, "new", ""},
		"of a run that is damaged":    {interleaved.Failing{Store: s.store, Of: "run-new", GetError: runstore.ErrDamaged}, "old", ""},
		"of a run that was removed":   {interleaved.Failing{Store: s.store, Of: "run-new", GetError: runstore.ErrNotFound}, "old", ""},
		"of a history without a list": {interleaved.Failing{Store: s.store, ListError: errors.New("the disk is gone")}, "", "warning: nothing can be measured alternately with the build that was kept: the disk is gone\n"},
		"of a run that is not got":    {interleaved.Failing{Store: s.store, Of: "run-new", GetError: errors.New("the disk is gone")}, "", "warning: nothing can be measured alternately with the build that was kept: the disk is gone\n"},
	} {
		b, said := s.base(c.store)
		if _, err := os.Stat(b.APK); c.commit != "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b.Source.Commit != c.commit || (b.APK != "") != (c.commit != "") || said != c.said {
			t.Errorf("%s: %+v, %q; want that of %q, %q", name, b, said, c.commit, c.said)
		}
		if c.commit == "new" && !strings.HasSuffix(b.APK, "-demo-worse.apk") {
			t.Errorf("%s: %s is taken for the build", name, b.APK)
		}
		b.Close(terminal.Console{Stderr: io.Discard})
		if _, err := os.Stat(b.APK); err == nil {
			t.Errorf("%s: %s is left behind", name, b.APK)
		}
	}
}

// Commits that are abbreviated in the lineage or the run are found, the nearest commit first; a
// build of a commit outside the lineage is not used.
func TestKeptOfAnAbbreviatedCommit(t *testing.T) {
	const old, recent = "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	s := newShelf(t)
	s.accept(old[:7], 1, s.file("demo-good", run.Build))
	s.accept(recent, 0, s.file("demo-worse", run.Build))
	for name, c := range map[string]struct {
		commits []string
		want    string
	}{
		"the run's is short":     {[]string{old}, old[:7]},
		"the lineage's is short": {[]string{recent[:8]}, recent},
		"the nearest one first":  {[]string{recent, old}, recent},
		"another":                {[]string{strings.Repeat("1", 40)}, ""},
	} {
		var said strings.Builder
		b := interleaved.Kept(t.Context(), terminal.Console{Stdout: io.Discard, Stderr: &said}, s.cfg, s.store, s.folder, c.commits)
		if b.Source.Commit != c.want || said.Len() > 0 {
			t.Errorf("%s: the build of %q, %q; want that of %q", name, b.Source.Commit, said.String(), c.want)
		}
		b.Close(terminal.Console{Stderr: io.Discard})
	}
}

// A run whose build is elsewhere, with only other files here, has none.
func TestKeptIgnoresOtherFiles(t *testing.T) {
	s := newShelf(t)
	elsewhere := run.Evidence{Digest: strings.Repeat("0", 64), Kind: run.Build, Name: "elsewhere.apk", Bytes: 1}
	s.accept("new", 0, s.file("demo-test", run.PerfettoTrace), elsewhere)
	if b, said := s.base(s.store); b.APK != "" || said != "" {
		t.Errorf("%+v, %q; want none, and nothing said", b, said)
	}
}

// Where no file was kept the history is not read: it does not matter if it is unreadable.
func TestKeptOfAnEmptyFolder(t *testing.T) {
	s := newShelf(t)
	if b, said := s.base(interleaved.Failing{Store: s.store, ListError: errors.New("the disk is gone")}); b.APK != "" || said != "" {
		t.Errorf("%+v, %q; want none, and nothing said", b, said)
	}
}

// A kept build that can't be measured is reported, and is none: a damaged one, or one of another
// app.
func TestKeptOfAnUnusableBuild(t *testing.T) {
	for name, c := range map[string]struct {
		apk    string
		damage bool
		said   string
	}{
		"damaged":     {"demo-good", true, "the file of run run-new is damaged"},
		"another app": {"demo-test", false, "com.example.demo.test"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			file := s.file(c.apk, run.Build)
			s.accept("new", 0, file)
			if c.damage {
				at, _, _ := s.folder.Place(file.Digest)
				if err := os.WriteFile(at, []byte("no app"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b, said := s.base(s.store)
			if b.APK != "" || !strings.HasPrefix(said, "warning: nothing can be measured alternately with the build that was kept: ") || !strings.Contains(said, c.said) {
				t.Errorf("%+v, %q; want none, and that %s", b, said, c.said)
			}
		})
	}
}

// The runs of both builds are written to the requested folder, and a failure is an error that names
// the file.
func TestKeepBoth(t *testing.T) {
	both := []collect.Result{{Run: interleaved.InRounds("old", "pr rounds", 1)}}
	dir := filepath.Join(t.TempDir(), "rounds")
	if err := errors.Join(interleaved.KeepBoth("", both, both), interleaved.KeepBoth(dir, both, both)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"base.jsonl", "head.jsonl"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), `"session":"pr rounds"`) {
			t.Errorf("%s: %v, %.100s", name, err, text)
		}
	}
	file := clitest.WriteFile(t, filepath.Join(dir, "file"), "no folder")
	err := interleaved.KeepBoth(file, both, both)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(file, "base.jsonl")) || exit.Finish(io.Discard, err) != exit.StatusInfrastructure {
		t.Errorf("a file in place of the folder: %v", err)
	}
}
