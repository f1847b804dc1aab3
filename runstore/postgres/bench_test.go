//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// benchRun is a run of the lab, a year before those that multiply makes.
func benchRun(random *rand.Rand, i int) run.Run {
	r := storetest.LabRun(random, i)
	r.Started = r.Started.AddDate(-1, 0, 0)
	return r
}

// multiply makes n accepted runs of the 1,000 that are there: the id, the digest, the context and
// the start differ. Their records are those of the 1,000, so that Get and Verify reject them.
const multiply = `
	INSERT INTO apkgate.runs (id, digest, subject, context, started, session, status, version, build, repository, revision, ref,
		iterations, added, state, reference, median, mean, repeated, derived)
	SELECT md5(g::text), sha256(g::text::bytea), r.subject, c.id,
		to_char(timestamp '2020-01-01' + g * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS') || '.000000000Z',
		'session' || g / 10, 'complete', '', '', '', '', '', 10, r.added, 'accepted', true, r.median, r.mean, r.repeated, r.derived
	FROM generate_series(1, %[1]d) AS g
	JOIN (SELECT *, row_number() OVER () - 1 AS n FROM apkgate.runs) r ON r.n = g %% 1000
	JOIN (SELECT id, row_number() OVER () - 1 AS n FROM apkgate.contexts) c ON c.n = abs(hashint4(g)) %% %[2]d;
	INSERT INTO apkgate.records (run, part, data) SELECT a.number, '', b.data
	FROM (SELECT number, row_number() OVER () - 1 AS n FROM apkgate.runs r WHERE NOT EXISTS (SELECT 1 FROM apkgate.records WHERE run = r.number)) a
	JOIN (SELECT data, row_number() OVER () - 1 AS n FROM apkgate.records) b ON b.n = a.n %% 1000;
	INSERT INTO apkgate.marks (run, part, state, at, since, note) SELECT number, part, 'accepted', added, '', '' FROM apkgate.runs;
	VACUUM (ANALYZE);
	CHECKPOINT`

// BenchmarkReferences finds the references of one run: by default up to 10,000 of
// them, each with 18 cells. "cold" opens the store anew each time.
func BenchmarkReferences(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		if testing.Short() && n > 1_000 {
			b.Skip("makes up to a million runs")
		}
		database := newDatabase(b)
		url := theServer.url("owner", database)
		s := open(b, url)
		random := rand.New(rand.NewPCG(1, 2))
		var runs []run.Run
		for i := range 1_000 {
			runs = append(runs, benchRun(random, i))
		}
		if _, err := s.Add(b.Context(), runs...); err != nil {
			b.Fatal(err)
		}
		for _, sql := range statements(fmt.Sprintf(multiply, n, storetest.LabContexts)) {
			exec1(b, database, sql)
		}
		q := runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: storetest.LabContext(7)}
		b.Run(strconv.Itoa(n)+"/warm", func(b *testing.B) {
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
		b.Run(strconv.Itoa(n)+"/cold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fresh := open(b, url)
				if _, err := fresh.References(b.Context(), q); err != nil {
					b.Fatal(err)
				}
				if err := fresh.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		s.Close()
		exec1(b, "postgres", "DROP DATABASE "+database)
	}
}

// syncToDisk makes the server wait for the disk from now on, as a team's server does.
func syncToDisk(b *testing.B) {
	b.Helper()
	exec1(b, newDatabase(b), "ALTER SYSTEM SET fsync = on")
	if err := errors.Join(theServer.stop("fast"), theServer.start()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAdd adds new runs, by themselves and as an import does.
func BenchmarkAdd(b *testing.B) {
	syncToDisk(b)
	for _, batch := range []int{1, 500} {
		b.Run(strconv.Itoa(batch), func(b *testing.B) {
			s := open(b, theServer.url("owner", newDatabase(b)))
			random := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for b.Loop() {
				runs := make([]run.Run, batch)
				for i := range runs {
					runs[i] = benchRun(random, i)
				}
				if _, err := s.Add(context.Background(), runs...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

// BenchmarkJobs adds runs as a fleet's jobs do: each opens the history, adds one run, and exits,
// four for each processor at the same time.
func BenchmarkJobs(b *testing.B) {
	syncToDisk(b)
	url := theServer.url("owner", newHistory(b))
	var next atomic.Int64
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		random := rand.New(rand.NewPCG(7, uint64(next.Add(1))))
		for pb.Next() {
			s, err := postgres.Open(context.Background(), url, postgres.Options{})
			if err != nil {
				b.Fatal(err)
			}
			r := benchRun(random, int(next.Add(1)))
			r.Started = time.Now().UTC()
			if _, err := s.Add(context.Background(), r); err != nil {
				b.Error(err)
			}
			s.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
