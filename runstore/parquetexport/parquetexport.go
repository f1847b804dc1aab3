// Package parquetexport writes the numbers of a history as a Parquet file, for an engine that analyses
// columns: DuckDB, ClickHouse, BigQuery, Spark, pandas.
//
// It owns the columns (docs/format/parquet.md). It reads nothing: a history is stored and imported
// as runs (runstore.WriteJSONL), of which these numbers are summaries.
//
// A row is one number with everything that identifies it, so that a query needs no join; repetition
// is left to the file's dictionaries.
package parquetexport

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Row is one number of a run: of a metric in an event, or over the whole run.
type Row struct {
	Run        string            `parquet:"run,dict"`
	Started    time.Time         `parquet:"started,timestamp(microsecond)"`
	Package    string            `parquet:"package,dict"`
	Version    string            `parquet:"version,dict"`
	Build      string            `parquet:"build,dict"`
	Scenario   string            `parquet:"scenario,dict"`
	Session    string            `parquet:"session,dict"`
	Repository string            `parquet:"repository,dict"`
	Commit     string            `parquet:"commit,dict"`
	Ref        string            `parquet:"ref,dict"`
	Status     string            `parquet:"status,dict"`
	State      string            `parquet:"state,dict"`
	Retired    bool              `parquet:"retired"`
	Outcome    string            `parquet:"outcome,dict"`
	Context    map[string]string `parquet:"context"`
	Event      string            `parquet:"event,dict"`
	Metric     string            `parquet:"metric,dict"`
	Unit       string            `parquet:"unit,dict"`
	Median     float64           `parquet:"median"`
	Mean       float64           `parquet:"mean"`
	// Repetitions is how many have the number. For more than one, Centre is their robust centre and
	// Spread the standard deviation of single ones, both of logarithms if Log is set.
	Repetitions int32   `parquet:"repetitions"`
	Log         bool    `parquet:"log"`
	Centre      float64 `parquet:"centre"`
	Spread      float64 `parquet:"spread"`
}

// Suffix is the extension of such files.
const Suffix = ".parquet"

// Named reports whether a file of that name is a Parquet file.
func Named(name string) bool { return strings.HasSuffix(name, Suffix) }

// rowsInGroup is the number of rows of a group, which is in memory until it is complete.
const rowsInGroup = 50_000

// Write writes the runs' numbers and returns their number. The first error of the entries ends it.
func Write(w io.Writer, entries iter.Seq2[runstore.Entry, error]) (rows int, err error) {
	out := parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsInGroup),
		parquet.KeyValueMetadata("format", "apkgate.numbers/1"))
	for e, err := range entries {
		if err != nil {
			return rows, err
		}
		n, err := out.Write(rowsOf(e))
		rows += n
		if err != nil {
			return rows, fmt.Errorf("write the numbers of run %q as Parquet: %w", e.Run.ID, err)
		}
	}
	if err := out.Close(); err != nil {
		return rows, fmt.Errorf("write the end of the Parquet file: %w", err)
	}
	return rows, nil
}

// rowsOf returns a run's numbers, in the order of events and metrics.
func rowsOf(e runstore.Entry) []Row {
	r := e.Run
	common := Row{
		Run: r.ID, Started: r.Started.UTC(), Package: r.App.Package, Version: r.App.Version, Build: r.App.Build,
		Scenario: r.Scenario, Session: r.Session, Repository: r.Source.Repository, Commit: r.Source.Commit, Ref: r.Source.Ref,
		Status: string(r.Status), State: string(e.Mark.State), Retired: e.Retired, Context: r.Context,
	}
	if common.State == "" {
		common.State = "unmarked"
	}
	if r.Judged != nil {
		common.Outcome = r.Judged.Outcome
	}
	catalogue, err := run.Catalogue(metric.Default(), r)
	if err != nil {
		catalogue = metric.Default()
	}
	median, mean := runstore.Cells(r)
	rows := make([]Row, 0, median.Len())
	for cell, value := range median.All() {
		row := common
		row.Event, row.Metric, row.Median = cell.Event, cell.Metric, value
		if m, known := catalogue.Lookup(cell.Metric); known {
			row.Unit = m.Unit
		}
		row.Mean, _ = mean.Get(cell)
		if said, ok := median.Repeated(cell); ok {
			row.Repetitions, row.Log, row.Centre, row.Spread = int32(said.N), said.Log, said.Centre, said.SD
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return strings.Compare(a.Event+"\x00"+a.Metric, b.Event+"\x00"+b.Metric)
	})
	return rows
}
