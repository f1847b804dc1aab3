// Package exported reads a history that somebody has published: a file of runs as JSON Lines,
// plain or compressed, as apkgate baseline export writes it, behind an https:// address or on
// this computer.
//
// It owns how such a file is fetched and bounded, and that nothing is written into it. What is
// asked of its runs is answered by package memory, as the file is read whole.
//
// It takes a stand: whoever publishes runs vouches for them, so that all that are complete count
// as accepted. A damaged line is done without and told; what was not sent to its end is no history.
package exported

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

// fileScheme begins the address of a file on this computer.
const fileScheme = "runs:"

// Kind is that of histories that were published.
var Kind = runstore.Kind{
	Schemes: []string{"https://", fileScheme}, Form: "runs:FILE, https://…",
	ReadOnly: "it is a file of runs that were published, which is only read",
	Open: func(ctx context.Context, address string, o runstore.Opening) (runstore.Store, error) {
		return Open(ctx, address, o)
	},
	Shown: shown,
}

// Bounds of a history that is read whole.
const (
	mostBytes = 1 << 30 // of the file as it is sent
	mostRuns  = 50_000
	mostTold  = 1_000 // damaged lines that are remembered one by one
)

// How a file is fetched.
const (
	fetchedWithin = 5 * time.Minute
	tries         = 3
)

// triesApart is how long it is waited between two tries.
var triesApart = 2 * time.Second

// client goes nowhere where the history could be another on its way.
var client = &http.Client{Timeout: fetchedWithin, CheckRedirect: func(request *http.Request, before []*http.Request) error {
	const most = 5
	if len(before) > most || request.URL.Scheme != "https" {
		return fmt.Errorf("it leads on to %s", shown(request.URL.String()))
	}
	return nil
}}

// shown is an address without what may be secret in it: a password, or the signature of one
// that is valid for a while.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Store is a history that was published.
type Store struct {
	*memory.Store
	shown  string
	damage []runstore.Damage
}

var _ runstore.Store = (*Store)(nil)

// Open reads the history at an address.
func Open(ctx context.Context, address string, o runstore.Opening) (*Store, error) {
	s := &Store{shown: shown(address)}
	file, err := open(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("read history %s: %w", s.shown, err)
	}
	defer func() { _ = file.Close() }()
	in := &bounded{Reader: file}
	entries, err := s.entries(in)
	if in.failed != nil {
		return nil, fmt.Errorf("read history %s: %w", s.shown, in.failed)
	}
	if err == nil {
		s.Store, err = memory.Of(o.Now, entries...)
	}
	if err != nil {
		return nil, fmt.Errorf("read history %s: %w: %w", s.shown, runstore.ErrNotHistory, err)
	}
	return s, nil
}

// entries are the runs, accepted where they are complete.
func (s *Store) entries(in io.Reader) (out []runstore.Entry, err error) {
	for r, err := range runstore.ReadJSONL(in) {
		var damaged *runstore.DamagedRun
		switch {
		case errors.As(err, &damaged):
			if len(s.damage) < mostTold {
				s.damage = append(s.damage, runstore.Damage{ID: damaged.ID, Problem: damaged.Err.Error()})
			}
			continue
		case err != nil:
			return nil, err
		case len(out) == mostRuns:
			return nil, fmt.Errorf("it has more than %d runs: apkgate baseline import makes a file of them that can have more", mostRuns)
		}
		e := runstore.Entry{Run: r}
		if r.Status == run.Complete {
			e.Mark = runstore.Mark{State: runstore.Accepted, At: r.Started.UTC(), Note: "published"}
		}
		out = append(out, e)
	}
	return out, nil
}

