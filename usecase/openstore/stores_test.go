package openstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Each address is classified as shared or not, and shown without a password.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		address, shown string
		shared         bool
	}{
		{".apkgate/history.db", ".apkgate/history.db", false},
		{"C:\\runs\\history.db", "C:\\runs\\history.db", false},
		{"branch:", "branch:origin#apkgate-history", true},
		{"branch:https://ci:hunter2@example.org/app.git#perf", "branch:https://xxxxx@example.org/app.git#perf", true}, // a token may replace the user
		{"postgres://ci:hunter2@db/apkgate", "postgres://ci:xxxxx@db/apkgate", true},
		{"postgresql://ci@db/apkgate?password=hunter2&sslmode=require", "postgresql://ci@db/apkgate?sslmode=require", true},
	} {
		if got := Shown(c.address); got != c.shown {
			t.Errorf("%s is shown as %s, want %s", c.address, got, c.shown)
		}
		if got := IsShared(c.address); got != c.shared {
			t.Errorf("%s is shared: %v, want %v", c.address, got, c.shared)
		}
	}
}

// An address of no kind is refused, with the available kinds.
func TestOpenOfAnUnknownKind(t *testing.T) {
	_, err := kindOf("mysql://db/apkgate")
	if err == nil || !strings.Contains(err.Error(), "at mysql://…, want a file, branch:REMOTE#BRANCH") {
		t.Errorf("%v", err)
	}
}

// A kind of store is a package and a line in the list: it is then opened, shown and offered as the
// others are.
func TestAddingAKind(t *testing.T) {
	before := kinds
	t.Cleanup(func() { kinds = before })
	opened := ""
	kinds = append([]runstore.Kind{{
		Schemes: []string{"memory:"}, Form: "memory:NAME",
		Open: func(_ context.Context, address string, o runstore.Opening) (runstore.Store, error) {
			opened = address
			return memory.New(o.Now), nil
		},
		Shown: func(string) string { return "memory:…" },
	}}, kinds...)
	store, keep, err := OpenForPull(t.Context(), terminal.Console{}, "memory:lab")
	if err != nil || store == nil || keep || opened != "memory:lab" {
		t.Errorf("opened %q: %v, %v, to be kept in: %v; want a history that a pull request only reads", opened, store, err, keep)
	}
	if got := Shown("memory:lab"); got != "memory:…" {
		t.Errorf("it is shown as %s", got)
	}
	if got := Forms(); !strings.Contains(got, "memory:NAME") {
		t.Errorf("%q does not offer it", got)
	}
}

// Opening a read-only history for writing is refused before it is opened.
func TestReadOnlyKind(t *testing.T) {
	before := kinds
	t.Cleanup(func() { kinds = before })
	opened := 0
	kinds = append([]runstore.Kind{{
		Schemes: []string{"memory:"}, ReadOnly: "it is of this process", Shown: func(string) string { return "memory:…" },
		Open: func(_ context.Context, _ string, o runstore.Opening) (runstore.Store, error) {
			if opened++; !o.ReadOnly {
				t.Error("it is opened to be written")
			}
			return memory.New(o.Now), nil
		},
	}}, kinds...)
	for _, open := range []func(context.Context, terminal.Console, string) (runstore.Store, error){Open, OpenExisting} {
		var status interface{ Hint() string }
		if _, err := open(t.Context(), terminal.Console{}, "memory:secret"); err == nil || err.Error() != "write into the history memory:…: it is of this process" ||
			!errors.As(err, &status) || !strings.Contains(status.Hint(), "baseline copy") {
			t.Errorf("%v", err)
		}
	}
	if _, err := OpenToRead(t.Context(), terminal.Console{}, "memory:secret"); err != nil || opened != 1 {
		t.Errorf("%v, opened %d times", err, opened)
	}
	if _, keep, err := OpenForPull(t.Context(), terminal.Console{}, "memory:secret"); err != nil || keep || opened != 2 {
		t.Errorf("%v, to be kept in: %v, opened %d times", err, keep, opened)
	}
}
