package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/device/program"
	"github.com/apkgate/apkgate/internal/prose"
)

// runState is a Run of the service's model, as far as it is read.
type runState struct {
	Status, Result, Message  string
	TotalJobs, CompletedJobs int
}

func (s runState) ended() bool { return s.Status == "COMPLETED" }

// progress is how far a run is: "pending concurrency, 0 of 2 devices done".
func (s runState) progress() string {
	return fmt.Sprintf("%s, %d of %s done", spoken(s.Status), s.CompletedJobs, prose.Count(s.TotalJobs, "device", "devices"))
}

// spoken is a word of the service in a sentence.
func spoken(word string) string {
	return strings.ToLower(strings.ReplaceAll(prose.Clip(prose.OneLine(word), 40), "_", " "))
}

// look asks for the state of a run; one that has come to its end stays as it is.
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

// Await asks for the state until the run has ended.
func (f *Farm) Await(ctx context.Context, o farm.Order, l lease.Lease, tell func(string)) error {
	err := f.computer.Watch(ctx, o.Within, func(ctx context.Context) (string, bool, error) {
		s, err := f.look(ctx, f.project, l.Detail[noteRun])
		return s.progress(), s.ended(), err
	}, tell)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return failed("wait for the run", err.Error())
}

// Stop ends what the lease names: an aws that still asks for something, the run, and the
// uploads that no other run of this process needs.
func (f *Farm) Stop(ctx context.Context, l lease.Lease, tell func(string)) error {
	if l.Detail[noteProject] == "" { // nothing was asked for
		return nil
	}
	const atMost = 10 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, errors.New("it took longer than "+prose.Duration(atMost)))
	defer cancel()
	runs, uploads, err := f.named(ctx, l)
	if err != nil {
		return failed("look for what "+l.ID+" has begun", err.Error())
	}
	for _, name := range runs {
		if err := f.end(ctx, l, name, tell); err != nil {
			err := failed("stop the run "+name, err.Error())
			err.Advice = "stop it in the console: https://us-west-2.console.aws.amazon.com/devicefarm/home"
			return err
		}
	}
	for _, name := range append(uploads, f.unused(l.ID)...) {
		if err := f.remove(ctx, l, name); err != nil {
			return failed("delete what was uploaded", err.Error())
		}
	}
	return nil
}

// named are the runs and uploads of a lease that is not of this process's: as noted, and
// where something was asked for without an answer, as the farm has them under its name.
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

// endAsking ends an aws that still asks for something of the lease's, which apkgate may have
// been killed beside: what it asked for would be there only after it was looked for.
func endAsking(id string) error {
	const endsWithin = 20 * time.Second
	asking, err := program.Find(`"name":"` + id)
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
	for told := false; ; {
		s, err := f.look(ctx, l.Detail[noteProject], name)
		switch {
		case isGone(err) || err == nil && s.ended():
			return nil
		case err != nil:
			if unheard++; unheard == farm.Unanswered || errors.Is(err, farm.ErrRefused) {
				return err
			}
		case !told && s.Status != "STOPPING":
			if err := f.ask(ctx, l.Detail[noteProject], "stop-run", map[string]any{"arn": name}, nil, ""); err != nil && !isGone(err) {
				return err
			}
			tell("stopping the run " + name)
			told = true
		}
		if err := f.computer.Pause(ctx, every); err != nil {
			return fmt.Errorf("it has not ended yet: %w", err)
		}
	}
}

// unused are the uploads of a lease of this process that no other lease holds any more.
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

// isGone reports whether the service says that there is nothing of that name.
func isGone(err error) bool {
	var said *callError
	return errors.As(err, &said) && said.code == "NotFoundException"
}
