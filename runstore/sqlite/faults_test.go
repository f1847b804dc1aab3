package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/storetest"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	history := func(t *testing.T) *storetest.Faulty {
		path := filepath.Join(t.TempDir(), "history.db")
		return &storetest.Faulty{At: path, Within: 10 * patience, Open: func(t *testing.T, waiting runstore.Waiting) (runstore.Store, error) {
			return Open(t.Context(), path, Options{Wait: patience, Waiting: waiting})
		}}
	}
	storetest.Faults(t, history, map[string]storetest.Fault{
		"a held lock":       {Begin: hold(0), Reads: true, Says: "another process keeps the history locked", Waits: "waiting up to 2s for the history "},
		"a lock given back": {Begin: hold(patience * 3 / 4), Reads: true, Writes: true, Waits: "waiting up to 2s for the history "},
	})
}

// hold takes the write lock, as a process that was stopped in the middle has it, and releases it at
// the end or after a while.
func hold(after time.Duration) func(*testing.T, *storetest.Faulty) func() {
	return func(t *testing.T, f *storetest.Faulty) func() {
		db, err := sql.Open("sqlite", f.At)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err == nil {
			_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		}
		if err != nil {
			t.Fatal(err)
		}
		given := make(chan struct{})
		give := func() {
			if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Error(err)
			}
			conn.Close()
			db.Close()
			close(given)
		}
		if after > 0 {
			time.AfterFunc(after, give)
			return func() { <-given }
		}
		return give
	}
}
