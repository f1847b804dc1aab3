package sqlite

import (
	"context"
	"database/sql"
	"errors"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// References implements runstore.Store. It ranks the distinct contexts of the app and scenario,
// which are few, and reads summaries from the most similar contexts on until there are enough; no
// record is opened, unless something that it reads is damaged.
func (s *Store) References(ctx context.Context, q runstore.Query) ([]run.Summary, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	var out []run.Summary
	if err = s.whole(ctx, false); err == nil {
		err = s.read(ctx, func(tx *prepared.Tx) (err error) {
			out, err = references(ctx, tx, s.stale, q)
			return err
		})
	}
	if isDamage(err) {
		return s.salvagedReferences(ctx, q, explain(err))
	}
	if err != nil {
		return nil, s.wrap("find references in", err)
	}
	return out, nil
}

func references(ctx context.Context, tx *prepared.Tx, stale bool, q runstore.Query) ([]run.Summary, error) {
	out := []run.Summary{}
	var subject int64
	err := tx.QueryRowContext(ctx, "SELECT id FROM subjects WHERE package = ? AND scenario = ?", q.Package, q.Scenario).Scan(&subject)
	if errors.Is(err, sql.ErrNoRows) {
		return out, unlisted(ctx, tx, q)
	}
	if err != nil {
		return nil, err
	}
	contexts, err := rankContexts(ctx, tx, subject, q)
	if err != nil {
		return nil, err
	}
	sc, err := newScanner(ctx, tx, stale, subject, q)
	if err != nil {
		return nil, err
	}
	defer sc.close()
	for _, cluster := range records.Clusters(contexts) {
		if len(out) == q.Limit {
			break
		}
		if out, err = sc.cluster(ctx, out, cluster); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unlisted makes sure that a subject missing from its index does not exist.
func unlisted(ctx context.Context, tx *prepared.Tx, q runstore.Query) error {
	var there bool
	err := tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM subjects NOT INDEXED WHERE package = ? AND scenario = ?", q.Package, q.Scenario).Scan(&there)
	if err == nil && there {
		err = records.Damaged(errors.New("the scenario is not in its index"))
	}
	return err
}

// rankContexts returns the contexts that the subject's references have and that can
// be compared with the new run's. The recursion finds each with one step into the index,
// however many runs share it.
func rankContexts(ctx context.Context, tx *prepared.Tx, subject int64, q runstore.Query) ([]records.Ranked, error) {
	wanted, err := wantedProperties(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	hard, err := readHard(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE seen(context) AS (
			SELECT min(context) FROM summaries WHERE subject = ?1 AND reference = 1
			UNION ALL
			SELECT (SELECT min(context) FROM summaries WHERE subject = ?1 AND reference = 1 AND context > seen.context)
			FROM seen WHERE seen.context IS NOT NULL)
		SELECT id, properties FROM seen JOIN contexts ON id = context`, subject)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []records.Ranked
	var ids []int64
	var blob sql.RawBytes
	for rows.Next() {
		var r records.Ranked
		if err := rows.Scan(&r.Context, &blob); err != nil {
			return nil, err
		}
		if ids, err = interning.DecodeIDs(ids[:0], blob); err != nil {
			return nil, err
		}
		for _, id := range ids {
			if wanted[id] {
				r.Similarity++
			}
		}
		if hard.comparable(ids) {
			out = append(out, r)
		}
	}
	return out, rows.Err()
}

// wantedProperties returns the ids of the new run's properties that count. A property that is not
// in the history has no id and equals none.
func wantedProperties(ctx context.Context, tx *prepared.Tx, q runstore.Query) (map[int64]bool, error) {
	wanted := map[int64]bool{}
	for name, value := range q.Properties() {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM properties WHERE name = ? AND value = ?", name, value).Scan(&id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, err
		default:
			wanted[id] = true
		}
	}
	return wanted, nil
}

// hardProperties are the ids of the history's hard properties (devctx.Hard), and whether the new
// run has them.
type hardProperties struct {
	agrees map[int64]bool
	wanted int // how many the new run has
}

func readHard(ctx context.Context, tx *prepared.Tx, q runstore.Query) (hardProperties, error) {
	h := hardProperties{agrees: map[int64]bool{}, wanted: len(devctx.Only(q.Context, devctx.Hard))}
	rows, err := tx.QueryContext(ctx, "SELECT id, name, value FROM properties WHERE name IN ("+interning.Holders(len(devctx.Hard))+")", interning.Anys(devctx.Hard)...)
	if err != nil {
		return h, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name, value string
		if err := rows.Scan(&id, &name, &value); err != nil {
			return h, err
		}
		own, has := q.Context[name]
		h.agrees[id] = has && own == value
	}
	return h, rows.Err()
}

// comparable is devctx.Comparable for the new run's context and that of the properties.
func (h hardProperties) comparable(properties []int64) bool {
	agreeing := 0
	for _, id := range properties {
		agrees, hard := h.agrees[id]
		if hard && !agrees {
			return false
		}
		if hard {
			agreeing++
		}
	}
	return agreeing == h.wanted
}

// level returns the start of the subject's present level, "" where there is none: earlier runs are
// no longer references.
func level(ctx context.Context, tx *prepared.Tx, subject int64) (since string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(since), '') FROM runs WHERE subject = ? AND state = 'rebaselined'", subject).
		Scan(&since)
	return since, err
}
