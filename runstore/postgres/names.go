package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// names caches the rows that many runs share: subjects, contexts and cells. They are committed
// before they are used and never removed, so that the cache stays valid. Partitions may be dropped,
// and removed from the cache.
type names struct {
	mu       sync.Mutex
	ids      map[key]int64
	parts    map[string]string // of months
	contexts map[int64]map[string]string
	cells    map[int64]run.Cell
}

// key is the SHA-256 of the contents of a row.
type key struct {
	table string
	sum   [sha256.Size]byte
}

// maxNames is the size of the cache at which it is cleared.
const maxNames = 200_000

func newNames() *names {
	return &names{ids: map[key]int64{}, parts: map[string]string{}, contexts: map[int64]map[string]string{}, cells: map[int64]run.Cell{}}
}

func newKey(table string, parts ...string) key {
	var data []byte
	for _, p := range parts {
		data = binary.AppendUvarint(data, uint64(len(p)))
		data = append(data, p...)
	}
	return key{table, sha256.Sum256(data)}
}

func subjectKey(pkg, scenario string) key { return newKey("subjects", pkg, scenario) }
func cellKey(c run.Cell) key              { return newKey("cells", c.Event, c.Metric) }

func contextKey(properties map[string]string) key {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		parts = append(parts, name, properties[name])
	}
	return newKey("contexts", parts...)
}

// find returns the cached id of a key.
func (n *names) find(k key) (int64, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[k]
	return id, ok
}

func (n *names) keep(ids map[key]int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.ids) > maxNames {
		clear(n.ids)
	}
	maps.Copy(n.ids, ids)
}

// shared is a row to be interned: its key and its two columns.
type shared struct {
	key  key
	a, b any
}

func byKey(a, b shared) int { return cmp.Compare(string(a.key.sum[:]), string(b.key.sum[:])) }

// How rows are interned. Every writer inserts in the order of the keys, so that two of them never
// deadlock.
var internSQL = map[string]string{
	"subjects": `INSERT INTO apkgate.subjects (key, package, scenario)`,
	"cells":    `INSERT INTO apkgate.cells (key, event, metric)`,
	"contexts": `INSERT INTO apkgate.contexts (key, names, values)`,
}

