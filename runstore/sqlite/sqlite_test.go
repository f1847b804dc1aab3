package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) runstore.Store {
		return openTest(t, filepath.Join(t.TempDir(), "sub dir", "a?b#c%20 'd'.db"))
	})
}

func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	storetest.Damaged(t, openTest(t, path), func(id string) {
		rawSQL(t, path, "UPDATE records SET data = x'28b52ffd' WHERE run = (SELECT number FROM runs WHERE id = '"+id+"')")
	})
}

// openTest opens a history that is closed at the end of the test.
func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestClocks(t *testing.T) {
	storetest.Clocks(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "history.db")
		return func(now func() time.Time) runstore.Store {
			s, err := Open(t.Context(), path, Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
