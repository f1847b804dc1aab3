package gitbranch_test

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
)

// A remote that accepts connections and never answers is given up in time, whatever the protocol,
// and the wait is reported.
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
			_, err := gitbranch.Open(t.Context(), gitbranch.Address{Remote: scheme + "://" + listener.Addr().String() + "/team/app.git", Branch: "history"},
				gitbranch.Options{Dir: t.TempDir(), Silence: time.Second, Waiting: func(what string, why error) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, what)
				}})
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			var advised *runstore.Error
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
