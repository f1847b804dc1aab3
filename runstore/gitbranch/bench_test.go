package gitbranch_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// fillBranch adds n accepted runs, so many at once, as nightly jobs do.
func fillBranch(b *testing.B, s runstore.Store, n, together int) {
	b.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(together)))
	for i := 0; i < n; i += together {
		var runs []run.Run
		var names []string
		for j := range together {
			runs = append(runs, storetest.LabRun(random, i+j))
			names = append(names, runs[j].ID)
		}
		if _, err := s.Add(b.Context(), runs...); err != nil {
			b.Fatal(err)
		}
		if err := s.Mark(b.Context(), names, runstore.Mark{State: runstore.Accepted}); err != nil {
			b.Fatal(err)
		}
	}
}

// size returns the bytes of the files in the folder.
func size(b *testing.B, dir string) (total int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		total += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}

// BenchmarkGrowth reports how much a remote grows with 1,000 runs in 25 pushes of 40: as pushed,
// once the remote has packed them, and after a compaction.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		remote := newRemote(b)
		s := open(b, remote)
		before := size(b, remote)
		fillBranch(b, s, 1_000, 40)
		b.ReportMetric(float64(size(b, remote)-before)/1e3, "kB-pushed")
		git(b, remote, "gc", "--quiet", "--prune=now")
		b.ReportMetric(float64(size(b, remote)-before)/1e3, "kB-packed")
		if err := s.Compact(b.Context()); err != nil {
			b.Fatal(err)
		}
		git(b, remote, "gc", "--quiet", "--prune=now")
		b.ReportMetric(float64(size(b, remote)-before)/1e3, "kB-compacted")
	}
}

// BenchmarkFreshCopy fetches and indexes a branch of accepted runs, as a runner
// without a cache does. Run it with -benchtime=1x.
func BenchmarkFreshCopy(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			if testing.Short() {
				b.Skip("makes as many runs")
			}
			remote := newRemote(b)
			fillBranch(b, open(b, remote), n, 2_000)
			b.ReportMetric(float64(size(b, remote))/1e6, "MB-remote")
			for b.Loop() {
				s := open(b, remote)
				if _, err := s.References(b.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open-message"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