// intern inserts the missing rows and returns the ids of all.
func (s *Store) intern(ctx context.Context, rows map[key]shared) (map[key]int64, error) {
	ids := map[key]int64{}
	missing := map[string][]shared{}
	for k, row := range rows {
		if id, ok := s.names.find(k); ok {
			ids[k] = id
		} else {
			missing[k.table] = append(missing[k.table], row)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(missing)) {
		list := missing[table]
		slices.SortFunc(list, byKey)
		found := map[key]int64{}
		err := s.write(ctx, func(tx pgx.Tx) error {
			clear(found)
			return internTable(ctx, tx, table, list, found)
		})
		if err != nil {
			return nil, err
		}
		s.names.keep(found)
		maps.Copy(ids, found)
	}
	return ids, nil
}

func internTable(ctx context.Context, tx pgx.Tx, table string, rows []shared, found map[key]int64) error {
	batch := &pgx.Batch{}
	sums := make([][]byte, len(rows))
	for i, row := range rows {
		sums[i] = row.key.sum[:]
		batch.Queue(internSQL[table]+" VALUES ($1, $2, $3) ON CONFLICT (tenant, key) DO NOTHING", sums[i], row.a, row.b)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	rs, err := tx.Query(ctx, "SELECT id, key FROM apkgate."+table+" WHERE "+ours+" AND key = ANY($1)", sums)
	if err != nil {
		return err
	}
	var id int64
	var sum []byte
	_, err = pgx.ForEachRow(rs, []any{&id, &sum}, func() error {
		found[key{table, [sha256.Size]byte(sum)}] = id
		return nil
	})
	if err == nil && len(found) != len(rows) {
		err = fmt.Errorf("%d of %d rows of %s are there after they were added", len(found), len(rows), table)
	}
	return err
}

// contextRow returns a context as a row to be interned.
func contextRow(k key, properties map[string]string) shared {
	list := slices.Sorted(maps.Keys(properties))
	values := make([]string, len(list))
	for i, name := range list {
		values[i], list[i] = toText(properties[name]), toText(name)
	}
	if list == nil {
		list = []string{}
	}
	return shared{k, list, values}
}

// loadContexts returns the properties of the contexts. Callers share the maps.
func (s *Store) loadContexts(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64]map[string]string, error) {
	out := map[int64]map[string]string{}
	var missing []int64
	s.names.mu.Lock()
	for _, id := range ids {
		if m, ok := s.names.contexts[id]; ok {
			out[id] = m
		} else {
			missing = append(missing, id)
		}
	}
	s.names.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	rows, err := tx.Query(ctx, "SELECT id, names, values FROM apkgate.contexts WHERE id = ANY($1)", missing)
	if err != nil {
		return nil, err
	}
	var id int64
	var list, values []string
	fresh := map[int64]map[string]string{}
	_, err = pgx.ForEachRow(rows, []any{&id, &list, &values}, func() error {
		if len(list) != len(values) {
			return records.Damaged(fmt.Errorf("context %d has %d names and %d values", id, len(list), len(values)))
		}
		m := make(map[string]string, len(list))
		for i := range list {
			m[fromText(list[i])] = fromText(values[i])
		}
		fresh[id] = m
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	if len(s.names.contexts) > maxNames {
		clear(s.names.contexts)
	}
	maps.Copy(s.names.contexts, fresh)
	maps.Copy(out, fresh)
	for _, id := range missing {
		if _, ok := out[id]; !ok {
			return nil, records.Damaged(fmt.Errorf("there is no context %d", id))
		}
	}
	return out, nil
}

// nameCells returns the names of the cells of summaries, and of other cached ones. Unknown cells
// are left out.
func (s *Store) nameCells(ctx context.Context, tx pgx.Tx, summaries ...[]byte) (map[int64]run.Cell, error) {
	s.names.mu.Lock()
	known := s.names.cells
	s.names.mu.Unlock()
	missing := map[int64]bool{}
	for _, data := range summaries {
		if err := records.EachValue(data, func(cell int64, _ float64) error {
			if _, ok := known[cell]; !ok {
				missing[cell] = true
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if len(missing) == 0 {
		return known, nil
	}
	rows, err := tx.Query(ctx, "SELECT id, event, metric FROM apkgate.cells WHERE "+ours+" AND id = ANY($1)", slices.Sorted(maps.Keys(missing)))
	if err != nil {
		return nil, err
	}
	out := map[int64]run.Cell{}
	if len(known) < maxNames {
		maps.Copy(out, known)
	}
	var id int64
	var c run.Cell
	if _, err := pgx.ForEachRow(rows, []any{&id, &c.Event, &c.Metric}, func() error {
		out[id] = run.Cell{Event: fromText(c.Event), Metric: fromText(c.Metric)}
		return nil
	}); err != nil {
		return nil, err
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	s.names.cells = out // never changed from here on, so that it can be shared
	return out, nil
}

// partsOf returns the partition of each month, and creates missing ones where possible.
func (s *Store) partsOf(ctx context.Context, rows []*newRow) (map[string]string, error) {
	out, missing := map[string]string{}, map[string]bool{}
	s.names.mu.Lock()
	for _, row := range rows {
		month := monthOf(row.Run)
		if part, ok := s.names.parts[month]; ok {
			out[month] = part
		} else {
			missing[month] = true
		}
	}
	s.names.mu.Unlock()
	for _, month := range slices.Sorted(maps.Keys(missing)) {
		var part string
		err := s.write(ctx, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, "SELECT apkgate.part($1)", month).Scan(&part)
		})
		if err != nil {
			return nil, err
		}
		out[month] = part
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	maps.Copy(s.names.parts, out)
	return out, nil
}

// monthOf returns the month of a run's start, as 2026-11.
func monthOf(r run.Run) string { return records.Stamp(r.Started)[:len("2026-11")] }

// forgetParts clears the cached partitions after one was dropped.
func (n *names) forgetParts() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.parts)
}
