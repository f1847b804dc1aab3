//go:build unix

package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
)

// Waiting for an upgrade by another process has a timeout, and is reported.
func TestAnUpgradeThatGoesOn(t *testing.T) {
	t.Parallel()
	url := theServer.url("owner", newDatabase(t))
	holder := connect(t, url)
	const lock = 0x61706b67617465 // "apkgate" in ASCII
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lock); err != nil {
		t.Fatal(err)
	}
	waiting := ""
	options := postgres.Options{Wait: patience, Waiting: func(what string, why error) { waiting += what + ": " + why.Error() }}
	began := time.Now()
	_, err := postgres.Open(t.Context(), url, options)
	if took := time.Since(began); took > 10*patience {
		t.Errorf("it took %v, where %v is waited", took, patience)
	}
	if !errors.Is(err, runstore.ErrBusy) || !strings.Contains(err.Error(), "another apkgate brings the history up to date") || hint(err) == "" {
		t.Errorf("%v, want that another one brings it up to date", err)
	}
	if !strings.Contains(waiting, "waiting up to 3s for PostgreSQL at ") {
		t.Errorf("while it waited it said %q", waiting)
	}
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", lock); err != nil {
		t.Fatal(err)
	}
	open(t, url)
}

// count returns how many runs the history has.
func count(t *testing.T, s runstore.Store) (n int) {
	t.Helper()
	for _, err := range s.Export(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
