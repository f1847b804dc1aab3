package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// benchStore opens a history of n accepted runs, made once and kept in the
// temporary directory. The measurements and summaries of 1,000 runs serve for all:
// what differs is the id, the context, the session and the start. Each record is
// what its digest says, so that all that reads histories can be measured on it.
func benchStore(b *testing.B, n int) *Store {
	b.Helper()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("apkgate-bench-v%d.%d-%d.db", len(migrations), derivation, n))
	if _, err := os.Stat(path); err != nil {
		part := path + ".part"
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(part + suffix)
		}
		s := openTest(b, part)
		if err := s.write(b.Context(), func(tx *prepared.Tx) error { return fill(b.Context(), s, tx, n) }); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(part, path); err != nil {
			b.Fatal(err)
		}
	}
	return openTest(b, path)
}

func fill(ctx context.Context, s *Store, tx *prepared.Tx, n int) error {
	addRun, err := tx.PrepareContext(ctx, `INSERT INTO runs
		(id, digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, state)
		VALUES (?, ?, ?, ?, ?, ?, 'complete', '', '', '', '', '', 10, ?, 'accepted')`)
	if err != nil {
		return err
	}
	addRecord, err := tx.PrepareContext(ctx, "INSERT INTO records VALUES (?, ?)")
	if err != nil {
		return err
	}
	addMark, err := tx.PrepareContext(ctx, "INSERT INTO marks (run, state, at, since, note) VALUES (?, 'accepted', ?, '', '')")
	if err != nil {
		return err
	}
	addSummary, err := tx.PrepareContext(ctx, summaries.Insert)
	if err != nil {
		return err
	}
	in := interning.NewWriter(tx)
	random := rand.New(rand.NewPCG(1, 2))
	type sample struct {
		run    run.Run
		packed records.Packed
	}
	var samples []sample
	for i := range min(n, 1000) {
		r := storetest.LabRun(random, i)
		packed, err := summaries.Of(ctx, in, r)
		if err != nil {
			return err
		}
		samples = append(samples, sample{r, packed})
	}
	added := records.Stamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range n {
		data := samples[i%len(samples)]
		r := data.run
		r.ID, r.Session = fmt.Sprintf("%016x", random.Uint64()), strconv.Itoa(i/10)
		r.Context = storetest.LabContext(random.IntN(storetest.LabContexts))
		r.Started = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
		rec, err := records.New(r)
		if err != nil {
			return err
		}
		subject, err := in.Subject(ctx, r.App.Package, r.Scenario)
		if err != nil {
			return err
		}
		c, err := in.Context(ctx, r.Context)
		if err != nil {
			return err
		}
		started := records.Stamp(r.Started)
		result, err := addRun.ExecContext(ctx, r.ID, rec.Digest, subject, c, started, r.Session, added)
		if err != nil {
			return err
		}
		number, err := result.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := addRecord.ExecContext(ctx, number, rec.Packed); err != nil {
			return err
		}
		if _, err := addMark.ExecContext(ctx, number, added); err != nil {
			return err
		}
		p := summaries.Place{Subject: subject, Reference: true, Context: c, Started: started, ID: r.ID}
		if _, err := addSummary.ExecContext(ctx, summaries.Row(data.packed, p, r)...); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkVerify checks every run of a history without damage.
func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := benchStore(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if damage, err := s.Verify(b.Context()); err != nil || len(damage) > 0 {
					b.Fatal(len(damage), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/run")
		})
	}
}

// BenchmarkOpenOlder opens a history whose summaries follow older rules, and are derived again.
func BenchmarkOpenOlder(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := benchStore(b, n)
			for b.Loop() {
				b.StopTimer()
				if _, err := s.db.ExecContext(b.Context(), "UPDATE derivation SET version = ?", ofSummaries-1); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				fresh, err := Open(b.Context(), s.path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := fresh.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/run")
		})
	}
}

// BenchmarkReferences finds the references of one run: by default up to 10,000 of them, each with
// 18 cells. "cold" opens the file each time.
func BenchmarkReferences(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := benchStore(b, n)
			q := runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: storetest.LabContext(7)}
			b.Run("warm", func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				for b.Loop() {
					refs, err := s.References(b.Context(), q)
					if err != nil {
						b.Fatal(err)
					}
					found = len(refs)
				}
				b.ReportMetric(float64(found), "references")
			})
			b.Run("cold", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fresh, err := Open(b.Context(), s.path, Options{})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := fresh.References(b.Context(), q); err != nil {
						b.Fatal(err)
					}
					if err := fresh.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkReferencesOfUniqueContexts has twenty unique properties in each context, such as a
// serial number or a temperature.
func BenchmarkReferencesOfUniqueContexts(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := openTest(b, filepath.Join(b.TempDir(), "history.db"))
			random := rand.New(rand.NewPCG(1, 2))
			sample := storetest.LabRun(random, 0)
			unique := func(i int) map[string]string {
				c := storetest.LabContext(i % 7)
				for p := range 20 {
					c[fmt.Sprint("unique", p)] = strconv.Itoa(100*i + p)
				}
				return c
			}
			for i := 0; i < n; i += 500 {
				var runs []run.Run
				var ids []string
				for j := i; j < i+500; j++ {
					r := sample
					r.ID, r.Context, r.Started = fmt.Sprintf("%016x", random.Uint64()), unique(j), sample.Started.Add(time.Duration(j)*time.Minute)
					runs, ids = append(runs, r), append(ids, r.ID)
				}
				if _, err := s.Add(b.Context(), runs...); err != nil {
					b.Fatal(err)
				}
				if err := s.Mark(b.Context(), ids, runstore.Mark{State: runstore.Accepted}); err != nil {
					b.Fatal(err)
				}
			}
			q := runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: unique(n)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.References(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAdd adds new runs, by themselves and as an import does.
func BenchmarkAdd(b *testing.B) {
	for _, batch := range []int{1, 500} {
		b.Run(strconv.Itoa(batch), func(b *testing.B) {
			s := openTest(b, filepath.Join(b.TempDir(), "history.db"))
			random := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for b.Loop() {
				runs := make([]run.Run, batch)
				for i := range runs {
					runs[i] = storetest.LabRun(random, i)
				}
				if _, err := s.Add(b.Context(), runs...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
