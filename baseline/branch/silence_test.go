package branch_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/branch"
)

// A remote that accepts connections and never answers is given up in time, whichever
// protocol it is asked by, and what is waited for is said.
func TestARemoteThatNeverAnswers(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // whoever connects waits to be accepted
	for _, scheme := range []string{"http", "git"} {
		t.Run(scheme, func(t *testing.T) {
			var mu sync.Mutex
			var said []string
			began := time.Now()
			_, err := branch.Open(t.Context(), branch.Address{Remote: scheme + "://" + listener.Addr().String() + "/team/app.git", Branch: "history"},
				branch.Options{Dir: t.TempDir(), Silence: time.Second, Waiting: func(what string, why error) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, what)
				}})
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			var advised *baseline.Error
			if err == nil || !strings.Contains(err.Error(), "the remote has said nothing for 1s") || !errors.As(err, &advised) || !strings.Contains(advised.Advice, "ls-remote") {
				t.Errorf("%v, want that it said nothing, and what to do", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(said) != 1 || !strings.Contains(said[0], "waiting up to 1s for the remote") {
				t.Errorf("while it waited it said %q", said)
			}
		})
	}
}

// A remote that hangs while something is pushed is no other writer's fault, and the same
// may be done again: nothing is there twice.
func TestARemoteThatHangsWhileItIsWritten(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	s, err := branch.Open(t.Context(), branch.Address{Remote: remote, Branch: "history"}, branch.Options{Dir: t.TempDir(), Silence: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexec sleep 20\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = s.Add(t.Context(), newRun("run-1", 1))
	if err == nil || !strings.Contains(err.Error(), "the remote has said nothing for 2s") || strings.Contains(err.Error(), "others write") {
		t.Errorf("%v, want that it said nothing", err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), newRun("run-1", 1)); err != nil {
		t.Fatalf("once it answers again: %v", err)
	}
	n := 0
	for _, err := range s.Export(t.Context(), baseline.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}
