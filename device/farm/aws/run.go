package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// runState is the relevant part of a Run of the service's model.
type runState struct {
	Status, Result, Message  string
	TotalJobs, CompletedJobs int
}

func (s runState) ended() bool { return s.Status == "COMPLETED" }

// progress describes the progress of a run: "pending concurrency, 0 of 2 devices done".
func (s runState) progress() string {
	return fmt.Sprintf("%s, %d of %s done", spoken(s.Status), s.CompletedJobs, prose.Count(s.TotalJobs, "device", "devices"))
}

// spoken converts a constant of the service to words.
func spoken(word string) string {
	return strings.ToLower(strings.ReplaceAll(prose.Clip(prose.OneLine(word), 40), "_", " "))
}

// look returns the state of a run; that of a completed run is cached.
func (f *Farm) look(ctx context.Context, project, name string) (runState, error) {
	f.mu.Lock()
	last, ended := f.ended[name]
	f.mu.Unlock()
	if ended {
		return last, nil
	}
	var answer struct{ Run runState }
	err := f.askOnce(ctx, project, "get-run", map[string]any{"arn": name}, &answer, "")
	if err == nil && answer.Run.ended() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended[name] = answer.Run
	}
	return answer.Run, err
}

// Await polls the run until it has ended.
func (f *Farm) Await(ctx context.Context, o farm.Order, l lease.Lease, tell func(string)) error {
	err := f.computer.Watch(ctx, o.Within, func(ctx context.Context) (string, bool, error) {
		s, err := f.look(ctx, f.project, l.Detail[noteRun])
		return s.progress(), s.ended(), err
	}, tell)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return farmError("wait for the run", err.Error())
}

// Stop ends everything in the lease: an aws process that is still running, the run, and the
// uploads that no other run of this process uses.
func (f *Farm) Stop(ctx context.Context, l lease.Lease, tell func(string)) error {
	if l.Detail[noteProject] == "" { // nothing was requested
		return nil
	}
	const atMost = 10 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, errors.New("it took longer than "+prose.Duration(atMost)))
	defer cancel()
	runs, uploads, err := f.named(ctx, l)
	if err != nil {
		return farmError("look for what "+l.ID+" has begun", err.Error())
	}
	for _, name := range runs {
		if err := f.end(ctx, l, name, tell); err != nil {
			err := farmError("stop the run "+name, err.Error())
			err.Advice = "stop it in the console: https://us-west-2.console.aws.amazon.com/devicefarm/home"
			return err
		}
	}
	for _, name := range append(uploads, f.unused(l.ID)...) {
		if err := f.remove(ctx, l, name); err != nil {
			return farmError("delete what was uploaded", err.Error())
		}
	}
	return nil
}

// named returns the runs and uploads of another process's lease: those that were noted, and,
// for a request without an answer, those with the lease's name on the farm.
func (f *Farm) named(ctx context.Context, l lease.Lease) (runs, uploads []string, err error) {
	f.mu.Lock()
	_, mine := f.held[l.ID]
	f.mu.Unlock()
	project := l.Detail[noteProject]
	if noted := l.Detail[noteRun]; arn.MatchString(noted) {
		runs = append(runs, noted)
	}
	uncertain := l.Detail[noteRun] == asked
	for _, p := range []need{app, test, testSpec} {
		noted := l.Detail[p.note]
		uncertain = uncertain || noted == asked
		if arn.MatchString(noted) && !mine {
			uploads = append(uploads, noted)
		}
	}
	if !uncertain {
		return runs, uploads, nil
	}
	if err := endAsking(l.ID); err != nil {
		return nil, nil, err
	}
	var found []string
	if err := f.ask(ctx, project, "list-runs", map[string]any{"arn": project}, &found, "runs[?starts_with(name, '"+l.ID+" ')].arn"); err != nil {
		return nil, nil, err
	}
	runs = append(runs, found...)
	for _, p := range []need{app, test, testSpec} {
		if l.Detail[p.note] != asked {
			continue
		}
		var found []string
		if err := f.ask(ctx, project, "list-uploads", map[string]any{"arn": project, "type": p.upload}, &found, "uploads[?starts_with(name, '"+l.ID+"-')].arn"); err != nil {
			return nil, nil, err
		}
		uploads = append(uploads, found...)
	}
	return runs, uploads, nil
}

// endAsking ends an aws process of the lease that outlived apkgate: what it is requesting
// would exist only after the search for it.
func endAsking(id string) error {
	const endsWithin = 20 * time.Second
	asking, err := hostprogram.Find(`"name":"` + id)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	errs := []error{err}
	for _, p := range asking {
		errs = append(errs, p.Stop(endsWithin))
	}
	return errors.Join(errs...)
}

// end stops a run that has not ended, and waits until it has.
func (f *Farm) end(ctx context.Context, l lease.Lease, name string, tell func(string)) error {
	const every = 3 * time.Second
	unheard := 0
	for known := false; ; {
		s, err := f.look(ctx, l.Detail[noteProject], name)
		switch {
		case isGone(err) || err == nil && s.ended():
			return nil
		case err != nil:
			if unheard++; unheard == farm.Unanswered || errors.Is(err, farm.ErrRefused) {
				return err
			}
		case !known && s.Status != "STOPPING":
			if err := f.ask(ctx, l.Detail[noteProject], "stop-run", map[string]any{"arn": name}, nil, ""); err != nil && !isGone(err) {
				return err
			}
			tell("stopping the run " + name)
			known = true
		}
		if err := f.computer.Pause(ctx, every); err != nil {
			return fmt.Errorf("it has not ended yet: %w", err)
		}
	}
}

// unused returns the uploads of a lease of this process that no other lease holds any more.
func (f *Farm) unused(id string) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.held[id] {
		if u.users--; u.users > 0 {
			continue
		}
		if f.uploads[u.key] == u {
			delete(f.uploads, u.key)
		}
		if u.arn != "" {
			names = append(names, u.arn)
		}
	}
	delete(f.held, id)
	return names
}

func (f *Farm) remove(ctx context.Context, l lease.Lease, name string) error {
	err := f.ask(ctx, l.Detail[noteProject], "delete-upload", map[string]any{"arn": name}, nil, "")
	if isGone(err) {
		return nil
	}
	return err
}

// isGone reports whether the service answered that nothing has the name.
func isGone(err error) bool {
	var said *callError
	return errors.As(err, &said) && said.code == "NotFoundException"
}
