package sched_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// TestTimesAreTheSumsOfStates compares, for every trace of the corpus, the times that are summed up
// while a trace is read with the list of all states.
func TestTimesAreTheSumsOfStates(t *testing.T) {
	t.Parallel()
	threadsSeen := 0
	err := filepath.WalkDir(corpustest.Path(t, "perfetto"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		listed, ok := read(t, path, sched.Keep{States: true})
		if !ok {
			return nil
		}
		summed, _ := read(t, path, sched.Keep{Times: true})
		if n := summed.States.Len(); n != 0 {
			t.Errorf("%s: %d states are kept, want none", path, n)
		}
		want := map[int32]sched.Times{}
		for _, s := range listed.States.All() {
			if s.For < 0 {
				continue
			}
			sum := want[s.Thread]
			switch name := listed.Names[s.Name]; {
			case name == "Running":
				sum.Running += s.For
			case strings.HasPrefix(name, "R"):
				sum.Runnable += s.For
			case strings.HasPrefix(name, "D"):
				sum.Uninterruptible += s.For
			case strings.HasPrefix(name, "S"), strings.HasPrefix(name, "I"):
				sum.Sleeping += s.For
			}
			want[s.Thread] = sum
		}
		for thread, sum := range want {
			if int(thread) >= len(summed.Times) || summed.Times[thread] != sum {
				t.Errorf("%s: thread %d: the times differ from the states' sum %+v", path, thread, sum)
			}
		}
		threadsSeen += len(want)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if threadsSeen < 100 {
		t.Errorf("%d threads have times, want those of the corpus's traces", threadsSeen)
	}
}

// read reads the scheduler's events of a file, and reports whether it is a trace that can be read.
func read(t *testing.T, path string, keep sched.Keep) (*sched.Reader, bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	file := packets.New()
	tracker := threads.New(file)
	r := sched.New(file, tracker, keep)
	return r, packets.Packets(f)(file, tracker, r) == nil
}