// bounded reads no more than is allowed, and remembers why it could not read on.
type bounded struct {
	io.Reader
	n      int64
	failed error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.n += int64(n); b.n > mostBytes {
		err = fmt.Errorf("the file has more than %d MiB", mostBytes>>20)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// open opens the file at an address.
func open(ctx context.Context, address string, o runstore.Opening) (io.ReadCloser, error) {
	path, ok := strings.CutPrefix(address, fileScheme)
	if !ok {
		return fetch(ctx, address, o)
	}
	if path == "" {
		return nil, &runstore.AddressError{Err: errors.New("it names no file, want runs:FILE")}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.WorkDir, path)
	}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &runstore.AddressError{Err: fmt.Errorf("there is no file %s", path)}
	}
	return file, err
}

// fetch fetches a file, and tries again where another answer may come.
func fetch(ctx context.Context, address string, o runstore.Opening) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		body, again, err := get(ctx, address)
		if err == nil || !again || try == tries || ctx.Err() != nil {
			return body, err
		}
		if o.Waiting != nil {
			o.Waiting("fetching the history once more", err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(triesApart):
		}
	}
}

func get(ctx context.Context, address string) (body io.ReadCloser, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || request.URL.Host == "" {
		return nil, false, &runstore.AddressError{Err: errors.New("it is no address of a file, such as https://perf.example.org/history.jsonl.zst")}
	}
	answer, err := client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return nil, true, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, false, nil
	}
	_ = answer.Body.Close()
	err = &runstore.Error{
		Err:    fmt.Errorf("the server answered %s", prose.Clip(prose.OneLine(answer.Status), 60)),
		Advice: "look whether the history is published there, and whether this computer may read it",
	}
	return nil, answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests, err
}

// readOnly refuses to write.
func (s *Store) readOnly(doing string) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%s history %s: %w: it is a file of runs that were published", doing, s.shown, runstore.ErrReadOnly),
		Advice: "apkgate baseline copy --to FILE makes one of it that can be written",
	}
}

// Add implements runstore.Store: it adds nothing.
func (s *Store) Add(context.Context, ...run.Run) ([]string, error) { return nil, s.readOnly("add to") }

// Mark implements runstore.Store: it marks nothing.
func (s *Store) Mark(context.Context, []string, runstore.Mark) error { return s.readOnly("mark in") }

// Judge implements runstore.Store: it keeps nothing.
func (s *Store) Judge(context.Context, map[string]run.Judged) error {
	return s.readOnly("keep outcomes in")
}

// Prune implements runstore.Store: it removes nothing, and tells what it would where it is
// asked for no more.
func (s *Store) Prune(ctx context.Context, r runstore.Retention, each func(runstore.Entry) error) (int, error) {
	if !r.DryRun {
		return 0, s.readOnly("prune")
	}
	return s.Store.Prune(ctx, r, each)
}

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.withDamage(s.Store.List(ctx, f))
}

// Export implements runstore.Store.
func (s *Store) Export(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.withDamage(s.Store.Export(ctx, f))
}

// withDamage tells of damaged lines first, of which nobody knows whether they are meant.
func (s *Store) withDamage(sound iter.Seq2[runstore.Entry, error]) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for _, d := range s.damage {
			if !yield(runstore.Entry{}, &runstore.DamagedRun{ID: d.ID, Err: fmt.Errorf("%w: %s", runstore.ErrDamaged, d.Problem)}) {
				return
			}
		}
		sound(yield)
	}
}

// References implements runstore.Store.
func (s *Store) References(ctx context.Context, q runstore.Query) ([]run.Summary, error) {
	found, err := s.Store.References(ctx, q)
	return found, s.incomplete(err)
}

// ANRs implements runstore.Store.
func (s *Store) ANRs(ctx context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	found, err := s.Store.ANRs(ctx, q)
	return found, s.incomplete(err)
}

func (s *Store) incomplete(err error) error {
	if err == nil && len(s.damage) > 0 {
		return &runstore.Incomplete{Damage: s.damage}
	}
	return err
}

// Verify implements runstore.Store.
func (s *Store) Verify(ctx context.Context) ([]runstore.Damage, error) {
	found, err := s.Store.Verify(ctx)
	return append(found, s.damage...), err
}
